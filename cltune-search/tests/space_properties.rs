//! Spaces agree with brute force on random specifications.

use cltune_core::Text;
use cltune_core::device::DeviceLimits;
use cltune_core::expr::{Env, Program};
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::formula::{Scope, Type};
use cltune_search::space::{
    Neighbourhood, RandomSource, Space, SpaceConstraint, SpaceParameter, SpaceSpec, effects,
};
use proptest::prelude::*;
use std::collections::HashSet;

fn spec(domains: &[(String, Vec<i64>)], constraints: &[String]) -> SpaceSpec {
    let parameters: Vec<Parameter> = domains
        .iter()
        .map(|(name, codes)| Parameter {
            name: name.clone().into(),
            domain: Domain::Integers(codes.clone().into()),
        })
        .collect();
    let scope = Scope {
        parameters: &parameters,
        dimensions: &[Text::Borrowed("n")],
    };
    SpaceSpec {
        parameters: domains
            .iter()
            .map(|(name, codes)| SpaceParameter::listed(name.clone(), codes.clone()))
            .collect(),
        constraints: constraints
            .iter()
            .map(|text| SpaceConstraint {
                label: text.clone().into(),
                program: cltune_formats::formula::parse(text, &scope, Type::Bool)
                    .unwrap_or_else(|error| panic!("{text}: {error}"))
                    .program
                    .bind(&[24], &DeviceLimits::default()),
            })
            .collect(),
    }
}

fn holds(program: &Program, codes: &[i64]) -> bool {
    let env = Env {
        params: codes,
        dims: &[],
        device: &DeviceLimits::default(),
    };
    program.eval(&env).is_ok_and(|value| value != 0)
}

/// Every combination, in declaration order.
fn product(spec: &SpaceSpec) -> Vec<Vec<i64>> {
    spec.parameters
        .iter()
        .fold(vec![Vec::new()], |shorter, parameter| {
            shorter
                .iter()
                .flat_map(|codes: &Vec<i64>| {
                    parameter.codes.iter().map(|code| {
                        let mut longer = codes.clone();
                        longer.push(*code);
                        longer
                    })
                })
                .collect()
        })
}

fn valid(spec: &SpaceSpec) -> HashSet<Vec<i64>> {
    let mut all = product(spec);
    all.retain(|codes| spec.constraints.iter().all(|c| holds(&c.program, codes)));
    all.into_iter().collect()
}

/// SplitMix64 (Steele, Lea and Flood, 2014, figure 17).
struct SplitMix(u64);

impl RandomSource for SplitMix {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

const NAMES: [&str; 5] = ["A", "B", "C", "D", "E"];

fn integer() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::sample::select(&NAMES[..]).prop_map(String::from),
        2 => (-3_i64..5).prop_map(|value| format!("({value})")),
        1 => Just("n".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let op = prop::sample::select(&["+", "-", "*", "/", "%"][..]);
        let call = prop::sample::select(&["min", "max", "div_ceil", "pow"][..]);
        prop_oneof![
            4 => (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (call, inner.clone(), inner.clone()).prop_map(|(f, a, b)| format!("{f}({a}, {b})")),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("(if {a} < {b} {{ {c} }} else {{ {a} }})")),
        ]
    })
}

fn condition() -> impl Strategy<Value = String> {
    let op = prop::sample::select(&["==", "!=", "<", "<=", ">", ">="][..]);
    let leaf = (integer(), op, integer()).prop_map(|(a, op, b)| format!("({a} {op} {b})"));
    leaf.prop_recursive(2, 6, 2, |inner| {
        let op = prop::sample::select(&["&&", "&&", "||"][..]);
        prop_oneof![
            3 => (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => inner.prop_map(|a| format!("!{a}")),
        ]
    })
}

fn specs() -> impl Strategy<Value = SpaceSpec> {
    let code = prop_oneof![8 => -4_i64..20, 1 => Just(i64::MAX), 1 => Just(i64::MIN)];
    let domain = prop::collection::hash_set(code, 1..5)
        .prop_map(|codes| codes.into_iter().collect::<Vec<i64>>());
    let domains = prop::collection::vec(domain, NAMES.len());
    (domains, prop::collection::vec(condition(), 0..4)).prop_map(|(domains, constraints)| {
        let named: Vec<(String, Vec<i64>)> =
            NAMES.into_iter().map(String::from).zip(domains).collect();
        spec(&named, &constraints)
    })
}

fn position(spec: &SpaceSpec, parameter: usize, code: i64) -> usize {
    let codes = &spec.parameters[parameter].codes;
    codes
        .iter()
        .position(|known| *known == code)
        .unwrap_or(usize::MAX)
}

fn differences(a: &[i64], b: &[i64]) -> Vec<usize> {
    (0..a.len()).filter(|at| a[*at] != b[*at]).collect()
}

/// Constraints as tuners have them, on `A`, `B` and `C`.
fn usual() -> impl Strategy<Value = String> {
    let number = 1_i64..300;
    let small = 2_i64..9;
    let op = prop::sample::select(&["<=", "<", ">=", ">", "==", "!="][..]);
    let text = prop::sample::select(
        &[
            "A + B OP N",
            "A * B OP N",
            "A OP B",
            "A - 2 * B OP N",
            "A * C + B OP N",
            "N % A == 0",
            "A % B == 0",
            "B % A == 0",
            "(A * B) % M == 0",
            "(A / M) % B == 0",
            "C == 1 || B % C == 0",
            "(A + 2 * C) * (B + 2 * C) OP 10 * N",
            "C == 1 || A * C OP N",
            "A / M + B / M OP M",
            "min(A, B) OP N / M",
            "max(A * M, B) OP N",
            "N / A OP M",
            "if C > 1 { A < B } else { B OP N }",
            "(A % M) + (B % M) OP 3",
            "!(A * B OP N) || C > 2",
            "-A + B OP -M",
        ][..],
    );
    (text, op, number, small).prop_map(|(text, op, number, small)| {
        let text = text.replace("OP", op);
        text.replace('N', &number.to_string())
            .replace('M', &small.to_string())
    })
}

proptest! {
    #[test]
    fn indices_are_the_valid_configurations(spec in specs()) {
        let expected = valid(&spec);
        let space = Space::build(&spec);
        prop_assert_eq!(space.count(), expected.len() as u128);
        prop_assert_eq!(space.is_empty(), expected.is_empty());
        let all = product(&spec);
        prop_assert_eq!(space.cartesian(), all.len() as u128);
        let listed: Vec<Vec<i64>> = space.iter().collect();
        prop_assert_eq!(listed.len(), expected.len());
        prop_assert_eq!(&listed.iter().cloned().collect::<HashSet<_>>(), &expected);
        for (index, codes) in listed.iter().enumerate() {
            let index = index as u128;
            prop_assert_eq!(space.get(index), Some(codes.clone()));
            prop_assert_eq!(space.index_of(codes), Some(index));
        }
        // The order of the indices is that of the groups' parameters and of their values.
        let order: Vec<usize> = space.groups().into_iter().flat_map(|g| g.parameters).collect();
        let rank = |codes: &Vec<i64>| -> Vec<usize> {
            order.iter().map(|&p| position(&spec, p, codes[p])).collect()
        };
        prop_assert!(listed.is_sorted_by_key(rank));
        prop_assert_eq!(space.get(space.count()), None);
        prop_assert_eq!(space.get(u128::MAX), None);
        for codes in &all {
            prop_assert_eq!(space.contains(codes), expected.contains(codes));
            prop_assert_eq!(space.index_of(codes).is_some(), expected.contains(codes));
        }
    }

    #[test]
    fn neighbours_are_valid_and_differ_in_one_parameter(spec in specs()) {
        let expected = valid(&spec);
        let space = Space::build(&spec);
        for codes in product(&spec).iter().step_by(7) {
            for neighbourhood in [Neighbourhood::Adjacent, Neighbourhood::AnyValue] {
                let found = space.neighbours(codes, neighbourhood);
                let wanted = expected.iter().filter(|other| {
                    let [parameter] = differences(codes, other)[..] else {
                        return false;
                    };
                    let position = |code| {
                        spec.parameters[parameter].codes.iter().position(|c| *c == code)
                    };
                    let (a, b) = (position(codes[parameter]), position(other[parameter]));
                    neighbourhood == Neighbourhood::AnyValue
                        || a.zip(b).is_some_and(|(a, b)| a.abs_diff(b) == 1)
                });
                prop_assert_eq!(found.len(), found.iter().collect::<HashSet<_>>().len());
                // By the parameter that changes, then by its value.
                let is_sorted = found.is_sorted_by_key(|other| {
                    let parameter = differences(codes, other)[0];
                    (parameter, position(&spec, parameter, other[parameter]))
                });
                prop_assert!(is_sorted);
                prop_assert_eq!(
                    found.iter().collect::<HashSet<_>>(),
                    wanted.collect::<HashSet<_>>()
                );
            }
        }
    }

    #[test]
    fn samples_are_valid_and_reach_everything(spec in specs(), seed: u64) {
        let space = Space::build(&spec);
        let mut random = SplitMix(seed);
        if space.is_empty() {
            prop_assert_eq!(space.sample(&mut random), None);
        } else {
            let count = space.count() as usize;
            // A configuration is missed by 30 draws per configuration once in e^30 times.
            let draws = if count <= 40 { 30 * count } else { 50 };
            let mut seen = HashSet::new();
            for _ in 0..draws {
                let codes = space.sample(&mut random).unwrap_or_default();
                prop_assert!(space.contains(&codes));
                seen.insert(codes);
            }
            prop_assert!(count > 40 || seen.len() == count);
        }
    }

    #[test]
    fn distinct_samples_are_lists_without_repetition(spec in specs(), seed: u64, most in 0_usize..40) {
        let space = Space::build(&spec);
        let drawn = space.sample_distinct(most, &mut SplitMix(seed));
        prop_assert_eq!(drawn.len() as u128, space.count().min(most as u128));
        prop_assert!(drawn.iter().all(|codes| space.contains(codes)));
        prop_assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
        let all = space.sample_distinct(usize::MAX, &mut SplitMix(seed));
        prop_assert_eq!(&all[..drawn.len()], &drawn[..]);
        prop_assert_eq!(all.into_iter().collect::<HashSet<_>>(), valid(&spec));
    }

    #[test]
    fn samples_are_uniform(spec in specs(), seed: u64) {
        let space = Space::build(&spec);
        let count = space.count() as usize;
        if !(1..=16).contains(&count) {
            return Ok(());
        }
        let mut random = SplitMix(seed);
        let (mut single, mut first) = (vec![0_u32; count], vec![0_u32; count]);
        let draws = 100 * count;
        for _ in 0..draws {
            let one = space.sample(&mut random).unwrap_or_default();
            single[space.index_of(&one).unwrap_or_default() as usize] += 1;
            let list = space.sample_distinct(2, &mut random);
            // The last of a list is as likely to be each as the first is.
            let last = list.last().cloned().unwrap_or_default();
            first[space.index_of(&last).unwrap_or_default() as usize] += 1;
        }
        // 100 are expected of each; 7 standard deviations once in 10^11 times.
        prop_assert!(single.iter().chain(&first).all(|seen| (30..=170).contains(seen)));
    }

    #[test]
    fn effects_are_counted_one_after_the_other(spec in specs()) {
        let all = product(&spec);
        let effects = effects(&spec);
        prop_assert_eq!(effects.len(), spec.constraints.len());
        for (position, effect) in effects.iter().enumerate() {
            let until = &spec.constraints[..=position];
            let left = all
                .iter()
                .filter(|codes| until.iter().all(|of| holds(&of.program, codes)))
                .count();
            prop_assert_eq!(effect.left, Some(left as u128));
            let fails = all.iter().filter(|codes| !holds(&until[position].program, codes)).count();
            prop_assert_eq!(effect.removed, Some(fails as u128));
        }
    }

    #[test]
    fn explanations_count_and_conflicts_are_minimal(spec in specs()) {
        let all = product(&spec);
        let explanation = Space::build(&spec).explain();
        prop_assert_eq!(explanation.removed.len(), spec.constraints.len());
        for (removed, constraint) in explanation.removed.iter().zip(&spec.constraints) {
            prop_assert_eq!(&removed.label, &constraint.label);
            let fails = all.iter().filter(|codes| !holds(&constraint.program, codes)).count();
            prop_assert_eq!(removed.configurations, Some(fails as u128));
        }
        prop_assert!(explanation.without_values.is_empty());
        let conflict: Vec<SpaceConstraint> = explanation
            .conflict
            .iter()
            .filter_map(|label| spec.constraints.iter().find(|c| c.label == *label).cloned())
            .collect();
        prop_assert_eq!(conflict.is_empty(), !valid(&spec).is_empty());
        let left_by = |constraints| {
            valid(&SpaceSpec { parameters: spec.parameters.clone(), constraints }).len()
        };
        if !conflict.is_empty() {
            prop_assert_eq!(left_by(conflict.clone()), 0);
        }
        for at in 0..conflict.len() {
            let mut fewer = conflict.clone();
            fewer.remove(at);
            prop_assert!(left_by(fewer) > 0);
        }
    }

    #[test]
    fn configurations_within_a_number_of_differences(spec in specs(), differences in 0_u32..4) {
        let expected = valid(&spec);
        let space = Space::build(&spec);
        for codes in product(&spec).iter().step_by(7) {
            let found = space.neighbours_within(codes, differences, usize::MAX);
            let wanted: HashSet<&Vec<i64>> = expected
                .iter()
                .filter(|other| (1..=differences as usize).contains(&self::differences(codes, other).len()))
                .collect();
            prop_assert_eq!(found.len(), wanted.len());
            prop_assert!(found.is_sorted_by_key(|other| space.index_of(other)));
            prop_assert_eq!(found.iter().collect::<HashSet<_>>(), wanted);
            prop_assert_eq!(space.neighbours_within(codes, differences, 2).len(), found.len().min(2));
        }
    }

    #[test]
    fn the_nearest_configuration_is_the_nearest(spec in specs()) {
        let expected = valid(&spec);
        let space = Space::build(&spec);
        let distance = |a: &[i64], b: &[i64]| -> usize {
            (0..a.len())
                .map(|p| position(&spec, p, a[p]).abs_diff(position(&spec, p, b[p])))
                .sum()
        };
        for codes in product(&spec).iter().step_by(5) {
            let nearest = space.nearest(codes);
            prop_assert_eq!(nearest.is_some(), !expected.is_empty());
            if let Some(nearest) = nearest {
                prop_assert!(expected.contains(&nearest));
                let least = expected.iter().map(|other| distance(codes, other)).min();
                prop_assert_eq!(Some(distance(codes, &nearest)), least);
                let first = space.iter().find(|other| Some(distance(codes, other)) == least);
                prop_assert_eq!(Some(nearest), first);
            }
        }
    }

    #[test]
    fn restricted_spaces_satisfy_both(spec in specs(), more in specs()) {
        let mut both = spec.clone();
        both.constraints.extend(more.constraints.clone());
        let restricted = Space::build(&spec).restrict(more.constraints);
        prop_assert_eq!(restricted.iter().collect::<HashSet<_>>(), valid(&both));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Domains too large for a set of bits, with the constraints that tuners have.
    #[test]
    fn large_domains_are_counted_right(
        sizes in [60_i64..100, 60_i64..100, 1_i64..4],
        step in 1_i64..4,
        is_reversed: bool,
        constraints in prop::collection::vec(usual(), 1..4),
    ) {
        let mut a: Vec<i64> = (1..=sizes[0]).map(|at| at * step).collect();
        if is_reversed {
            a.reverse();
        }
        let domains = [a, (0..sizes[1]).collect(), (1..=sizes[2]).collect()];
        let named: Vec<(String, Vec<i64>)> =
            NAMES.into_iter().map(String::from).zip(domains).collect();
        let spec = spec(&named, &constraints);
        let space = Space::build(&spec);
        let expected = valid(&spec);
        prop_assert_eq!(space.count(), expected.len() as u128);
        for index in (0..space.count()).step_by(7) {
            let codes = space.get(index).unwrap_or_default();
            prop_assert!(expected.contains(&codes));
            prop_assert_eq!(space.index_of(&codes), Some(index));
        }
        for codes in product(&spec).iter().step_by(3001) {
            prop_assert_eq!(space.contains(codes), expected.contains(codes));
            let nearest = space.nearest(codes);
            let distance = |other: &Vec<i64>| -> usize {
                (0..3).map(|p| position(&spec, p, codes[p]).abs_diff(position(&spec, p, other[p]))).sum()
            };
            prop_assert_eq!(nearest.as_ref().map(distance), expected.iter().map(distance).min());
            let near = space.neighbours_within(codes, 1, usize::MAX);
            let wanted = expected.iter().filter(|other| differences(codes, other).len() == 1);
            prop_assert_eq!(near.len(), wanted.count());
        }
    }
}
