//! Bayesian optimisation: a Gaussian process learns how slow configurations are, and the one
//! with the largest expected improvement is tried next.
//!
//! What makes it suit the discrete, constrained spaces of kernels:
//!
//! - every parameter has a length scale of its own, and coordinates that suit tuning parameters
//!   (`features`);
//! - hyper-parameters are not fitted but drawn: six draws walk through their posterior
//!   distribution, and improvements are averaged over them, so that a few observations do not yet
//!   mislead;
//! - the improvement is computed for every valid configuration of the space (up to 5,000; for a
//!   larger one, for what is near the best and for random others);
//! - failed configurations are learned from: a second process, with length scales of its own,
//!   learns where they are, and improvements are multiplied with the probability not to fail;
//! - in lists that are not only powers of two, multiples of 32 and 64 are expected to be faster
//!   than other sizes, and the model learns the difference: what holds nearly everywhere would take
//!   dozens of evaluations to learn;
//! - it begins with four configurations far from each other, each the farthest of twenty random
//!   ones: from then on the model chooses better than chance;
//! - or with the best of other devices, two configurations far from these, which show whether the
//!   best are good here, and what is known from there (`transfer`), as long as it promises
//!   something: when no improvement of note is to be expected any more, prior results are
//!   forgotten, so that a search is not held where another device was fast; from then on it looks
//!   now and then only around the best, which a set of prior results may have found and never
//!   looked around.
//!
//! The approach is that of Lin et al. 2025 (Gaussian process, expected improvement, initial
//! samples), the choices above are this project's own.
//!
//! | file | owns |
//! |---|---|
//! | `features` | configurations as points |
//! | `factor` | the growing Cholesky factor |
//! | `model` | covariance, priors, and the walk through hyper-parameters |
//! | `pool` | the configurations to choose from |
//! | `whitened` | what a process knows of the pool |
//! | `particle` | one draw of hyper-parameters and its predictions |
//! | `transfer` | what results from elsewhere say |

pub(super) mod factor;
pub(super) mod features;
mod model;
pub(super) mod particle;
pub(super) mod pool;
mod transfer;
pub(super) mod whitened;

use super::generator::Generator;
use super::kind::StrategyKind;
use super::strategy::{Score, Setting, Strategy, starts};
use super::threads::ready_threads;
use crate::space::Space;
use features::Features;
use model::{Observed, slowness};
use particle::Particle;
use pool::Pool;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use transfer::{MOST_PRIORS, PriorModel};

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "bayes",
    summary: "Bayesian optimisation: a Gaussian process and expected improvement",
    options: &[],
    learns: true,
    requirement: None,
    new: |setting, _| Box::new(Bayes::new(setting)),
};

/// What is expected of every factor of two that counts ([`Features::evenness`]), as a part of the
/// standard deviation of what was observed.
const EVEN: f64 = 1.0 / 3.0;
/// How many configurations far from each other are tried before the model is asked.
const INITIAL: usize = 4;
/// How many of these follow the best of prior results: only beside others does it show that those
/// are no better here than any.
const CONTROLS: usize = 2;
/// Of how many random configurations each of these is the one farthest from the others.
const SPREAD: usize = 20;
/// Draws of hyper-parameters.
const PARTICLES: usize = 6;
/// Steps of each draw the first time, and whenever it is renewed.
const STEPS: (usize, usize) = (120, 15);
/// Failed configurations count as slow as this part of those that succeeded.
const FAILED_QUANTILE: f64 = 0.7;
/// The most observations the model is built on: the cost of a walk grows with their cube.
const MOST_OBSERVATIONS: usize = 400;
/// Prior results are forgotten when the improvement to expect, a part of the time, was below this
/// so often; not before the first number of observations, and by the second at the latest: what
/// another device has to teach shows early.
const PROMISE: f64 = 0.003;
const BROKEN: usize = 2;
const LEADING: Range<usize> = 12..30;
/// From then on, every so many proposals the choice is between what is near the best few only:
/// that many of them, and that many parameters changed.
const NEAR_EVERY: usize = 6;
const NEAR: (usize, usize) = (3, 1);
/// The largest space that is considered as a whole. Of larger ones a selection that changes serves
/// as well, and costs less: on recorded spaces of 11,130 and 17,956 configurations as large a
/// fraction of the optimum was found with it after 50 and 100 evaluations as without.
const WHOLE: u128 = 5_000;
/// Around how many of the best configurations the neighbours are considered.
const BEST: usize = 5;

/// See the module.
pub(super) struct Bayes {
    space: Arc<Space>,
    generator: Generator,
    features: Features,
    /// What is known from elsewhere, until it is forgotten.
    priors: Vec<PriorModel>,
    /// How often they promised too little.
    broken: usize,
    /// Whether there were some once, and are none any more.
    forgot: bool,
    /// Up to this number, configurations far from all others are tried.
    initial: usize,
    observations: Vec<Observation>,
    /// The observations the model is built on.
    training: Vec<usize>,
    /// Proposed, and not told yet.
    pending: Vec<Vec<i64>>,
    pool: Pool,
    particles: Vec<Particle>,
    /// Learns where failures are.
    failures: Particle,
    /// How many observations there were at the last walk; 0 before the first.
    walked: usize,
}

/// A configuration and what became of it.
struct Observation {
    configuration: Vec<i64>,
    point: Vec<f64>,
    evenness: f64,
    /// What each set of prior results says of it.
    prior: Vec<f64>,
    time: Option<f64>,
}

impl Bayes {
    pub(super) fn new(setting: &Setting) -> Self {
        let space = Arc::clone(&setting.space);
        let features = Features::new(space.parameters());
        let mut generator = Generator::new(setting.seed);
        let learned = setting
            .prior_results
            .iter()
            .filter_map(|prior| PriorModel::of(prior, FAILED_QUANTILE, &features, &mut generator));
        let priors: Vec<PriorModel> = learned.take(MOST_PRIORS).collect();
        let dimensions = features.dimensions();
        let particles = (0..PARTICLES)
            .map(|_| Particle::new(dimensions, priors.len(), generator.split()))
            .collect();
        let mut pool = Pool::new(&space, &features, WHOLE);
        pool.add_priors(&priors, &features);
        Self {
            failures: Particle::new(dimensions, 0, generator.split()),
            pool,
            initial: if priors.is_empty() {
                INITIAL
            } else {
                starts(&setting.prior_results).len() + CONTROLS
            },
            priors,
            broken: 0,
            forgot: false,
            space,
            generator,
            features,
            observations: Vec::new(),
            training: Vec::new(),
            pending: Vec::new(),
            particles,
            walked: 0,
        }
    }

    fn is_taken(&self, configuration: &[i64]) -> bool {
        let mut observed = self.observations.iter();
        observed.any(|observation| observation.configuration == configuration)
            || self.pending.iter().any(|pending| pending == configuration)
    }

    /// The configuration farthest from all others, of a few random ones.
    fn spread(&mut self) -> Option<Vec<i64>> {
        let pending = self.pending.iter();
        let mut others: Vec<Vec<f64>> = pending.map(|p| self.features.point(p)).collect();
        others.extend(self.observations.iter().map(|o| o.point.clone()));
        let mut farthest: Option<(f64, Vec<i64>)> = None;
        for _ in 0..SPREAD {
            let drawn = self.space.sample(&mut self.generator)?;
            if self.is_taken(&drawn) {
                continue;
            }
            let point = self.features.point(&drawn);
            let squared = |other: &Vec<f64>| -> f64 {
                let pairs = point.iter().zip(other);
                pairs.map(|(a, b)| (a - b).powi(2)).sum()
            };
            let distance = others.iter().map(squared).fold(f64::MAX, f64::min);
            if farthest.as_ref().is_none_or(|(most, _)| distance > *most) {
                farthest = Some((distance, drawn));
            }
        }
        match farthest {
            Some((_, configuration)) => Some(configuration),
            None => self.any(),
        }
    }

    /// Any configuration that is left in the pool.
    fn any(&self) -> Option<Vec<i64>> {
        let left = (0..self.pool.len()).find(|position| !self.pool.is_taken(*position));
        left.map(|position| self.pool.get(position).to_vec())
    }

    /// The configuration with the largest expected improvement, and that improvement as a part of
    /// the time.
    fn improve(&mut self) -> Option<(Vec<i64>, f64)> {
        let renewed = self.renew();
        let data = self.data();
        let (pool, observed) = (&self.pool, data.times.len());
        let points = data.points.iter().map(Vec::as_slice).collect::<Vec<_>>();
        let even = EVEN * standard_deviation(&data.times);
        let pairs = data.times.iter().zip(&data.evenness);
        let uneven: Vec<f64> = pairs.map(|(time, factors)| time + even * factors).collect();
        let times = Observed {
            points: &points[..observed],
            values: &uneven,
            prior: &data.prior,
        };
        let failed = Observed {
            points: &points[..observed],
            values: &data.failures,
            prior: &[],
        };
        let learn = |particle: &mut Particle, observed: &Observed<'_>| {
            if let Some(steps) = renewed {
                particle.walk(observed, steps);
            }
            particle.catch_up(&points, pool);
        };
        let best = data.times.iter().copied().fold(f64::MAX, f64::min);
        let improve = |particle: &mut Particle| {
            learn(particle, &times);
            let improvements = particle.improvements(&times, best, even, pool);
            particle.truncate(observed);
            improvements
        };
        let avoid = |particle: &mut Particle| {
            if data.failures.iter().all(|failed| *failed == 0.0) {
                // What it learned from other data, or for another pool, must not come back.
                particle.reset();
                return vec![1.0; pool.len()];
            }
            learn(particle, &failed);
            let works = particle.below(&failed, 0.5, pool);
            particle.truncate(observed);
            works
        };
        let (particles, failures) = (&mut self.particles, &mut self.failures);
        ready_threads();
        let (improvements, works): (Vec<Vec<f64>>, Vec<f64>) = rayon::join(
            || particles.par_iter_mut().map(improve).collect(),
            || avoid(failures),
        );
        let value = |position: &usize| {
            let sum: f64 = improvements.iter().map(|of| of[*position]).sum();
            sum * works[*position]
        };
        let left = || (0..pool.len()).filter(|position| !pool.is_taken(*position));
        let largest = |positions: &mut dyn Iterator<Item = usize>| {
            let valued = positions.map(|position| (value(&position), position));
            valued.reduce(|a, b| if b.0 > a.0 { b } else { a })
        };
        let near = if self.forgot && self.observations.len().is_multiple_of(NEAR_EVERY) {
            let best = self.best(NEAR.0);
            largest(&mut left().filter(|position| is_near(pool.get(*position), &best)))
        } else {
            None
        };
        let (sum, position) = near.or_else(|| largest(&mut left()))?;
        Some((pool.get(position).to_vec(), sum / PARTICLES as f64))
    }

    /// The best few configurations so far.
    fn best(&self, count: usize) -> Vec<&[i64]> {
        let timed = self.observations.iter();
        let mut timed: Vec<_> = timed.filter_map(|o| Some((o.time?, o))).collect();
        timed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let best = timed.iter().take(count);
        best.map(|(_, o)| o.configuration.as_slice()).collect()
    }

    /// A configuration that improves, or one far from all others where prior results promise
    /// nothing any more.
    fn improve_or_forget(&mut self) -> Option<Vec<i64>> {
        if !self.priors.is_empty() && self.observations.len() >= LEADING.end {
            self.forget_lessons();
            return self.spread();
        }
        let (configuration, improvement) = self.improve()?;
        if !self.priors.is_empty()
            && self.observations.len() >= LEADING.start
            && improvement < PROMISE
        {
            self.broken += 1;
            if self.broken == BROKEN {
                self.forget_lessons();
                return self.spread();
            }
        }
        Some(configuration)
    }

    fn forget_lessons(&mut self) {
        self.forgot = true;
        self.priors.clear();
        self.pool.add_priors(&[], &self.features);
        for particle in &mut self.particles {
            particle.forget_lessons(self.features.dimensions());
        }
        // The next walk is a long one, as the first.
        self.walked = 0;
    }

    /// Chooses training data and pool anew from time to time; the number of steps that the draws
    /// of hyper-parameters should walk then.
    fn renew(&mut self) -> Option<usize> {
        let count = self.observations.len();
        let every = match count {
            0..60 => 2,
            60..110 => 5,
            _ => 10,
        };
        if self.walked > 0 && count - self.walked < every {
            return None;
        }
        let steps = if self.walked == 0 { STEPS.0 } else { STEPS.1 };
        self.walked = count;
        let mut fastest: Vec<usize> = (0..count).collect();
        let time = |position: &usize| self.observations[*position].time.unwrap_or(f64::MAX);
        fastest.sort_by(|a, b| time(a).total_cmp(&time(b)));
        if !self.pool.is_whole() {
            let mut pool = std::mem::take(&mut self.pool);
            let mut generator = self.generator.split();
            let best = fastest.iter().take(BEST);
            pool.renew(
                &self.space,
                &self.features,
                best.map(|position| &*self.observations[*position].configuration),
                &mut generator,
                |configuration| self.is_taken(configuration),
            );
            pool.add_priors(&self.priors, &self.features);
            self.pool = pool;
        }
        if count > MOST_OBSERVATIONS {
            // The fast half matters most; the rest says where not to look.
            let (fast, slow) = fastest.split_at(MOST_OBSERVATIONS / 2);
            let every = slow.len().div_ceil(MOST_OBSERVATIONS - fast.len()).max(1);
            self.training = fast
                .iter()
                .chain(slow.iter().step_by(every))
                .copied()
                .collect();
            self.training.sort_unstable();
        }
        Some(steps)
    }

    /// What the model is built on. The time of a failed configuration is that of a slow one: where
    /// nothing is known but failures, there is nothing to gain either.
    fn data(&self) -> Data {
        let training = || self.training.iter().map(|at| &self.observations[*at]);
        let mut times: Vec<f64> = self.observations.iter().filter_map(|o| o.time).collect();
        times.sort_by(f64::total_cmp);
        let slow = times[((times.len() - 1) as f64 * FAILED_QUANTILE) as usize];
        let pending = self
            .pending
            .iter()
            .map(|pending| self.features.point(pending));
        let says = |prior| training().map(|o| o.prior[prior]).collect();
        Data {
            points: training().map(|o| o.point.clone()).chain(pending).collect(),
            times: training()
                .map(|o| slowness(o.time.unwrap_or(slow), times[0]))
                .collect(),
            evenness: training().map(|o| o.evenness).collect(),
            prior: (0..self.priors.len()).map(says).collect(),
            failures: training()
                .map(|o| f64::from(u8::from(o.time.is_none())))
                .collect(),
        }
    }
}

/// Whether it differs from one of these in few parameters.
fn is_near(configuration: &[i64], others: &[&[i64]]) -> bool {
    others.iter().any(|other| {
        let pairs = configuration.iter().zip(*other);
        pairs.filter(|(a, b)| a != b).count() <= NEAR.1
    })
}

fn standard_deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    (squares.sum::<f64>() / count).sqrt()
}

/// What the model is built on.
struct Data {
    /// Of what was observed, then of what is being measured.
    points: Vec<Vec<f64>>,
    /// For each observation its [`slowness`].
    times: Vec<f64>,
    /// For each observation its evenness.
    evenness: Vec<f64>,
    /// For each set of prior results, what it says of each observation.
    prior: Vec<Vec<f64>>,
    /// For each observation 1 where it failed, else 0.
    failures: Vec<f64>,
}

impl Strategy for Bayes {
    fn propose(&mut self) -> Option<Vec<i64>> {
        let succeeded = self.observations.iter().any(|o| o.time.is_some());
        let tried = self.observations.len() + self.pending.len();
        let configuration = if tried < self.initial || !succeeded {
            self.spread()
        } else {
            self.improve_or_forget().or_else(|| self.spread())
        }?;
        self.pool.take(&configuration);
        self.pending.push(configuration.clone());
        Some(configuration)
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        self.pending.retain(|pending| pending != configuration);
        if self
            .observations
            .iter()
            .any(|o| o.configuration == configuration)
        {
            return;
        }
        self.pool.take(configuration);
        self.training.push(self.observations.len());
        let point = self.features.point(configuration);
        let priors = self.priors.iter();
        self.observations.push(Observation {
            configuration: configuration.to_vec(),
            evenness: self.features.evenness(configuration),
            prior: priors.map(|l| l.predict(configuration, &point)).collect(),
            point,
            time: score.time(),
        });
    }
}
