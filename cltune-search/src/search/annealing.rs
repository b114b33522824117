//! Simulated annealing.

use super::generator::Generator;
use super::kind::StrategyKind;
use super::options::{Options, StrategyOption};
use super::strategy::{Score, Setting, Strategy};
use crate::space::{Neighbourhood, Space};
use std::sync::Arc;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "annealing",
    summary: "simulated annealing on relative times",
    // A configuration that takes e^0.3 = 1.35 times as long is accepted with probability 1/e.
    options: &[StrategyOption {
        key: "t",
        summary: "temperature at the start, in logarithms of time",
        default: Some(0.3),
        range: (0.001, 100.0),
        whole: false,
    }],
    learns: true,
    requirement: None,
    new: |setting, options| Box::new(Annealing::new(setting, options, Energy::Relative)),
};

pub(super) const CLTUNE: StrategyKind = StrategyKind {
    name: "annealing-cltune",
    summary: "simulated annealing as in CLTune, on times in milliseconds",
    // The middle one of the paper's {2, 4, 6} (section IV).
    options: &[StrategyOption {
        key: "t",
        summary: "temperature at the start, in milliseconds; the paper tries 2, 4 and 6",
        default: Some(4.0),
        range: (0.001, 1e6),
        whole: false,
    }],
    learns: true,
    requirement: None,
    new: |setting, options| Box::new(Annealing::new(setting, options, Energy::Milliseconds)),
};

/// What a temperature measures.
#[derive(Clone, Copy)]
enum Energy {
    /// The logarithm of the time, so that the same search suits kernels of every duration.
    Relative,
    /// The time in milliseconds, as in the paper.
    Milliseconds,
}

impl Energy {
    /// Of a time in microseconds; infinite for a failure.
    fn of(self, score: Score) -> f64 {
        match (self, score.time()) {
            (_, None) => f64::INFINITY,
            (Self::Relative, Some(time)) => time.ln(),
            (Self::Milliseconds, Some(time)) => time / 1e3,
        }
    }
}

/// Simulated annealing (Nugteren and Codreanu, CLTune, 2015, section III.C): a step to a random
/// neighbour is taken with probability 1 where it is faster, and exp(-(t' - t) / T) otherwise. T
/// falls linearly to 0 over the budget. A neighbour differs in the value of one parameter, which
/// may be any.
pub(super) struct Annealing {
    space: Arc<Space>,
    generator: Generator,
    energy: Energy,
    /// The temperature at the start.
    temperature: f64,
    /// How many results the search has, if it ends by number; else the space's size.
    horizon: f64,
    results: f64,
    /// Where the walk is, and its energy.
    current: Option<(Vec<i64>, f64)>,
}

impl Annealing {
    fn new(setting: &Setting, options: &Options, energy: Energy) -> Self {
        let horizon = setting.budget.map_or(u128::MAX, u128::from);
        Self {
            space: Arc::clone(&setting.space),
            generator: Generator::new(setting.seed),
            energy,
            temperature: options.number("t"),
            horizon: horizon.min(setting.space.count()) as f64,
            results: 0.0,
            current: None,
        }
    }

    fn is_taken(&mut self, step: f64) -> bool {
        let left = (1.0 - self.results / self.horizon).max(0.0);
        let temperature = self.temperature * left;
        // A temperature of 0 makes the exponent -infinity, or NaN for an equal energy.
        step < 0.0 || self.generator.unit() < (-step / temperature).exp()
    }
}

impl Strategy for Annealing {
    fn propose(&mut self) -> Option<Vec<i64>> {
        if let Some((place, _)) = &self.current {
            let near = self.space.neighbours(place, Neighbourhood::AnyValue);
            if let Some(next) = self.generator.pick(&near) {
                return Some(next.clone());
            }
        }
        self.space.sample(&mut self.generator)
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        let energy = self.energy.of(score);
        self.results += 1.0;
        let taken = match &self.current {
            // Nothing is worse than a failure, and a walk must not end at one.
            None => true,
            Some((_, current)) if current.is_infinite() => true,
            Some((_, current)) => {
                let step = energy - *current;
                self.is_taken(step)
            }
        };
        if taken {
            self.current = Some((configuration.to_vec(), energy));
        }
    }
}
