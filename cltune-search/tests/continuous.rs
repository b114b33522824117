//! Ranges of real numbers: spaces that have them, and every strategy on a smooth optimum in one.

mod spaces;

use cltune_core::parameter::{Domain, Fraction, RealRange, Scale};
use cltune_search::space::{Neighbourhood, Space};
use cltune_search::{STRATEGIES, Score, Search, Setting, Step, find};
use cltune_tests::is_full;
use spaces::{space, space_of};
use std::collections::HashSet;
use std::sync::Arc;

fn reals(first: f64, last: f64, scale: Scale) -> Domain {
    Domain::Reals(RealRange::new(first, last, scale).unwrap())
}

fn code(number: f64) -> i64 {
    Fraction::of(number).code()
}

fn number(code: i64) -> f64 {
    Fraction::from_code(code).get()
}

/// Two ranges and two parameters with listed values. The constraints name a range and integers.
fn bowl() -> Arc<Space> {
    space_of(
        &[
            ("SHARE", reals(0.05, 2.0, Scale::Linear)),
            ("RATE", reals(0.01, 100.0, Scale::Logarithmic)),
            (
                "WG",
                Domain::PowersOfTwo {
                    first: 1,
                    last: 256,
                },
            ),
            ("WPT", Domain::Integers(vec![1, 2, 3, 4, 6, 8].into())),
        ],
        "WG * WPT <= 512 && (SHARE < 1.5 || WG <= 64)",
    )
}

/// Milliseconds, so that CLTune's temperatures mean something; best at 0.731, 3.3, 64, 4.
fn time(codes: &[i64]) -> f64 {
    let share = (number(codes[0]) - 0.731) / 1.95;
    let rate = (number(codes[1]) / 3.3).log10() / 4.0;
    let group = (codes[2] as f64 / 64.0).log2();
    let work = (codes[3] as f64 / 4.0).log2();
    let slow = 6.0 * share * share + 6.0 * rate * rate + 0.1 * group.abs() + 0.15 * work.abs();
    5000.0 * slow.exp()
}

fn curve(strategy: &str, space: &Arc<Space>, seed: u64, budget: u64) -> Vec<Vec<i64>> {
    let setting = Setting::new(Arc::clone(space)).seed(seed).budget(budget);
    let mut search = Search::new(find(strategy).unwrap(), &setting);
    let mut curve = Vec::new();
    while let Step::Measure(codes) = search.step() {
        search.tell(&codes, Score::Time(time(&codes)));
        curve.push(codes);
    }
    curve
}

/// How far each best is from the optimum: the logarithm of its time over the optimum's.
fn losses(strategy: &str, space: &Arc<Space>, seeds: u64, budget: u64) -> Vec<f64> {
    let best = |seed| {
        let curve = curve(strategy, space, seed, budget);
        let times = curve.iter().map(|codes| time(codes));
        (times.fold(f64::MAX, f64::min) / 5000.0).ln()
    };
    (0..seeds).map(best).collect()
}

/// The mean, and its standard error.
fn mean(losses: &[f64]) -> (f64, f64) {
    let count = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / count;
    let squares: f64 = losses.iter().map(|loss| (loss - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn every_strategy_approaches_a_smooth_optimum_better_than_chance() {
    let space = bowl();
    let (seeds, budget) = (if is_full() { 20 } else { 10 }, 80);
    let (random, random_error) = mean(&losses("random", &space, 5 * seeds, budget));
    // `full` refuses such spaces, and `auto` is `bayes` in them.
    let names = STRATEGIES.iter().map(|entry| entry.name);
    for strategy in names.filter(|name| !["full", "random", "auto"].contains(name)) {
        // They take most of the time, and their losses are the smallest by far.
        let is_slow = ["bayes", "bayes-lin"].contains(&strategy);
        let seeds = if is_slow { 8 } else { seeds };
        let losses = losses(strategy, &space, seeds, budget);
        let (found, error) = mean(&losses);
        // More than three standard errors are chance once in a thousand times.
        let certainty = (random - found) / random_error.hypot(error);
        let says = format!("{strategy}: {found} against {random}, {certainty} standard errors");
        assert!(certainty > 3.0, "{says}");
        let part = match strategy {
            "bayes" => 0.01,
            "bayes-lin" => 0.03,
            "local" | "differential-evolution" => 0.35,
            _ => 0.7,
        };
        assert!(found < part * random, "{says}");
    }
}

#[test]
fn bayes_finds_the_place_of_the_optimum_in_every_range() {
    let space = bowl();
    for seed in 0..5 {
        let curve = curve("bayes", &space, seed, 60);
        let best = curve
            .iter()
            .min_by(|a, b| time(a).total_cmp(&time(b)))
            .unwrap();
        let (share, rate) = (number(best[0]), number(best[1]));
        assert!((share - 0.731).abs() < 0.02, "{share} with seed {seed}");
        assert!((rate / 3.3).log10().abs() < 0.04, "{rate} with seed {seed}");
        assert_eq!(best[2..], [64, 4]);
    }
}

#[test]
fn proposals_are_valid_and_distinct_and_include_a_default_that_is_not_listed() {
    let space = bowl();
    let default = [code(1.0 / 3.0), code(0.1 + 0.2), 32, 2];
    assert!(space.contains(&default) && space.index_of(&default).is_none());
    for strategy in STRATEGIES.iter().map(|entry| entry.name) {
        let setting = Setting::new(Arc::clone(&space)).seed(3).budget(40);
        let mut search = Search::new(find(strategy).unwrap(), &setting.first(&default));
        let mut seen = HashSet::new();
        while let Step::Measure(codes) = search.step() {
            assert!(space.contains(&codes), "{strategy}");
            // The best of all, so that strategies start from it.
            let time = if codes == default {
                100.0
            } else {
                time(&codes)
            };
            let fails = codes[2] == 16;
            search.tell(&codes, Score::of((!fails).then_some(time)));
            assert!(seen.insert(codes), "{strategy}");
        }
        assert!(
            seen.contains(&default[..]) && seen.len() == 40,
            "{strategy}"
        );
        assert_eq!(search.best(), Some((&default[..], 100.0)), "{strategy}");
    }
}

#[test]
fn a_space_contains_what_lies_between_the_listed_numbers() {
    let space = bowl();
    let contains = |share, rate, group| space.contains(&[code(share), code(rate), group, 2]);
    let listed = space.parameters()[0].codes[30_000];
    assert!(contains(number(listed), 1.0, 32) && contains(number(listed + 1), 1.0, 32));
    assert!(contains(0.05, 100.0, 32) && contains(2.0, 0.01, 32));
    for (share, rate, group) in [
        (0.049, 1.0, 32),
        (2.0 + 1e-15, 1.0, 32),
        (f64::NAN, 1.0, 32),
        (f64::INFINITY, 1.0, 32),
        // Listed values have nothing between them.
        (0.5, 1.0, 33),
        // The constraint holds for numbers that are not listed, too: it ends at 1.5.
        (number(code(1.5) + 1), 1.0, 128),
    ] {
        assert!(!contains(share, rate, group), "{share} {rate} {group}");
    }
    assert!(contains(number(code(1.5) - 1), 1.0, 128));
    assert!(!space.contains(&[code(0.5), code(1.0), 32]));
}

#[test]
fn a_constraint_on_a_range_is_counted_exactly() {
    let reals = || reals(0.0, 1.0, Scale::Linear);
    let half = space_of(&[("A", reals()), ("B", reals())], "A < 0.5");
    assert_eq!(half.count(), 32_768 * 65_537);
    let ordered = space_of(&[("A", reals()), ("B", reals())], "A < B");
    assert_eq!(ordered.count(), 65_537 * 65_536 / 2);
    let joined = space_of(
        &[("A", reals()), ("WG", Domain::Integers(vec![8, 16].into()))],
        "A <= 0.25 || WG == 8",
    );
    assert_eq!(joined.count(), 65_537 + 16_385);
}

#[test]
fn neighbours_in_a_range_are_few_and_at_all_distances() {
    let space = bowl();
    let place = [code(1.0), code(1.0), 64, 4];
    for codes in [place, [code(0.1 + 0.900_000_1), code(1.0), 64, 4]] {
        let near = space.neighbours(&codes, Neighbourhood::AnyValue);
        let in_share = near
            .iter()
            .filter(|of| of[1..] == codes[1..] || of[2..] == codes[2..]);
        assert!((20..40).contains(&in_share.count()), "{}", near.len());
        assert!(near.iter().all(|of| space.contains(of)));
        let distances = near
            .iter()
            .map(|of| (number(of[0]) - number(codes[0])).abs());
        let distances: Vec<f64> = distances.filter(|distance| *distance > 1e-4).collect();
        assert!(distances.iter().any(|distance| *distance < 0.003));
        assert!(distances.iter().any(|distance| *distance > 0.45));
    }
    // A range of two numbers has no more neighbours than numbers.
    let two = Fraction::from_code(code(1.0) + 1).get();
    let tiny = space_of(&[("A", reals(1.0, two, Scale::Linear))], "true");
    assert_eq!(
        tiny.neighbours(&[code(1.0)], Neighbourhood::AnyValue),
        [[code(two)]]
    );
    assert_eq!(tiny.count(), 2);
}

#[test]
fn full_says_that_there_is_no_end_of_numbers_and_auto_takes_bayes() {
    let ranged = space_of(&[("A", reals(0.0, 1.0, Scale::Linear))], "true");
    let full = find("full").unwrap();
    let error = full.check(&ranged).unwrap_err().to_string();
    assert!(
        error.contains("`full`") && error.contains("`A`") && error.contains("`auto`"),
        "{error}"
    );
    for strategy in STRATEGIES.iter().filter(|entry| entry.name != "full") {
        assert_eq!(find(strategy.name).unwrap().check(&ranged), Ok(()));
    }
    assert_eq!(full.check(&space(&[("A", vec![1, 2])], "true")), Ok(()));
    let proposals = |strategy: &str| {
        let setting = Setting::new(Arc::clone(&ranged)).budget(1_000_000);
        let mut search = Search::new(find(strategy).unwrap(), &setting);
        search.ask(1)
    };
    assert_eq!(proposals("auto"), proposals("bayes"));
    assert_ne!(proposals("auto"), proposals("full"));
}

/// A space whose constraint names two ranges is walked without going through their numbers.
#[test]
fn two_ranges_under_one_constraint_are_no_problem_for_any_strategy() {
    let reals = || reals(0.0, 1.0, Scale::Linear);
    let space = space_of(&[("A", reals()), ("B", reals())], "A < B");
    let time = |codes: &[i64]| {
        let [a, b] = [codes[0], codes[1]].map(number);
        1000.0 * ((a - 0.3).powi(2) + (b - 0.6).powi(2)).exp()
    };
    for strategy in STRATEGIES.iter().map(|entry| entry.name) {
        let setting = Setting::new(Arc::clone(&space)).seed(1).budget(50);
        let mut search = Search::new(find(strategy).unwrap(), &setting);
        let mut count = 0;
        while let Step::Measure(codes) = search.step() {
            assert!(codes[0] < codes[1], "{strategy}");
            search.tell(&codes, Score::Time(time(&codes)));
            count += 1;
        }
        assert_eq!(count, 50, "{strategy}");
    }
}
