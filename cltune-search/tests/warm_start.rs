//! Searches with results from another device: they start from them, and are not led astray.

use cltune_search::space::{Space, SpaceParameter};
use cltune_search::{PriorResults, Score, Search, Setting, Step, find};
use std::sync::Arc;

/// Four parameters with the work-group product as a constraint, 1,170 configurations.
fn space() -> Arc<Space> {
    let powers = |last: u32| (0..=last).map(|exponent| 1 << exponent).collect();
    let domains: [(&'static str, Vec<i64>); 4] = [
        ("WGX", powers(8)),
        ("WGY", powers(6)),
        ("WPT", powers(4)),
        ("VW", powers(3)),
    ];
    let mut configurations: Vec<Vec<i64>> = vec![Vec::new()];
    for (_, domain) in &domains {
        configurations = configurations
            .iter()
            .flat_map(|head| {
                domain
                    .iter()
                    .map(move |code| [&head[..], &[*code]].concat())
            })
            .collect();
    }
    configurations.retain(|codes| (16..=1024).contains(&(codes[0] * codes[1])));
    let parameters = domains.map(|(name, codes)| SpaceParameter::listed(name, codes));
    Arc::new(Space::from_configurations(parameters.to_vec(), &configurations).unwrap())
}

/// A device on which this configuration is the best, and every halving or doubling costs.
fn device(best: [i64; 4], costs: [f64; 4]) -> impl Fn(&[i64]) -> f64 {
    move |codes| {
        let distance = |(code, best): (&i64, i64)| ((*code as f64) / best as f64).log2().abs();
        let distances = codes.iter().zip(best).map(distance);
        let cost: f64 = distances.zip(costs).map(|(d, c)| d * c).sum();
        100.0 * cost.exp()
    }
}

fn prior(space: &Space, time: impl Fn(&[i64]) -> f64, every: usize) -> PriorResults {
    let some = space.iter().step_by(every);
    let results = some.map(|codes| (codes.clone(), Score::of(Some(time(&codes)))));
    PriorResults {
        results: results.collect(),
    }
}

/// The mean over seeds of the logarithm of the best time over the optimum after `budget`
/// evaluations.
fn loss(
    strategy: &str,
    space: &Arc<Space>,
    priors: &[PriorResults],
    budget: u64,
    time: impl Fn(&[i64]) -> f64,
) -> f64 {
    const SEEDS: u64 = 24;
    let optimum = space
        .iter()
        .map(|codes| time(&codes))
        .fold(f64::MAX, f64::min);
    let losses = (0..SEEDS).map(|seed| {
        let setting = Setting::new(Arc::clone(space))
            .seed(seed)
            .budget(budget)
            .prior_results(priors);
        let mut search = Search::new(find(strategy).unwrap(), &setting);
        while let Step::Measure(codes) = search.step() {
            search.tell(&codes, Score::of(Some(time(&codes))));
        }
        (search.best().unwrap().1 / optimum).ln()
    });
    losses.sum::<f64>() / SEEDS as f64
}

#[test]
fn a_similar_device_saves_most_of_the_search() {
    let space = space();
    let here = device([64, 4, 4, 4], [0.4, 0.5, 0.4, 0.3]);
    let similar = device([64, 2, 4, 2], [0.5, 0.5, 0.3, 0.4]);
    // A whole recording, and a session of a hundred results or so.
    for every in [1, 13] {
        let priors = [prior(&space, &similar, every)];
        let (cold, warm) = (
            loss("bayes", &space, &[], 12, &here),
            loss("bayes", &space, &priors, 12, &here),
        );
        assert!(warm < 0.5 * cold, "{warm} against {cold}");
    }
}

#[test]
fn a_contrary_device_does_not_hold_the_search() {
    let space = space();
    let here = device([256, 1, 1, 8], [0.4, 0.5, 0.4, 0.3]);
    let contrary = device([1, 64, 16, 1], [0.4, 0.5, 0.4, 0.3]);
    let priors = [prior(&space, contrary, 1)];
    let random = loss("random", &space, &[], 50, &here);
    let warm = loss("bayes", &space, &priors, 50, &here);
    assert!(warm < 0.5 * random, "{warm} against {random}");
}

#[test]
fn the_best_from_elsewhere_come_first_and_count() {
    let space = space();
    let time = device([64, 4, 4, 4], [0.4, 0.5, 0.4, 0.3]);
    let priors = [prior(&space, &time, 1)];
    for strategy in ["random", "bayes", "genetic"] {
        let setting = Setting::new(Arc::clone(&space))
            .budget(3)
            .in_flight(4)
            .prior_results(&priors[..]);
        let mut search = Search::new(find(strategy).unwrap(), &setting);
        assert_eq!(
            search.step(),
            Step::Measure(vec![64, 4, 4, 4]),
            "{strategy}"
        );
        search.step();
        search.step();
        assert_eq!(search.step(), Step::Done, "{strategy}");
    }
}
