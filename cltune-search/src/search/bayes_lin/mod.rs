//! Plain Bayesian optimisation, as published (Lin et al., High Performance OpenCL-Based GEMM Kernel
//! Auto-Tuned by Bayesian Optimization, 2025, section IV.B).
//!
//! t random configurations come first. Then a Gaussian process with mean 0 and the squared
//! exponential kernel (equation 10) learns the performance of what was measured, and the valid
//! configuration with the largest expected improvement (equation 12) is measured next.
//!
//! What the paper leaves open is filled in with what is usual:
//!
//! - t is 10;
//! - performance is 1 / time, scaled to mean 0 and standard deviation 1, which suits a process of
//!   mean 0; a failed configuration has a performance of 0, so that the model avoids its
//!   surroundings;
//! - σ and l maximise the likelihood, l among twelve values; the coordinates are those of `bayes`,
//!   from 0 to 1;
//! - the improvement is computed for every configuration of a space of up to 20,000, of a larger
//!   one for random ones and for what is near the best.
//!
//! `bayes` is the version for every day; this one is here to compare with.

mod surrogate;

use super::bayes::features::Features;
use super::bayes::pool::Pool;
use super::generator::Generator;
use super::kind::StrategyKind;
use super::options::{Options, StrategyOption};
use super::strategy::{Score, Setting, Strategy};
use crate::space::Space;
use std::collections::HashSet;
use std::sync::Arc;
use surrogate::Surrogate;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "bayes-lin",
    summary: "Bayesian optimisation as published: squared exponential kernel, expected improvement",
    options: &[
        StrategyOption {
            key: "t",
            summary: "random configurations at the start",
            default: Some(10.0),
            range: (1.0, 1e6),
            whole: true,
        },
        StrategyOption {
            key: "l",
            summary: "length scale on coordinates from 0 to 1, without it the most likely one",
            default: None,
            range: (0.01, 100.0),
            whole: false,
        },
    ],
    learns: true,
    requirement: None,
    new: |setting, options| Box::new(BayesLin::new(setting, options)),
};

/// The most observations that the model is built on: its cost grows with their cube.
const MOST_OBSERVATIONS: usize = 500;
/// The largest space whose every configuration is considered.
const WHOLE: u128 = 20_000;
/// The model is fitted again when it has this part more of observations.
const RENEWED: f64 = 0.1;
/// Around how many of the best configurations the neighbours are considered in a large space.
const BEST: usize = 5;

/// See the module.
pub(super) struct BayesLin {
    space: Arc<Space>,
    generator: Generator,
    features: Features,
    pool: Pool,
    /// The paper's t.
    initial: usize,
    observations: Vec<Observation>,
    /// The observations that the model is built on.
    training: Vec<usize>,
    /// Proposed, and not told yet.
    pending: Vec<Vec<i64>>,
    /// All that was proposed or told.
    taken: HashSet<Vec<i64>>,
    surrogate: Surrogate,
    /// How many observations there were when the model was last fitted; 0 before.
    fitted: usize,
}

struct Observation {
    configuration: Vec<i64>,
    point: Vec<f64>,
    /// 1 / time; 0 where it failed.
    performance: f64,
}

impl BayesLin {
    fn new(setting: &Setting, options: &Options) -> Self {
        let space = Arc::clone(&setting.space);
        let features = Features::new(space.parameters());
        Self {
            pool: Pool::new(&space, &features, WHOLE),
            surrogate: Surrogate::new(features.dimensions(), options.get("l")),
            space,
            generator: Generator::new(setting.seed),
            features,
            initial: options.number("t") as usize,
            observations: Vec::new(),
            training: Vec::new(),
            pending: Vec::new(),
            taken: HashSet::new(),
            fitted: 0,
        }
    }

    /// The configuration with the largest expected improvement.
    fn improve(&mut self) -> Option<Vec<i64>> {
        self.renew();
        let training = || self.training.iter().map(|at| &self.observations[*at]);
        let values = standardised(training().map(|observation| observation.performance));
        let best = values.iter().copied().fold(f64::MIN, f64::max);
        // What is being measured counts as average, so that nothing near it is chosen.
        let pending: Vec<Vec<f64>> = self
            .pending
            .iter()
            .map(|p| self.features.point(p))
            .collect();
        let points = training().map(|observation| observation.point.as_slice());
        let points: Vec<&[f64]> = points.chain(pending.iter().map(Vec::as_slice)).collect();
        let surrogate = &mut self.surrogate;
        surrogate.catch_up(&points, &self.pool);
        let improvements = surrogate.improvements(&values, best, &self.pool);
        surrogate.truncate(values.len());
        let mut largest: Option<(f64, usize)> = None;
        for (position, improvement) in improvements.into_iter().enumerate() {
            let left = !self.pool.is_taken(position);
            if left && largest.is_none_or(|(most, _)| improvement > most) {
                largest = Some((improvement, position));
            }
        }
        largest.map(|(_, position)| self.pool.get(position).to_vec())
    }

    /// Fits the model anew, and chooses from what it learns and what it is asked about.
    fn renew(&mut self) {
        let count = self.observations.len();
        let next = self.fitted + ((self.fitted as f64 * RENEWED) as usize).max(1);
        if self.fitted > 0 && count < next {
            return;
        }
        self.fitted = count;
        let mut fastest: Vec<usize> = (0..count).collect();
        let performance = |at: &usize| self.observations[*at].performance;
        fastest.sort_by(|a, b| performance(b).total_cmp(&performance(a)));
        if !self.pool.is_whole() {
            let best = fastest.iter().take(BEST);
            let best = best.map(|at| &*self.observations[*at].configuration);
            let taken = &self.taken;
            let is_taken = |configuration: &[i64]| taken.contains(configuration);
            let generator = &mut self.generator;
            self.pool
                .renew(&self.space, &self.features, best, generator, is_taken);
        }
        if count > MOST_OBSERVATIONS {
            // The fast half matters most; the rest says where not to look.
            let (fast, slow) = fastest.split_at(MOST_OBSERVATIONS / 2);
            let every = slow.len().div_ceil(MOST_OBSERVATIONS - fast.len()).max(1);
            let kept = fast.iter().chain(slow.iter().step_by(every));
            self.training = kept.copied().collect();
            self.training.sort_unstable();
        }
        let training = || self.training.iter().map(|at| &self.observations[*at]);
        let points: Vec<&[f64]> = training().map(|o| o.point.as_slice()).collect();
        let values = standardised(training().map(|o| o.performance));
        self.surrogate.fit(&points, &values);
    }
}

/// Values with mean 0 and standard deviation 1; all 0 where they are equal.
fn standardised(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / count).sqrt();
    let scale = if deviation > 0.0 {
        1.0 / deviation
    } else {
        0.0
    };
    values.iter().map(|value| (value - mean) * scale).collect()
}

impl Strategy for BayesLin {
    fn propose(&mut self) -> Option<Vec<i64>> {
        let succeeded = self.observations.iter().any(|o| o.performance > 0.0);
        let tried = self.observations.len() + self.pending.len();
        let improved = (tried >= self.initial && succeeded)
            .then(|| self.improve())
            .flatten();
        let configuration = match improved {
            Some(configuration) => configuration,
            None => self.space.sample(&mut self.generator)?,
        };
        if self.taken.insert(configuration.clone()) {
            self.pool.take(&configuration);
            self.pending.push(configuration.clone());
        }
        Some(configuration)
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        let seen = |o: &Observation| o.configuration == configuration;
        if self.observations.iter().any(seen) {
            return;
        }
        self.pending.retain(|pending| pending != configuration);
        self.taken.insert(configuration.to_vec());
        self.pool.take(configuration);
        self.training.push(self.observations.len());
        self.observations.push(Observation {
            configuration: configuration.to_vec(),
            point: self.features.point(configuration),
            performance: score.time().map_or(0.0, f64::recip),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standardised_values_have_mean_0_and_deviation_1() {
        assert_eq!(standardised([1.0, 3.0].into_iter()), [-1.0, 1.0]);
        assert_eq!(standardised([2.0, 2.0].into_iter()), [0.0, 0.0]);
        assert!(standardised(std::iter::empty()).is_empty());
    }
}
