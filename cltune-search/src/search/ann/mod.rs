//! A bag of neural networks on the logarithm of time (Falch & Elster, Machine learning based
//! auto-tuning for enhanced OpenCL performance portability, 2015, sections 5.2 and 5.3).
//!
//! N random configurations train k = 11 networks of one hidden layer of 30 sigmoid units, each on
//! ten elevenths of the data and until its error on the eleventh no longer falls; their mean
//! prediction ranks the space, and the M best of it are measured. The paper tries N from 500 to
//! 3000 and M from 10 to 200: with the options `n` and `m` and a budget of n + m this is its
//! procedure. Two things go beyond it:
//!
//! - **Failures are modelled.** The paper leaves invalid configurations out of the training data,
//!   so that a second stage may hold nothing valid. Here another bag learns whether a configuration
//!   fails, and expected times are divided by the probability that it works. `failures=0` is the
//!   paper's way.
//! - **How many are measured follows from the error of the predictions** on data that a network was
//!   not trained on, unless `m` is given: configurations are measured as long as they may be the
//!   best, and then, within the budget, the networks are trained again with what was learned.
//!
//! With `m` every configuration is predicted, as in the paper (section 5.3), up to 100 million.
//! Without it networks are trained many times, and of a space of more than 20,000 configurations a
//! random selection of 4096 is ranked with the neighbours of the best.
//!
//! | file | owns |
//! |---|---|
//! | `network` | a network: its output, its slopes |
//! | `training` | moving its weights, and when that ends |
//! | `bag` | eleven networks and their mean |
//! | `ranking` | the most promising of many configurations |

mod bag;
mod network;
mod ranking;
mod training;

use super::bayes::features::Features;
use super::bayes::pool::Pool;
use super::generator::Generator;
use super::kind::StrategyKind;
use super::options::{Options, StrategyOption};
use super::strategy::{Score, Setting, Strategy};
use crate::space::{Permutation, Space};
use bag::Bag;
use ranking::{Candidate, Choice, Models, most_promising};
use std::collections::HashMap;
use std::sync::Arc;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "ann",
    summary: "bagged neural networks, trained on random configurations, then the best predicted",
    options: &[
        StrategyOption {
            key: "n",
            summary: "random configurations that train first, without it 0.4 of the budget, 20 to 2000",
            default: None,
            range: (2.0, 1e6),
            whole: true,
        },
        StrategyOption {
            key: "m",
            summary: "best predicted that are measured before it trains again, without it all that may be the best",
            default: None,
            range: (1.0, 1e6),
            whole: true,
        },
        StrategyOption {
            key: "failures",
            summary: "1 to learn where configurations fail, 0 to leave failures out as the paper does",
            default: Some(1.0),
            range: (0.0, 1.0),
            whole: true,
        },
    ],
    learns: true,
    requirement: None,
    new: |setting, options| Box::new(Ann::new(setting, options)),
};

/// The largest space that is ranked as a whole each time the networks are trained again; and where
/// `m` is given, which is a matter of seconds for millions.
const WHOLE: u128 = 20_000;
const WHOLE_ONCE: u128 = 100_000_000;
/// Which part of the budget trains the first networks.
const TRAINING: f64 = 0.4;
/// The least and the most configurations that do.
const LEAST: u64 = 20;
const MOST: u64 = 2000;
/// Deviations among the networks below their mean, by which configurations are chosen where they
/// are to teach something as well.
const OPTIMISM: f64 = 1.0;
/// Training starts again after so many further results at the latest, as a part of all.
const RENEWED: f64 = 0.15;

/// See the module.
pub(super) struct Ann {
    space: Arc<Space>,
    generator: Generator,
    features: Features,
    /// The parameters, those that change most often in the space's order last.
    parameters: Vec<usize>,
    /// The order of the random configurations.
    random: Permutation,
    /// How many of them come first.
    training: usize,
    /// How many of the best predicted are measured, where that does not follow from the error.
    measured: Option<usize>,
    /// Whether it is learned where configurations fail.
    has_failure_model: bool,
    proposed: usize,
    results: HashMap<Vec<i64>, Option<f64>>,
    /// Configurations to measure, the most promising last.
    queue: Vec<Vec<i64>>,
    /// What is ranked of a space that is too large to be ranked as a whole.
    pool: Pool,
    held_out_error: Option<f64>,
}

impl Ann {
    pub(super) fn new(setting: &Setting, options: &Options) -> Self {
        let space = Arc::clone(&setting.space);
        let features = Features::new(space.parameters());
        let groups = space.groups().into_iter();
        let budget = setting.budget.map_or(100.0, |budget| budget as f64);
        let part = ((budget * TRAINING) as u64).clamp(LEAST, MOST) as usize;
        Self {
            pool: Pool::default(),
            parameters: groups.flat_map(|group| group.parameters).collect(),
            random: Permutation::new(space.count()),
            space,
            generator: Generator::new(setting.seed),
            features,
            training: options.count("n").unwrap_or(part),
            measured: options.count("m"),
            has_failure_model: options.number("failures") > 0.0,
            proposed: 0,
            results: HashMap::new(),
            queue: Vec::new(),
            held_out_error: None,
        }
    }

    /// Trains, ranks, and fills the queue with what may be the best.
    fn rank(&mut self) {
        // Sorted: a hash map's order is another in each run.
        let results = self.results.iter();
        let results = results.map(|(codes, time)| (codes.clone(), *time));
        let mut results: Vec<(Vec<i64>, Option<f64>)> = results.collect();
        results.sort_by(|a, b| a.0.cmp(&b.0));
        let models = self.train(&results);
        let times = results.iter().filter_map(|(_, time)| *time);
        let best = times.fold(f64::MAX, f64::min).ln();
        let errors = &models.times.errors;
        let mean = |sum: f64| (!errors.is_empty()).then(|| sum / errors.len() as f64);
        self.held_out_error = mean(errors.iter().map(|error| (error.exp() - 1.0).abs()).sum());
        let deviation = mean(errors.iter().map(|error| error * error).sum());
        let deviation = deviation.unwrap_or_default().sqrt();
        let renewed = ((self.results.len() as f64 * RENEWED) as usize).max(5);
        let mut ranked = self.ranked(&models, results, self.measured.unwrap_or(renewed));
        if self.measured.is_none() {
            let may_be_best = |of: &Candidate| of.promise - 2.0 * deviation < best;
            // Where nothing may be the best, the first of the ranking still teaches most.
            let count = ranked.iter().take_while(|of| may_be_best(of)).count();
            ranked.truncate(count.max(1));
        }
        let best_last = ranked.into_iter().rev();
        self.queue = best_last.map(|candidate| candidate.configuration).collect();
    }

    /// Trains on results in a certain order.
    fn train(&mut self, results: &[(Vec<i64>, Option<f64>)]) -> Models {
        let dimensions = self.features.dimensions();
        let point = |(codes, _): &(Vec<i64>, _)| self.features.point(codes);
        let worked = results.iter().filter(|(_, time)| time.is_some());
        let points: Vec<Vec<f64>> = worked.map(point).collect();
        let times = results
            .iter()
            .filter_map(|(_, time)| Some(time.as_ref()?.ln()));
        let times: Vec<f64> = times.collect();
        let generator = &mut self.generator;
        Models {
            // Without `m` the networks are trained again with what the next configurations teach.
            optimism: if self.measured.is_some() {
                0.0
            } else {
                OPTIMISM
            },
            times: Bag::train(dimensions, &points, &times, generator),
            failures: (self.has_failure_model && points.len() < results.len()).then(|| {
                let points: Vec<Vec<f64>> = results.iter().map(point).collect();
                let failed = results.iter().map(|(_, time)| time.is_none());
                let failed: Vec<f64> = failed.map(|failed| f64::from(u8::from(failed))).collect();
                Bag::train(dimensions, &points, &failed, generator)
            }),
        }
    }

    /// The most promising configurations that were not measured, the best first.
    fn ranked(
        &mut self,
        models: &Models,
        results: Vec<(Vec<i64>, Option<f64>)>,
        most: usize,
    ) -> Vec<Candidate> {
        let largest = if self.measured.is_some() {
            WHOLE_ONCE
        } else {
            WHOLE
        };
        let is_whole = self.space.count() <= largest;
        if !is_whole {
            self.renew_pool(results);
        }
        let (space, pool) = (&self.space, &self.pool);
        let count = if is_whole {
            space.count() as u64
        } else {
            pool.len() as u64
        };
        let choice = Choice {
            features: &self.features,
            order: &self.parameters,
            count,
            get: |number: u64| {
                if is_whole {
                    space.get(u128::from(number))
                } else {
                    Some(pool.get(number as usize).to_vec())
                }
            },
            is_taken: |codes: &[i64]| self.results.contains_key(codes),
        };
        most_promising(models, &choice, most)
    }

    /// Draws new candidates, some of them near the fastest.
    fn renew_pool(&mut self, mut results: Vec<(Vec<i64>, Option<f64>)>) {
        let key = |time: Option<f64>| time.unwrap_or(f64::MAX);
        results.sort_by(|a, b| key(a.1).total_cmp(&key(b.1)));
        let known = &self.results;
        let near = results.iter().take(5).map(|(codes, _)| codes.as_slice());
        let is_taken = |codes: &[i64]| known.contains_key(codes);
        let generator = &mut self.generator;
        self.pool
            .renew(&self.space, &self.features, near, generator, is_taken);
    }
}

impl Strategy for Ann {
    fn propose(&mut self) -> Option<Vec<i64>> {
        self.proposed += 1;
        let succeeded = self.results.values().filter(|time| time.is_some()).count();
        if self.proposed <= self.training || succeeded < 2 {
            return self.space.get(self.random.draw(&mut self.generator)?);
        }
        if self.queue.is_empty() {
            self.rank();
        }
        self.queue.pop()
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        self.results.insert(configuration.to_vec(), score.time());
        self.queue.retain(|queued| queued != configuration);
    }

    fn held_out_error(&self) -> Option<f64> {
        self.held_out_error
    }

    fn limitation(&self) -> Option<String> {
        let count = self.space.count();
        (self.measured.is_some() && count > WHOLE_ONCE).then(|| {
            format!(
                "`ann` predicts no more than {WHOLE_ONCE} configurations, and there are {count}: the best \
                 predicted are those of a random selection"
            )
        })
    }
}
