//! The score of a run over time, as the auto-tuning community compares searches: 0 is random
//! search, 1 is the optimum from the beginning.
//!
//! The method is that of Willemsen et al., "A methodology for comparing optimization algorithms for
//! auto-tuning", Future Generation Computer Systems, 2024, doi 10.1016/j.future.2024.05.021; the
//! score is the mean P of Willemsen et al., "Tuning the tuner", 2025, arXiv 2509.26300. At each of
//! many equidistant times t,
//!
//! ```text
//! P(t) = (baseline(t) - best(t)) / (baseline(t) - optimum),
//! ```
//!
//! where best(t) is the best time that a run has found by t, and baseline(t) is what random search
//! without replacement is expected to have found. Times end where the baseline is 95 % of the way
//! from the median to the optimum.
//!
//! The baseline is computed and not sampled. After k evaluations it is exact, failures included
//! (theirs is the value at the expected rank, among configurations that work). By the time t random
//! search has made as many evaluations as fit into t at their mean cost, as in their software.
//! Until something works, the best time counts as the mean of all that work, which is what the first
//! evaluation has on average. The expected score of random search is thus 0 from the beginning.

use super::recording::{RecordedOutcome, Recording, RecordingError};
use super::run::Run;

/// Which part of the way from the median to the optimum random search has gone at the end.
const WAY: f64 = 0.95;
/// At so many times a run is compared with random search.
const TIMES: usize = 100;

/// What runs on a recorded space are compared with over time.
#[derive(Debug)]
pub struct TimeScale<'a> {
    recording: &'a Recording,
    budget_ms: f64,
    evaluations: usize,
    /// The best time, milliseconds, while nothing has succeeded.
    nothing: f64,
    /// At each of the times, what random search is expected to have found.
    baseline: Vec<f64>,
}

impl<'a> TimeScale<'a> {
    /// The scale of a recorded space.
    ///
    /// # Errors
    /// [`RecordingError::Flat`] where the median is as fast as the optimum,
    /// [`RecordingError::TooSmall`] where random search comes near the optimum only when it is sure
    /// to have it.
    pub fn of(recording: &'a Recording) -> Result<Self, RecordingError> {
        let random = RandomSearch::of(recording.outcomes());
        let (optimum, median) = (recording.best, random.median());
        if median <= optimum {
            let path = recording.path();
            return Err(RecordingError::Flat { path });
        }
        let target = median - WAY * (median - optimum);
        let evaluations = random.evaluations_until(target);
        let all = random.configurations;
        let optima = random.times.partition_point(|time| *time <= optimum);
        if evaluations + optima > all {
            return Err(RecordingError::TooSmall {
                path: recording.path(),
                configurations: all,
                evaluations,
            });
        }
        Ok(Self {
            recording,
            budget_ms: evaluations as f64 * random.mean_cost,
            evaluations,
            nothing: random.mean,
            baseline: random.baseline(evaluations),
        })
    }

    /// The space.
    pub fn recording(&self) -> &'a Recording {
        self.recording
    }

    /// The time that random search needs on average for 95 % of the way from the median to the
    /// optimum, milliseconds.
    pub fn budget_ms(&self) -> f64 {
        self.budget_ms
    }

    /// How many evaluations random search makes in that time.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The score of a run: 0 where it is as good as random search, 1 where it has the optimum from
    /// the beginning, below 0 where it is worse than random search. What comes after the budget is
    /// not counted, and a run that ends before keeps what it has found.
    pub fn score(&self, run: &Run) -> f64 {
        let mut ends = self.ends(run).peekable();
        let mut found = None;
        let parts = self.baseline.iter().zip(1..).map(|(baseline, part)| {
            let now = self.budget_ms * f64::from(part) / TIMES as f64;
            while let Some((_, time)) = ends.next_if(|(end, _)| *end <= now) {
                found = match (found, time) {
                    (Some(found), Some(time)) => Some(f64::min(found, time)),
                    (found, time) => found.or(time),
                };
            }
            let best = found.unwrap_or(self.nothing);
            (baseline - best) / (baseline - self.recording.best)
        });
        parts.sum::<f64>() / TIMES as f64
    }

    /// For each evaluation of a run, when it ended, milliseconds, and the time that was measured.
    fn ends<'b>(&'b self, run: &'b Run) -> impl Iterator<Item = (f64, Option<f64>)> + 'b {
        let strategy = run
            .strategy_ms
            .iter()
            .copied()
            .chain(std::iter::repeat(0.0));
        let evaluations = run.evaluations.iter().zip(strategy);
        evaluations.scan(0.0, |now, ((codes, time), strategy)| {
            *now += strategy + self.recording.cost(codes).unwrap_or_default();
            Some((*now, *time))
        })
    }
}

/// Random search without replacement on a space.
struct RandomSearch {
    /// The times of the configurations that work, the fastest first.
    times: Vec<f64>,
    /// How many configurations there are, failures included.
    configurations: usize,
    /// The mean of the times.
    mean: f64,
    /// The mean cost of an evaluation.
    mean_cost: f64,
}

impl RandomSearch {
    fn of(outcomes: impl Iterator<Item = RecordedOutcome>) -> Self {
        let (mut times, mut costs, mut configurations) = (Vec::new(), Vec::new(), 0);
        for outcome in outcomes {
            times.extend(outcome.time);
            costs.push(outcome.cost);
            configurations += 1;
        }
        // Sorted, so that sums do not depend on the order of a hash map.
        times.sort_by(f64::total_cmp);
        costs.sort_by(f64::total_cmp);
        Self {
            mean: times.iter().sum::<f64>() / times.len() as f64,
            mean_cost: costs.iter().sum::<f64>() / configurations as f64,
            times,
            configurations,
        }
    }

    fn median(&self) -> f64 {
        let middle = self.times.len() / 2;
        if self.times.len().is_multiple_of(2) {
            f64::midpoint(self.times[middle - 1], self.times[middle])
        } else {
            self.times[middle]
        }
    }

    /// How many evaluations have an expected best time of at most `target`.
    fn evaluations_until(&self, target: f64) -> usize {
        // The expected best falls with every evaluation.
        let (mut few, mut enough) = (0, self.configurations);
        while enough - few > 1 {
            let between = few + (enough - few) / 2;
            if self.best_after(between) <= target {
                enough = between;
            } else {
                few = between;
            }
        }
        enough
    }

    /// At each of the times, the expected best time of a search that ends after so many
    /// evaluations.
    fn baseline(&self, evaluations: usize) -> Vec<f64> {
        let mut baseline = Vec::with_capacity(TIMES);
        let mut before = None;
        for part in 1..=TIMES {
            // In whole numbers, so that the last of them are all.
            let made = part * evaluations / TIMES;
            let best = match before {
                Some((same, best)) if same == made => best,
                _ => self.best_after(made),
            };
            before = Some((made, best));
            baseline.push(best);
        }
        baseline
    }

    /// The expectation of the best time after so many evaluations.
    ///
    /// With n configurations, none of the i fastest is among the first k of a random order with the
    /// probability C(n - i, k) / C(n, k), which follows from that of i - 1 by the factor
    /// (n - i + 1 - k) / (n - i + 1).
    fn best_after(&self, evaluations: usize) -> f64 {
        let mut missed = 1.0;
        let mut expected = 0.0;
        for (rank, time) in self.times.iter().enumerate() {
            let left = self.configurations - rank;
            let still = missed * left.saturating_sub(evaluations) as f64 / left as f64;
            expected += time * (missed - still);
            missed = still;
        }
        expected + missed * self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use std::path::Path;

    fn recording(text: &str) -> Recording {
        Recording::new(&parse(Path::new("space.csv"), text).unwrap()).unwrap()
    }

    /// Times 1 to 100; every evaluation takes 1000 ms.
    fn line() -> Recording {
        let row = |x: u32| format!("{x},{x},{}\n", 1000 - 7 * x);
        let rows: String = (1..=100).map(row).collect();
        recording(&format!("X,time_ms,compile_ms\n{rows}"))
    }

    fn run(configurations: &[i64], strategy_ms: f64) -> Run {
        Run {
            seed: 0,
            held_out_error: None,
            strategy_ms: vec![strategy_ms; configurations.len()],
            evaluations: configurations
                .iter()
                .map(|x| (vec![*x], Some(*x as f64)))
                .collect(),
        }
    }

    /// All orders of a few configurations: what is computed is the mean over them.
    #[test]
    fn the_expected_best_is_that_over_all_orders() {
        let outcomes = [Some(1.0), Some(4.0), None, Some(2.0), None];
        let random = RandomSearch::of(
            outcomes
                .into_iter()
                .map(|time| RecordedOutcome { time, cost: 1.0 }),
        );
        let mean = 7.0 / 3.0;
        for evaluations in 0..=outcomes.len() {
            let (mut sum, mut count) = (0.0, 0);
            for chosen in 0_u32..1 << outcomes.len() {
                if chosen.count_ones() as usize != evaluations {
                    continue;
                }
                let times = (0..outcomes.len()).filter(|at| (chosen >> at) & 1 == 1);
                let best = times.filter_map(|at| outcomes[at]).reduce(f64::min);
                sum += best.unwrap_or(mean);
                count += 1;
            }
            let expected = sum / f64::from(count);
            let computed = random.best_after(evaluations);
            assert!(
                (computed - expected).abs() < 1e-12,
                "{evaluations}: {computed} {expected}"
            );
        }
    }

    #[test]
    fn the_budget_is_what_random_search_needs_for_most_of_the_way() {
        let line = line();
        let scale = TimeScale::of(&line).unwrap();
        // The expected least of k of the numbers 1 to n is (n + 1) / (k + 1), and 1 + 0.05 * 49.5
        // is wanted.
        let needed = (1..100).find(|k| 101.0 / (f64::from(*k) + 1.0) <= 3.475);
        assert_eq!(Some(scale.evaluations() as i32), needed);
        assert!((scale.budget_ms() - 1000.0 * scale.evaluations() as f64).abs() < 1e-6);
    }

    #[test]
    fn the_optimum_at_once_is_one_and_time_of_any_kind_counts() {
        let line = line();
        let scale = TimeScale::of(&line).unwrap();
        // Before the first evaluation ends there is nothing, as in random search.
        let parts = |ms: f64| (TIMES as f64 * ms / scale.budget_ms()).ceil() - 1.0;
        let at_once = scale.score(&run(&[1], 0.0));
        assert!(
            (at_once - (1.0 - parts(1000.0) / TIMES as f64)).abs() < 1e-9,
            "{at_once}"
        );
        let slow = scale.score(&run(&[1], 9.0 * 1000.0));
        assert!(slow < at_once, "{slow} {at_once}");
        let never = scale.score(&run(&[1], scale.budget_ms()));
        assert_eq!(never, scale.score(&run(&[], 0.0)));
        assert!(never < 0.0);
        assert!(scale.score(&run(&[100, 99], 0.0)) < never);
        // What comes after the budget does not count.
        let all: Vec<i64> = (50..=100).rev().chain([1]).collect();
        let without = &all[..all.len() - 1];
        assert_eq!(
            scale.score(&run(&all, 0.0)),
            scale.score(&run(without, 0.0))
        );
    }

    #[test]
    fn what_has_no_scale_is_an_error() {
        let few = recording("X,time_ms\n1,1\n2,2\n3,3\n");
        let error = TimeScale::of(&few).unwrap_err().to_string();
        let says = "space.csv: too small";
        assert!(error.contains(says) && error.contains("3 of 3"), "{error}");
        // Two optima among five: after four evaluations there is no way left to go.
        let five = recording("X,time_ms\n1,1\n2,1\n3,9\n4,9\n5,9\n");
        let error = TimeScale::of(&five).unwrap_err().to_string();
        assert!(error.contains("4 of 5"), "{error}");
        let one = recording("X,time_ms\n1,1\n2,\n");
        let flat = recording("X,time_ms\n1,1\n2,1\n3,1\n4,5\n");
        for recording in [one, flat] {
            let error = TimeScale::of(&recording).unwrap_err().to_string();
            assert!(error.contains("as fast as the optimum"), "{error}");
        }
    }
}
