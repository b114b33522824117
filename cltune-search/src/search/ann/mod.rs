//! A bag of neural networks on the logarithm of time (Falch & Elster, Machine learning based
//! auto-tuning for enhanced OpenCL performance portability, 2015, sections 5.2 and 5.3).
//!
//! N random configurations train k = 11 networks of one hidden layer of 30 sigmoid units, each on
//! eleven twelfths of the data; their mean prediction ranks the space, and the M best of it are
//! measured. The paper tries N from 500 to 3000 and M from 10 to 200: with the options `n` and `m`
//! and a budget of n + m this is its procedure. Two things go beyond it:
//!
//! - **Failures are modelled.** The paper leaves invalid configurations out of the training data,
//!   so that a second stage may hold nothing valid. Here another bag learns whether a configuration
//!   fails, and expected times are divided by the probability that it works.
//! - **How many are measured follows from the error of the predictions** on data that a network was
//!   not trained on, unless `m` is given: configurations are measured as long as they may be the
//!   best, and then, within the budget, the networks are trained again with what was learned.
//!
//! In a space of more than 20,000 configurations, what is ranked is a random selection of 4096 with
//! the neighbours of the best.

mod network;

use super::bayes::features::Features;
use super::bayes::pool::Pool;
use super::generator::Generator;
use super::kind::StrategyKind;
use super::options::{Options, StrategyOption};
use super::strategy::{Score, Setting, Strategy};
use super::threads::ready_threads;
use crate::space::Space;
use network::Network;
use rayon::prelude::*;
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
    ],
    learns: true,
    requirement: None,
    new: |setting, options| Box::new(Ann::new(setting, options)),
};

/// The largest space that is ranked as a whole.
const WHOLE: u128 = 20_000;
/// Networks in a bag; also the parts of the data, of which each network misses one.
const BAG: usize = 11;
/// Which part of the budget trains the first networks.
const TRAINING: f64 = 0.4;
/// The least and the most configurations that do.
const LEAST: u64 = 20;
const MOST: u64 = 2000;
/// Training starts again after so many further results at the latest, as a part of all.
const RENEWED: f64 = 0.15;

/// See the module.
pub(super) struct Ann {
    space: Arc<Space>,
    generator: Generator,
    features: Features,
    /// How many random configurations come first.
    training: usize,
    /// How many of the best predicted are measured, where that does not follow from the error.
    measured: Option<usize>,
    proposed: usize,
    results: HashMap<Vec<i64>, Option<f64>>,
    /// Configurations to measure, the most promising last.
    queue: Vec<Vec<i64>>,
    pool: Pool,
}

impl Ann {
    pub(super) fn new(setting: &Setting, options: &Options) -> Self {
        let space = Arc::clone(&setting.space);
        let domains = space.parameters().iter();
        let features = Features::new(domains.map(|parameter| &*parameter.codes));
        let budget = setting.budget.map_or(100.0, |budget| budget as f64);
        let part = ((budget * TRAINING) as u64).clamp(LEAST, MOST) as usize;
        Self {
            pool: Pool::new(&space, &features, WHOLE),
            space,
            generator: Generator::new(setting.seed),
            features,
            training: options.count("n").unwrap_or(part),
            measured: options.count("m"),
            proposed: 0,
            results: HashMap::new(),
            queue: Vec::new(),
        }
    }

    /// Trains, ranks, and fills the queue with what may be the best.
    fn rank(&mut self) {
        // Sorted: a hash map's order is another in each run.
        let mut results: Vec<(Vec<i64>, Option<f64>)> = self
            .results
            .iter()
            .map(|(codes, time)| (codes.clone(), *time))
            .collect();
        results.sort_by(|a, b| a.0.cmp(&b.0));
        let models = self.train(&results);
        if !self.pool.is_whole() {
            self.renew_pool(&mut results);
        }
        let ranked = self.ranked(&models);
        let may_be_best = |predicted: f64| predicted - 2.0 * models.times.error < models.best;
        let most = ((self.results.len() as f64 * RENEWED) as usize).max(5);
        let promising = ranked
            .iter()
            .take(most)
            .take_while(|(p, _)| may_be_best(*p));
        // Where nothing may be the best, the first of the ranking still teaches most.
        let count = self.measured.unwrap_or_else(|| promising.count().max(1));
        let count = count.min(ranked.len());
        self.queue = ranked[..count]
            .iter()
            .rev()
            .map(|(_, at)| self.pool.get(*at).to_vec())
            .collect();
    }

    /// Trains on results in a certain order.
    fn train(&mut self, results: &[(Vec<i64>, Option<f64>)]) -> Models {
        let points: Vec<Vec<f64>> = results
            .iter()
            .map(|(codes, _)| self.features.point(codes))
            .collect();
        let worked = points.iter().zip(results);
        let worked: Vec<(&[f64], f64)> = worked
            .filter_map(|(point, (_, time))| Some((point.as_slice(), time.as_ref()?.ln())))
            .collect();
        let (rows, times): (Vec<&[f64]>, Vec<f64>) = worked.into_iter().unzip();
        let best = times.iter().copied().fold(f64::MAX, f64::min);
        let bag = Bag::train(&rows, &times, &mut self.generator);
        let failures = (rows.len() < points.len()).then(|| {
            let all: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
            let failed = results
                .iter()
                .map(|(_, time)| f64::from(u8::from(time.is_none())));
            let failed: Vec<f64> = failed.collect();
            Bag::train(&all, &failed, &mut self.generator)
        });
        Models {
            times: bag,
            failures,
            best,
        }
    }

    /// Draws new candidates, some of them near the fastest.
    fn renew_pool(&mut self, results: &mut [(Vec<i64>, Option<f64>)]) {
        let key = |time: Option<f64>| time.unwrap_or(f64::MAX);
        results.sort_by(|a, b| key(a.1).total_cmp(&key(b.1)));
        let known = &self.results;
        let near = results.iter().take(5).map(|(codes, _)| codes.as_slice());
        let is_taken = |codes: &[i64]| known.contains_key(codes);
        let generator = &mut self.generator;
        self.pool
            .renew(&self.space, &self.features, near, generator, is_taken);
    }

    /// The candidates that were not measured: what they promise and their place in the pool, the
    /// most promising first.
    fn ranked(&self, models: &Models) -> Vec<(f64, usize)> {
        ready_threads();
        let pool = &self.pool;
        let mut ranked: Vec<(f64, usize)> = (0..pool.len())
            .into_par_iter()
            .filter(|position| !self.results.contains_key(pool.get(*position)))
            .map(|position| {
                let point: Vec<f64> = pool.point(position).collect();
                (models.promise(&point), position)
            })
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked
    }
}

/// What was learned from the results so far.
struct Models {
    /// Of the logarithms of times.
    times: Bag,
    /// Of what fails, where anything did.
    failures: Option<Bag>,
    /// The logarithm of the best time.
    best: f64,
}

impl Models {
    /// The logarithm of the time that a point may take, the more the likelier it fails.
    fn promise(&self, point: &[f64]) -> f64 {
        let fails = self.failures.as_ref();
        let works = 1.0 - fails.map_or(0.0, |bag| bag.predict(point));
        self.times.predict(point) - works.clamp(0.01, 1.0).ln()
    }
}

impl Strategy for Ann {
    fn propose(&mut self) -> Option<Vec<i64>> {
        self.proposed += 1;
        let succeeded = self.results.values().filter(|time| time.is_some()).count();
        if self.proposed <= self.training || succeeded < 2 {
            return self.space.sample(&mut self.generator);
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
}

/// Networks whose predictions are averaged (Breiman 1996).
struct Bag {
    networks: Vec<Network>,
    mean: f64,
    scale: f64,
    /// The root mean square error on data that a network was not trained on.
    error: f64,
}

impl Bag {
    fn train(rows: &[&[f64]], targets: &[f64], generator: &mut Generator) -> Self {
        let count = targets.len().max(1) as f64;
        let mean = targets.iter().sum::<f64>() / count;
        let squares = targets
            .iter()
            .map(|target| (target - mean).powi(2))
            .sum::<f64>();
        let scale = (squares / count).sqrt().max(1e-9);
        let inputs = rows.first().map_or(0, |row| row.len());
        let targets: Vec<f64> = targets
            .iter()
            .map(|target| (target - mean) / scale)
            .collect();
        let parts: Vec<u128> = rows
            .iter()
            .map(|_| generator.below(BAG as u128 + 1))
            .collect();
        let seeds: Vec<Generator> = (0..BAG).map(|_| generator.split()).collect();
        ready_threads();
        let trained: Vec<(Network, f64, usize)> = seeds
            .into_par_iter()
            .enumerate()
            .map(|(part, mut generator)| {
                let left_out = |at: usize| parts[at] == part as u128 && rows.len() > BAG;
                let (kept, out): (Vec<usize>, Vec<usize>) =
                    (0..rows.len()).partition(|at| !left_out(*at));
                let own: Vec<&[f64]> = kept.iter().map(|at| rows[*at]).collect();
                let own_targets: Vec<f64> = kept.iter().map(|at| targets[*at]).collect();
                let network = Network::train(inputs, &own, &own_targets, &mut generator);
                let error = |at: &usize| (network.predict(rows[*at]) - targets[*at]).powi(2);
                let errors = out.iter().map(error).sum();
                (network, errors, out.len())
            })
            .collect();
        let left_out: usize = trained.iter().map(|(_, _, count)| count).sum();
        let errors: f64 = trained.iter().map(|(_, errors, _)| errors).sum();
        Self {
            networks: trained.into_iter().map(|(network, _, _)| network).collect(),
            mean,
            scale,
            error: scale * (errors / left_out.max(1) as f64).sqrt(),
        }
    }

    fn predict(&self, row: &[f64]) -> f64 {
        let sum: f64 = self
            .networks
            .iter()
            .map(|network| network.predict(row))
            .sum();
        self.mean + self.scale * sum / self.networks.len() as f64
    }
}
