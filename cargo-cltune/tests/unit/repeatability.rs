//! Unit tests of `session::repeatability`.

use super::*;

/// The fastest is chosen.
fn fastest(times_us: &[f64]) -> Option<usize> {
    let times = times_us.iter().enumerate();
    times.min_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at)
}

#[test]
fn a_choice_that_is_far_ahead_does_not_flip() {
    let samples = [
        vec![1.0, 1.1, 1.2, 1.1, 1.0, 1.1],
        vec![2.0, 2.1, 2.0, 2.2, 2.1, 2.0],
    ];
    let found = Repeatability::of(0, &samples, fastest).unwrap();
    assert_eq!((found.flip_rate, found.regret), (0.0, 0.0));
    assert!((found.spread - 0.1 / 1.1).abs() < 1e-12, "{found:?}");
}

#[test]
fn one_that_is_as_fast_as_another_flips_half_of_the_time_and_costs_little() {
    // The same times in another order: draws decide.
    let ahead: Vec<f64> = (0..31)
        .map(|at| 10.0 + f64::from(at * 7 % 31) / 10.0)
        .collect();
    let behind: Vec<f64> = (0..31)
        .map(|at| 10.01 + f64::from(at * 11 % 31) / 10.0)
        .collect();
    let found = Repeatability::of(0, &[ahead, behind], fastest).unwrap();
    assert!((0.3..0.7).contains(&found.flip_rate), "{found:?}");
    let cost = 0.01 / 11.5;
    assert!(
        (found.regret - found.flip_rate * cost).abs() < 1e-9,
        "{found:?}"
    );
}

/// Whatever slows a round down slows both down, so that the order is as certain as without it.
#[test]
fn rounds_are_drawn_for_all_alike() {
    let slow = |at: u32| if at.is_multiple_of(2) { 5.0 } else { 0.0 };
    let first: Vec<f64> = (0..21).map(|at| 10.0 + slow(at)).collect();
    let second: Vec<f64> = first.iter().map(|time| time + 0.1).collect();
    let found = Repeatability::of(0, &[first, second], fastest).unwrap();
    assert_eq!(found.flip_rate, 0.0);
}

/// Comparisons of two configurations, whose medians differ by up to four standard errors, are
/// repeated: choices change as often as was said before, and cost as much more.
#[test]
fn a_repetition_flips_as_often_as_predicted() {
    const COMPARISONS: u32 = 600;
    const ROUNDS: usize = 31;
    // The standard error of the median of so many normal values.
    const ERROR_US: f64 = 0.225;
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let mut compare = |behind_us: f64| -> [Vec<f64>; 2] {
        [0.0, behind_us].map(|of| {
            let normal = |_| {
                let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
                100.0 + of + sum - 6.0
            };
            (0..ROUNDS).map(normal).collect()
        })
    };
    let (mut predicted, mut flips, mut regret, mut cost) = (0.0, 0.0, 0.0, 0.0);
    for at in 0..COMPARISONS {
        let apart = (f64::from(at) / f64::from(COMPARISONS) - 0.5) * 8.0;
        let behind_us = apart * ERROR_US * 2.0_f64.sqrt();
        let [first, again] = [compare(behind_us), compare(behind_us)];
        let medians = |of: &[Vec<f64>; 2]| of.each_ref().map(|times| median(times).unwrap());
        let times_us = medians(&first);
        let chosen = fastest(&times_us).unwrap();
        let found = Repeatability::of(chosen, &first, fastest).unwrap();
        predicted += found.flip_rate;
        regret += found.regret;
        let other = fastest(&medians(&again)).unwrap();
        if other != chosen {
            flips += 1.0;
            cost += (times_us[other] - times_us[chosen]) / times_us[chosen];
        }
    }
    let ratio = predicted / flips;
    assert!((0.85..1.15).contains(&ratio), "{predicted} for {flips}");
    let ratio = regret / cost;
    assert!((0.85..1.15).contains(&ratio), "{regret} for {cost}");
}

#[test]
fn without_rounds_nothing_is_known() {
    assert_eq!(Repeatability::of(0, &[vec![], vec![]], fastest), None);
    assert_eq!(
        Repeatability::of(0, &[vec![1.0; 11], vec![]], fastest),
        None
    );
}
