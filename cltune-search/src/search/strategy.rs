//! The interface of strategies: the setting and the prior results they are given, and the scores
//! they are told.

use crate::space::Space;
use std::sync::Arc;

/// Decides which configuration to try next.
///
/// [`Search`](super::Search) calls the two methods in an order that does not depend on the order
/// or the speed in which results arrive, so a strategy is deterministic when it draws every random
/// number from a [`Generator`](super::Generator) of the setting's seed.
pub trait Strategy: Send {
    /// The next configuration to try, as codes in the order of the space's parameters. One that
    /// was tried before is not measured again: the strategy is told the known score, then asked
    /// again.
    ///
    /// `None`: nothing to propose before more results are told; the search ends when none are
    /// outstanding.
    fn propose(&mut self) -> Option<Vec<i64>>;

    /// The score of a configuration: one that it proposed, one that the search started with, or one
    /// that the search took instead, where a thousand proposals in a row had been tried before. The
    /// same configuration may be told more than once.
    fn tell(&mut self, configuration: &[i64], score: Score);

    /// The mean relative error of the times that the strategy predicted last, on results that the
    /// predictions were not learned from; `None` where it knows of none.
    fn held_out_error(&self) -> Option<f64> {
        None
    }

    /// What the strategy was asked to do and cannot do in this space, and what it does instead: a
    /// clause for people. `None` where it does everything.
    fn limitation(&self) -> Option<String> {
        None
    }
}

/// What became of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Score {
    /// It is right and takes this time in microseconds, positive and finite.
    Time(f64),
    /// It failed, for whatever reason.
    Failed,
}

impl Score {
    /// The score of a measured time, or of none. A time that is not positive and finite is a
    /// failure.
    pub fn of(time: Option<f64>) -> Self {
        match time {
            Some(time) if time.is_finite() && time > 0.0 => Self::Time(time),
            _ => Self::Failed,
        }
    }

    /// The time, unless it failed.
    pub fn time(self) -> Option<f64> {
        match self {
            Self::Time(time) => Some(time),
            Self::Failed => None,
        }
    }
}

/// What a strategy is made for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// The valid configurations.
    pub space: Arc<Space>,
    /// Decides every random choice.
    pub seed: u64,
    /// How many configurations may be evaluated; `None` where something else ends the search.
    pub budget: Option<u64>,
    /// How many configurations are measured at once, at least 1.
    pub in_flight: usize,
    /// What is known from other devices and problem sizes, the most similar first.
    pub prior_results: Arc<[PriorResults]>,
    /// What to evaluate before all else, where the space contains it.
    pub first: Option<Vec<i64>>,
}

impl Setting {
    /// Seed 0, no budget, one configuration at a time.
    pub fn new(space: Arc<Space>) -> Self {
        Self {
            space,
            seed: 0,
            budget: None,
            in_flight: 1,
            prior_results: Arc::default(),
            first: None,
        }
    }

    /// With another seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// With a number of evaluations (`200` or `Some(200)`), or with none.
    #[must_use]
    pub fn budget(mut self, evaluations: impl Into<Option<u64>>) -> Self {
        self.budget = evaluations.into();
        self
    }

    /// With so many configurations measured at once; 0 counts as 1.
    #[must_use]
    pub fn in_flight(mut self, configurations: usize) -> Self {
        self.in_flight = configurations.max(1);
        self
    }

    /// With a configuration to evaluate before all else.
    #[must_use]
    pub fn first(mut self, configuration: &[i64]) -> Self {
        self.first = Some(configuration.to_vec());
        self
    }

    /// With what is known from other devices and problem sizes, the most similar first.
    #[must_use]
    pub fn prior_results(mut self, results: impl Into<Arc<[PriorResults]>>) -> Self {
        self.prior_results = results.into();
        self
    }
}

/// How many configurations a search starts with for each set of prior results, and for all prior
/// results at most.
const STARTS: (usize, usize) = (3, 9);

/// Results of the same kernel on another device, or for another problem size.
///
/// A search begins with the fastest of them. How much of the rest holds here as well is for the
/// strategy to find out; `bayes` does, the others do not ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorResults {
    /// Configurations (codes in the order of the space's parameters) and what became of them.
    /// Those that are not in the space may still say something about those that are.
    pub results: Vec<(Vec<i64>, Score)>,
}

impl PriorResults {
    /// Those that did not fail with their times, the fastest first; equals in the order of codes.
    pub(super) fn by_time(&self) -> Vec<(f64, &[i64])> {
        let timed = self.results.iter();
        let timed = timed.filter_map(|(codes, score)| Some((score.time()?, codes.as_slice())));
        let mut timed: Vec<(f64, &[i64])> = timed.collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(b.1)));
        timed
    }
}

/// The configurations to start with: the best of each set of prior results, then the second best of
/// each, and so on.
pub(super) fn starts(priors: &[PriorResults]) -> Vec<Vec<i64>> {
    let sorted: Vec<Vec<(f64, &[i64])>> = priors.iter().map(PriorResults::by_time).collect();
    let mut starts: Vec<Vec<i64>> = Vec::new();
    for rank in 0..STARTS.0 {
        for prior in &sorted {
            if let Some((_, codes)) = prior.get(rank)
                && starts.len() < STARTS.1
                && !starts.iter().any(|start| start == codes)
            {
                starts.push(codes.to_vec());
            }
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_starts_with_the_best_of_each_device_in_turn() {
        let prior = |times: &[(i64, f64)]| PriorResults {
            results: times
                .iter()
                .map(|(code, time)| (vec![*code], Score::of(Some(*time))))
                .collect(),
        };
        let priors = [
            prior(&[(1, 5.0), (2, 3.0), (3, f64::NAN), (4, 9.0), (5, 10.0)]),
            prior(&[(7, 2.0), (2, 1.0)]),
        ];
        assert_eq!(starts(&priors), [[2], [1], [7], [4]]);
        assert!(starts(&[]).is_empty());
        assert!(starts(&vec![prior(&[(1, 1.0)]); 40]).len() == 1);
    }
}
