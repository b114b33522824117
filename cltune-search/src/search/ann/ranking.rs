//! The most promising of many configurations, which are predicted a chunk at a time.
//!
//! Memory is needed for the sums of hidden units (a few kilobytes for each parameter and thread)
//! and for what is kept, however many configurations there are.

use super::super::bayes::features::Features;
use super::super::threads::ready_threads;
use super::bag::{Bag, Predictor};
use rayon::prelude::*;

/// Configurations that one thread predicts before it takes others.
const CHUNK: u64 = 16_384;

/// What was learned from the results so far.
pub(super) struct Models {
    /// Of the logarithms of times.
    pub(super) times: Bag,
    /// Of what fails, where anything did.
    pub(super) failures: Option<Bag>,
    /// So many deviations below the mean of the networks is what a time is taken to be: more than
    /// none prefers what the networks disagree about, which teaches more.
    pub(super) optimism: f64,
}

/// A configuration that was not measured yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    /// The logarithm of the time that it may take, the more the likelier it fails.
    pub(super) promise: f64,
    /// Its number among those that were ranked.
    number: u64,
    pub(super) configuration: Vec<i64>,
}

/// Configurations to choose from.
pub(super) struct Choice<'a, Get, IsTaken> {
    pub(super) features: &'a Features,
    /// Every parameter once, those that change most often from one configuration to the next last.
    pub(super) order: &'a [usize],
    pub(super) count: u64,
    /// Has each by its number.
    pub(super) get: Get,
    /// Says which are out of the choice.
    pub(super) is_taken: IsTaken,
}

/// The `most` most promising configurations, the best first.
pub(super) fn most_promising<Get, IsTaken>(
    models: &Models,
    choice: &Choice<'_, Get, IsTaken>,
    most: usize,
) -> Vec<Candidate>
where
    Get: Fn(u64) -> Option<Vec<i64>> + Sync,
    IsTaken: Fn(&[i64]) -> bool + Sync,
{
    let (features, order, count) = (choice.features, choice.order, choice.count);
    ready_threads();
    let chunks = (0..count.div_ceil(CHUNK)).into_par_iter().map(|chunk| {
        let mut times = Predictor::new(&models.times, features, order);
        let failures = models.failures.as_ref();
        let mut failures = failures.map(|bag| Predictor::new(bag, features, order));
        let mut shortlist = Shortlist::new(most);
        let first = chunk * CHUNK;
        for number in first..count.min(first + CHUNK) {
            let Some(configuration) = (choice.get)(number) else {
                continue;
            };
            let fails = failures.as_mut();
            let fails = fails.map_or(0.0, |bag| bag.predict(&configuration).mean);
            let time = times.predict(&configuration).below_mean(models.optimism);
            let candidate = Candidate {
                promise: time - (1.0 - fails).clamp(0.01, 1.0).ln(),
                number,
                configuration,
            };
            if shortlist.wants(&candidate) && !(choice.is_taken)(&candidate.configuration) {
                shortlist.add(candidate);
            }
        }
        shortlist
    });
    let all = chunks.reduce(
        || Shortlist::new(most),
        |mut shortlist, other| {
            for candidate in other.candidates {
                if shortlist.wants(&candidate) {
                    shortlist.add(candidate);
                }
            }
            shortlist
        },
    );
    all.sorted()
}

/// The most promising so far. Up to twice as many as are wanted are kept, so that they are not
/// sorted with each that is added.
struct Shortlist {
    most: usize,
    candidates: Vec<Candidate>,
    /// The promise and the number of the last that was kept when there were too many.
    last: Option<(f64, u64)>,
}

impl Shortlist {
    fn new(most: usize) -> Self {
        Self {
            most,
            candidates: Vec::new(),
            last: None,
        }
    }

    fn wants(&self, candidate: &Candidate) -> bool {
        let key = (candidate.promise, candidate.number);
        self.last.is_none_or(|last| before(key, last).is_lt())
    }

    fn add(&mut self, candidate: Candidate) {
        self.candidates.push(candidate);
        if self.candidates.len() >= 2 * self.most.max(1) {
            self.prune();
        }
    }

    fn prune(&mut self) {
        if let Some(at) = self.most.checked_sub(1)
            && at < self.candidates.len()
        {
            let by = |a: &Candidate, b: &Candidate| before(a.key(), b.key());
            let (_, last, _) = self.candidates.select_nth_unstable_by(at, by);
            self.last = Some(last.key());
        }
        self.candidates.truncate(self.most);
    }

    fn sorted(mut self) -> Vec<Candidate> {
        self.candidates
            .sort_unstable_by(|a, b| before(a.key(), b.key()));
        self.candidates.truncate(self.most);
        self.candidates
    }
}

impl Candidate {
    fn key(&self) -> (f64, u64) {
        (self.promise, self.number)
    }
}

/// Which of two promises with numbers comes first; of equals the lower number.
fn before(a: (f64, u64), b: (f64, u64)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;
    use crate::space::{Space, SpaceParameter, SpaceSpec};

    #[test]
    fn the_most_promising_of_a_whole_space_are_found() {
        let powers = |count: u32| (0..count).map(|exponent| 1 << exponent).collect();
        let parameters = [8, 8, 8, 8, 4, 3].map(powers).into_iter().enumerate();
        let space = Space::build(&SpaceSpec {
            parameters: parameters
                .map(|(number, codes)| SpaceParameter::listed(format!("P{number}"), codes))
                .collect(),
            constraints: Vec::new(),
        });
        assert!(space.count() > 2 * u128::from(CHUNK));
        let features = Features::new(space.parameters());
        let mut generator = Generator::new(1);
        let some = space.sample_distinct(60, &mut generator);
        let points: Vec<Vec<f64>> = some.iter().map(|codes| features.point(codes)).collect();
        let time = |codes: &[i64]| (codes[0] * codes[3]) as f64 / codes[5] as f64;
        let times: Vec<f64> = some.iter().map(|codes| time(codes).ln()).collect();
        let fails: Vec<f64> = some.iter().map(|of| f64::from(of[1] > 32)).collect();
        let models = Models {
            times: Bag::train(6, &points, &times, &mut generator),
            failures: Some(Bag::train(6, &points, &fails, &mut generator)),
            optimism: 0.5,
        };
        let order = [0, 1, 2, 3, 4, 5];
        let choice = Choice {
            features: &features,
            order: &order,
            count: space.count() as u64,
            get: |number: u64| space.get(number.into()),
            is_taken: |codes: &[i64]| codes[4] == 2,
        };
        let found = most_promising(&models, &choice, 300);
        let all = most_promising(&models, &choice, usize::MAX / 4);
        assert_eq!(all.len() as u128, space.count() * 3 / 4);
        assert!(all.is_sorted_by(|a, b| before(a.key(), b.key()).is_lt()));
        assert_eq!(found, all[..300]);
        let good = found.iter().filter(|of| of.configuration[1] <= 32);
        assert!(good.count() > 250);
    }

    #[test]
    fn a_shortlist_has_the_best_in_whatever_order_they_come() {
        let mut generator = Generator::new(1);
        // With many equals.
        let mut all: Vec<Candidate> = (0..500)
            .map(|number| Candidate {
                promise: generator.below(40) as f64,
                number,
                configuration: Vec::new(),
            })
            .collect();
        let mut sorted = all.clone();
        sorted.sort_by(|a, b| before(a.key(), b.key()));
        for most in [1, 7, 100, 499, 2000] {
            generator.shuffle(&mut all);
            let mut shortlist = Shortlist::new(most);
            for candidate in &all {
                if shortlist.wants(candidate) {
                    shortlist.add(candidate.clone());
                }
            }
            assert_eq!(shortlist.sorted(), sorted[..most.min(500)]);
        }
    }
}
