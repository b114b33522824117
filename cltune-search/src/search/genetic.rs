//! A genetic algorithm in steady state.

use super::continuous;
use super::generator::Generator;
use super::kind::StrategyKind;
use super::repair;
use super::strategy::{Score, Setting, Strategy};
use crate::space::Space;
use std::sync::Arc;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "genetic",
    summary: "genetic algorithm: crossover and mutation of the best 20 configurations so far",
    options: &[],
    learns: true,
    requirement: None,
    new: |setting, _| Box::new(Genetic::new(setting)),
};

/// The number of configurations that may have offspring.
const POPULATION: usize = 20;

/// The number of members of which the best becomes a parent.
const TOURNAMENT: usize = 3;

/// A genetic algorithm that adds one child at a time and drops the worst member (Whitley, The
/// GENITOR Algorithm, 1989), so that no generation has to be complete before the next begins.
/// Parents win tournaments; each parameter comes from one of the two, then mutates with
/// probability 1 / parameters; an invalid child is moved towards its first parent. Values of
/// continuous parameters are [blended](continuous::crossed).
pub(super) struct Genetic {
    space: Arc<Space>,
    generator: Generator,
    /// The best so far, the fastest first.
    population: Vec<(Vec<i64>, f64)>,
    /// How many random configurations were proposed.
    sampled: usize,
}

impl Genetic {
    fn new(setting: &Setting) -> Self {
        Self {
            space: Arc::clone(&setting.space),
            generator: Generator::new(setting.seed),
            population: Vec::new(),
            sampled: 0,
        }
    }

    /// A member, chosen by a tournament. The population is not empty.
    fn parent(&mut self) -> Vec<i64> {
        let draws = (0..TOURNAMENT).map(|_| self.generator.below(self.population.len() as u128));
        // Sorted by time: the least position is the fastest.
        let winner = draws.min().unwrap_or(0) as usize;
        self.population[winner].0.clone()
    }

    fn child(&mut self) -> Vec<i64> {
        let (first, second) = (self.parent(), self.parent());
        let mut child = first.clone();
        let rate = 1.0 / child.len().max(1) as f64;
        for (parameter, code) in child.iter_mut().enumerate() {
            let generator = &mut self.generator;
            if generator.unit() < 0.5 {
                let parents = (*code, second[parameter]);
                *code = continuous::crossed(&self.space, parameter, parents, generator);
            }
            if generator.unit() < rate {
                *code = continuous::mutated(&self.space, parameter, *code, generator);
            }
        }
        repair::towards(&self.space, child, &first, &mut self.generator)
    }
}

impl Strategy for Genetic {
    fn propose(&mut self) -> Option<Vec<i64>> {
        if self.sampled < POPULATION || self.population.len() < 2 {
            self.sampled += 1;
            return self.space.sample(&mut self.generator);
        }
        Some(self.child())
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        let Some(time) = score.time() else { return };
        if self
            .population
            .iter()
            .any(|member| member.0 == configuration)
        {
            return;
        }
        let place = self.population.partition_point(|member| member.1 <= time);
        self.population
            .insert(place, (configuration.to_vec(), time));
        self.population.truncate(POPULATION);
    }
}
