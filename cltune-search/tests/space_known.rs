//! Spaces of published tuners, with the counts found by enumerating them, and extreme spaces.

use cltune_core::expr::{Op, Program};
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::formula::{Scope, Type};
use cltune_search::space::{
    Neighbourhood, RandomSource, Space, SpaceConstraint, SpaceParameter, SpaceSpec,
};

fn spec(parameters: &[(&str, &[i64])], constraints: &[&str]) -> SpaceSpec {
    let declared: Vec<Parameter> = parameters
        .iter()
        .map(|(name, codes)| Parameter {
            name: (*name).to_owned().into(),
            domain: Domain::Integers(codes.to_vec().into()),
        })
        .collect();
    let scope = Scope {
        parameters: &declared,
        dimensions: &[],
    };
    SpaceSpec {
        parameters: parameters
            .iter()
            .map(|(name, codes)| SpaceParameter::listed((*name).to_owned(), codes.to_vec()))
            .collect(),
        constraints: constraints
            .iter()
            .map(|text| SpaceConstraint {
                label: (*text).to_owned().into(),
                program: cltune_formats::formula::parse(text, &scope, Type::Bool)
                    .unwrap_or_else(|error| panic!("{text}: {error}"))
                    .program,
            })
            .collect(),
    }
}

/// Always the same number.
struct Constant(u64);

impl RandomSource for Constant {
    fn next_u64(&mut self) -> u64 {
        self.0
    }
}

/// CLTune's `samples/gemm`, with 1024 work-items and 48 KiB of local memory.
#[test]
fn matrix_multiplication_of_cltune() {
    let space = Space::build(&spec(
        &[
            ("MWG", &[16, 32, 64, 128]),
            ("NWG", &[16, 32, 64, 128]),
            ("KWG", &[16, 32]),
            ("MDIMC", &[8, 16, 32]),
            ("NDIMC", &[8, 16, 32]),
            ("MDIMA", &[8, 16, 32]),
            ("NDIMB", &[8, 16, 32]),
            ("KWI", &[2, 8]),
            ("VWM", &[1, 2, 4, 8]),
            ("VWN", &[1, 2, 4, 8]),
            ("STRM", &[0, 1]),
            ("STRN", &[0, 1]),
            ("SA", &[0, 1]),
            ("SB", &[0, 1]),
            ("PRECISION", &[32]),
        ],
        &[
            "KWG % KWI == 0",
            "MWG % (MDIMC * VWM) == 0",
            "NWG % (NDIMC * VWN) == 0",
            "MWG % (MDIMA * VWM) == 0",
            "NWG % (NDIMB * VWN) == 0",
            "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
            "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
            "MDIMC * NDIMC <= 1024",
            "((SA * KWG * MWG / VWM) + (SB * KWG * NWG / VWN)) * 4 <= 49152",
        ],
    ));
    assert_eq!(space.cartesian(), 1_327_104);
    assert_eq!(space.count(), 241_600);
    let last = space.get(241_599).unwrap_or_default();
    assert_eq!(space.index_of(&last), Some(241_599));
    assert_eq!(space.get(241_600), None);
}

/// CLTune's `samples/conv`, with 1024 work-items and 48 KiB of local memory.
#[test]
fn convolution_of_cltune() {
    let extended: Vec<i64> = (8..=26).chain(32..=42).chain(64..=74).collect();
    let spec = spec(
        &[
            ("TBX", &[8, 16, 32, 64]),
            ("TBY", &[8, 16, 32, 64]),
            ("LOCAL", &[0, 1, 2]),
            ("WPTX", &[1, 2, 4, 8]),
            ("WPTY", &[1, 2, 4, 8]),
            ("VECTOR", &[1, 2, 4]),
            ("UNROLL_FACTOR", &[1, 7]),
            ("PADDING", &[0, 1]),
            ("TBX_XL", &extended),
            ("TBY_XL", &extended),
        ],
        &[
            "(LOCAL == 2 && TBX_XL == TBX + (6 + WPTX - 1) / WPTX) || (LOCAL != 2 && TBX_XL == TBX)",
            "(LOCAL == 2 && TBY_XL == TBY + (6 + WPTY - 1) / WPTY) || (LOCAL != 2 && TBY_XL == TBY)",
            "WPTX % VECTOR == 0",
            "LOCAL != 2 || 6 % VECTOR == 0",
            "PADDING == 0 || LOCAL != 0",
            "TBX_XL * TBY_XL <= 1024",
            "LOCAL == 0 || ((TBY * WPTY + 6) * (TBX * WPTX + 6 + PADDING)) * 4 <= 49152",
        ],
    );
    let space = Space::build(&spec);
    assert_eq!(space.cartesian(), 15_492_096);
    assert_eq!(space.count(), 3_424);
    let explanation = space.explain();
    // Two of three LOCAL times PADDING = 1 is one of six.
    let padding = explanation.removed[4].configurations;
    assert_eq!(padding, Some(15_492_096 / 6));
    assert!(explanation.conflict.is_empty());
}

#[test]
fn many_booleans_and_a_large_domain() {
    let large: Vec<i64> = (0..100_000).collect();
    let names: Vec<String> = (0..60).map(|number| format!("B{number}")).collect();
    let mut parameters: Vec<(&str, &[i64])> = vec![("X", &large)];
    parameters.extend(names.iter().map(|name| (name.as_str(), &[0, 1][..])));
    let one = Space::build(&spec(&parameters, &["X % 100 == B0"]));
    assert_eq!(one.cartesian(), 100_000 << 60);
    assert_eq!(one.count(), 1000 << 60);
    // Exactly 2 of 60 are on, and X is below their number.
    let sum = format!("{} == 2 && X < {}", names.join(" + "), names.join(" + "));
    let sum = Space::build(&spec(&parameters, &[&sum]));
    assert_eq!(sum.count(), 60 * 59 / 2 * 2);
    let codes = sum.get(1234).unwrap_or_default();
    assert_eq!(sum.index_of(&codes), Some(1234));
    assert_eq!(codes[1..].iter().sum::<i64>(), 2);
}

#[test]
fn counts_saturate_and_the_rest_still_works() {
    let names: Vec<String> = (0..200).map(|number| format!("B{number}")).collect();
    let parameters: Vec<(&str, &[i64])> = names
        .iter()
        .map(|name| (name.as_str(), &[0, 1][..]))
        .collect();
    let spec = spec(&parameters, &["B0 != B1"]);
    let space = Space::build(&spec);
    assert_eq!(space.count(), u128::MAX);
    assert_eq!(space.cartesian(), u128::MAX);
    assert_eq!(space.explain().removed[0].configurations, None);
    let mut ones = vec![1; 200];
    assert!(!space.contains(&ones));
    ones[0] = 0;
    assert!(space.contains(&ones));
    assert_eq!(space.index_of(&ones), None);
    let near = space.get(12345).unwrap_or_default();
    assert_eq!(space.index_of(&near), Some(12345));
    let drawn = space.sample(&mut Constant(u64::MAX)).unwrap_or_default();
    assert_eq!(drawn[2..], [1; 198]);
    assert_eq!(space.neighbours(&near, Neighbourhood::AnyValue).len(), 198);
}

#[test]
fn spaces_without_parameters_values_or_configurations() {
    let nothing = Space::build(&spec(&[], &[]));
    assert_eq!(nothing.iter().collect::<Vec<_>>(), [Vec::<i64>::new()]);
    assert_eq!(nothing.sample(&mut Constant(1)), Some(Vec::new()));
    let never = Space::build(&spec(&[("A", &[1, 2])], &["A < 3", "1 > 2", "A > 5"]));
    assert_eq!(never.count(), 0);
    assert_eq!(never.cartesian(), 2);
    assert!(!never.contains(&[1]));
    assert!(never.neighbours(&[1], Neighbourhood::AnyValue).is_empty());
    assert_eq!(never.explain().conflict, ["A > 5"]);
    let valueless = Space::build(&spec(&[("A", &[]), ("B", &[1])], &["A == B"]));
    assert_eq!((valueless.count(), valueless.cartesian()), (0, 0));
    assert_eq!(valueless.explain().without_values, ["A"]);
    assert!(valueless.explain().conflict.is_empty());
}

#[test]
fn strangers_are_not_members() {
    let space = Space::build(&spec(&[("A", &[4, 2, 4, 1])], &["8 / (A - 1) > 0"]));
    // The second 4 is dropped; 1 divides by zero.
    assert_eq!(space.parameters()[0].codes, [4, 2, 1]);
    assert_eq!(space.iter().collect::<Vec<_>>(), [[4], [2]]);
    for codes in [&[][..], &[3], &[1], &[4, 4]] {
        assert!(!space.contains(codes));
        assert_eq!(space.index_of(codes), None);
    }
    // From an invalid configuration to the valid ones next to it.
    let adjacent = space.neighbours(&[1], Neighbourhood::Adjacent);
    assert_eq!(adjacent, [[2]]);
    assert_eq!(space.neighbours(&[3], Neighbourhood::AnyValue).len(), 0);
}

#[test]
fn damaged_programs_and_missing_parameters_have_no_value() {
    let mut spec = spec(&[("A", &[0, 1])], &["A == 1"]);
    for (ops, count) in [
        (vec![], 0),
        (vec![Op::Add], 0),
        (vec![Op::Param(0), Op::Param(7), Op::Eq], 0),
        (vec![Op::Param(0), Op::OrElse(3), Op::Param(7)], 1),
        (vec![Op::Param(0), Op::Jump(0)], 0),
    ] {
        spec.constraints[0].program = Program { ops: ops.into() };
        assert_eq!(Space::build(&spec).count(), count, "{:?}", spec.constraints);
    }
}

/// Divisors and multiples are found without trying every pair of values.
#[test]
fn large_domains_joined_by_divisibility() {
    let many: Vec<i64> = (1..=20_000).collect();
    for constraint in ["A % B == 0", "B % A == 0"] {
        let space = Space::build(&spec(&[("A", &many), ("B", &many)], &[constraint]));
        let expected: i64 = many.iter().map(|divisor| 20_000 / divisor).sum();
        assert_eq!(space.count(), expected as u128, "{constraint}");
    }
    let space = Space::build(&spec(&[("A", &many), ("B", &many)], &["A == B"]));
    assert_eq!(space.count(), 20_000);
}
