//! Properties of every strategy: better than chance, at home in spaces of every shape, and the same
//! curve however results arrive.

mod spaces;

use cltune_search::space::Space;
use cltune_search::{Generator, STRATEGIES, Score, Search, Setting, Step, find};
use cltune_tests::is_full;
use spaces::space;
use std::collections::HashSet;
use std::sync::Arc;

/// Every strategy, and those whose options the papers vary.
fn names() -> Vec<&'static str> {
    let published = [
        "annealing-cltune:t=2",
        "annealing-cltune:t=6",
        "pso:s=6",
        "ann:n=20,m=10",
        "bayes-lin:t=20",
    ];
    let all = STRATEGIES.iter().map(|entry| entry.name);
    all.chain(published).collect()
}

/// The same for spaces with more configurations than a budget, where `auto` is `bayes`, which
/// `search.rs` holds.
fn names_for_large_spaces() -> Vec<&'static str> {
    let mut names = names();
    names.retain(|name| *name != "auto");
    names
}

fn powers_of_two(last: u32) -> Vec<i64> {
    (0..=last).map(|exponent| 1 << exponent).collect()
}

/// Some thousand configurations under the constraints of a kernel.
fn bowl() -> Arc<Space> {
    space(
        &[
            ("WGX", powers_of_two(8)),
            ("WGY", powers_of_two(6)),
            ("WPT", powers_of_two(4)),
            ("VW", powers_of_two(3)),
            ("UNROLL", (1..=6).collect()),
            ("PAD", vec![0, 1]),
        ],
        "WGX * WGY <= 1024 && WGX * WGY >= 16 && WPT % VW == 0",
    )
}

/// Milliseconds, so that CLTune's temperatures mean something; best at 64, 4, 8, 4, 3, 1.
fn time(codes: &[i64]) -> f64 {
    let distance = |code: i64, best: i64| ((code as f64).log2() - (best as f64).log2()).abs();
    let slow = 0.3 * distance(codes[0], 64)
        + 0.4 * distance(codes[1], 4)
        + 0.3 * distance(codes[2], 8)
        + 0.2 * distance(codes[3], 4)
        + 0.1 * (codes[4] - 3).abs() as f64
        + 0.1 * (1 - codes[5]) as f64;
    5000.0 * slow.exp()
}

/// A search to its end with one configuration at a time.
fn run(
    strategy: &str,
    setting: &Setting,
    time: impl Fn(&[i64]) -> Option<f64>,
) -> Vec<(Vec<i64>, Option<f64>)> {
    let mut search = Search::new(find(strategy).unwrap(), setting);
    let mut curve = Vec::new();
    while let Step::Measure(codes) = search.step() {
        let time = time(&codes);
        search.tell(&codes, Score::of(time));
        curve.push((codes, time));
    }
    curve
}

fn assert_valid_and_distinct(strategy: &str, space: &Space, curve: &[(Vec<i64>, Option<f64>)]) {
    let distinct: HashSet<&Vec<i64>> = curve.iter().map(|(codes, _)| codes).collect();
    assert_eq!(distinct.len(), curve.len(), "{strategy}");
    assert!(
        distinct.iter().all(|codes| space.contains(codes)),
        "{strategy}"
    );
}

#[test]
fn every_strategy_is_better_than_chance() {
    let space = bowl();
    // The mean over seeds of the logarithm of the best time, relative to the optimum's.
    let mean = |strategy: &str, seeds: u64| -> f64 {
        let best = |seed| {
            let setting = Setting::new(Arc::clone(&space)).seed(seed).budget(60);
            let curve = run(strategy, &setting, |codes| Some(time(codes)));
            let times = curve.iter().filter_map(|(_, time)| *time);
            (times.fold(f64::MAX, f64::min) / 5000.0).ln()
        };
        (0..seeds).map(best).sum::<f64>() / seeds as f64
    };
    let seeds_of_slow = if is_full() { 8 } else { 4 };
    let random = mean("random", 20);
    for strategy in names_for_large_spaces() {
        if ["full", "random"].contains(&strategy) {
            continue;
        }
        // Processes take most of the time, and lead by far.
        let is_slow = strategy.starts_with("bayes");
        let found = mean(strategy, if is_slow { seeds_of_slow } else { 20 });
        assert!(found < 0.7 * random, "{strategy}: {found} against {random}");
    }
}

/// Larger work-groups are faster, until they fail: the trend leads where nothing works.
fn cliff(codes: &[i64]) -> Option<f64> {
    let exponent = |code: i64| (code as f64).log2();
    let time = 0.2 * exponent(codes[1]) + 0.1 * exponent(codes[2]) - 0.3 * exponent(codes[0]);
    (codes[0] < 32).then(|| time.exp())
}

#[test]
fn strategies_with_a_model_learn_where_failures_are() {
    let space = bowl();
    let failures = |strategy: &str| -> usize {
        let failed = |seed| {
            let setting = Setting::new(Arc::clone(&space)).seed(seed).budget(60);
            let curve = run(strategy, &setting, cliff);
            curve.iter().filter(|(_, time)| time.is_none()).count()
        };
        (0..3).map(failed).sum()
    };
    let all = failures("random");
    for strategy in ["bayes", "bayes-lin", "ann"] {
        let learned = failures(strategy);
        assert!(4 * learned < 3 * all, "{strategy}: {learned} against {all}");
    }
}

#[test]
fn every_strategy_ends_when_everything_fails() {
    let space = space(
        &[("A", (0..10).collect()), ("B", (0..5).collect())],
        "A != B",
    );
    for strategy in names() {
        for (budget, expected) in [(None, 45), (Some(20), 20), (Some(1000), 45)] {
            let setting = Setting::new(Arc::clone(&space)).seed(1).budget(budget);
            let curve = run(strategy, &setting, |_| None);
            assert_valid_and_distinct(strategy, &space, &curve);
            assert_eq!(curve.len(), expected, "{strategy}");
        }
    }
}

#[test]
fn every_strategy_works_in_the_smallest_spaces() {
    let shapes = [
        (space(&[("A", vec![7])], "true"), 1),
        (space(&[("A", vec![1, 2]), ("B", vec![3])], "A == 2"), 1),
        (space(&[("A", vec![1, 2]), ("B", vec![3])], "true"), 2),
        (space(&[("A", vec![1]), ("B", vec![3])], "A == 2"), 0),
        (
            space(&[("A", vec![9]), ("B", (0..40).collect())], "B != 7"),
            39,
        ),
    ];
    for (space, expected) in &shapes {
        for strategy in names() {
            for budget in [None, Some(1000)] {
                let setting = Setting::new(Arc::clone(space)).budget(budget);
                let curve = run(strategy, &setting, |codes| Some(codes[0] as f64));
                assert_valid_and_distinct(strategy, space, &curve);
                assert_eq!(curve.len(), *expected, "{strategy}");
            }
        }
    }
}

#[test]
fn every_strategy_works_where_nothing_can_be_enumerated() {
    let names_of = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
    let parameters = names_of.map(|name| (name, (1..=64).collect::<Vec<i64>>()));
    let space = space(&parameters, "A % 2 == 0 || B % 3 == 0");
    assert!(space.count() > 10_u128.pow(15));
    let time = |codes: &[i64]| {
        let far: i64 = codes.iter().map(|code| (code - 20).abs()).sum();
        (codes[0] != 13).then_some(1.0 + far as f64)
    };
    for strategy in names_for_large_spaces() {
        let setting = Setting::new(Arc::clone(&space)).seed(3).budget(60);
        let curve = run(strategy, &setting, time);
        assert_valid_and_distinct(strategy, &space, &curve);
        assert_eq!(curve.len(), 60, "{strategy}");
    }
}

/// The curve of a search with several in flight, whose results arrive in an order that `chance`
/// decides.
fn several_in_flight(strategy: &str, space: &Arc<Space>, mut chance: Generator) -> Vec<Vec<i64>> {
    let setting = Setting::new(Arc::clone(space))
        .seed(2)
        .budget(50)
        .in_flight(4);
    let mut search = Search::new(find(strategy).unwrap(), &setting);
    let mut running: Vec<Vec<i64>> = Vec::new();
    let mut handed_out = Vec::new();
    loop {
        let new = search.ask(4 - running.len());
        handed_out.extend(new.iter().cloned());
        running.extend(new);
        if running.is_empty() {
            return handed_out;
        }
        let codes = running.swap_remove(chance.below(running.len() as u128) as usize);
        search.tell(&codes, Score::of(cliff(&codes)));
    }
}

#[test]
fn the_order_of_results_changes_no_strategys_course() {
    let space = bowl();
    let orders = if is_full() { 3 } else { 2 };
    for strategy in names_for_large_spaces() {
        let curve = several_in_flight(strategy, &space, Generator::new(0));
        let distinct: HashSet<&Vec<i64>> = curve.iter().collect();
        assert_eq!((curve.len(), distinct.len()), (50, 50), "{strategy}");
        assert!(curve.iter().all(|codes| space.contains(codes)));
        for seed in 1..orders {
            let other = several_in_flight(strategy, &space, Generator::new(seed));
            assert_eq!(other, curve, "{strategy}");
        }
    }
}

#[test]
fn every_strategy_goes_on_where_it_was_interrupted() {
    let space = bowl();
    let places: &[usize] = if is_full() { &[1, 23, 50] } else { &[23] };
    for strategy in names_for_large_spaces() {
        let setting = Setting::new(Arc::clone(&space)).seed(4).budget(50);
        let whole = run(strategy, &setting, cliff);
        for &stopped_at in places {
            let mut resumed = Search::new(find(strategy).unwrap(), &setting);
            for (codes, time) in &whole[..stopped_at] {
                resumed.know(codes, Score::of(*time));
            }
            let mut rest = Vec::new();
            while let Step::Measure(codes) = resumed.step() {
                resumed.tell(&codes, Score::of(cliff(&codes)));
                rest.push((codes.clone(), cliff(&codes)));
            }
            assert_eq!(rest, whole[stopped_at..], "{strategy}");
        }
    }
}
