//! Differential evolution on the positions of values.

use super::continuous;
use super::generator::Generator;
use super::kind::StrategyKind;
use super::repair;
use super::strategy::{Score, Setting, Strategy};
use crate::space::Space;
use std::sync::Arc;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "differential-evolution",
    summary: "differential evolution (best/1/bin) on the positions of values in their lists",
    options: &[],
    learns: true,
    requirement: None,
    new: |setting, _| Box::new(DifferentialEvolution::new(setting)),
};

/// The number of members.
const POPULATION: usize = 15;

/// How far a mutant lies from its base, in differences of two members.
const WEIGHT: f64 = 0.7;

/// The probability that a parameter comes from the mutant and not from the member it competes
/// with.
const CROSSOVER: f64 = 0.8;

/// Differential evolution, variant best/1/bin (Storn and Price, Differential Evolution, 1997,
/// sections 2 and 3). A parameter's coordinate is its value's position in the declared list;
/// coordinates are rounded and reflected at the ends, and an invalid trial is moved towards the
/// member it competes with.
pub(super) struct DifferentialEvolution {
    space: Arc<Space>,
    generator: Generator,
    members: Vec<Member>,
    /// The member that the next trial competes with.
    target: usize,
    /// How many random configurations were proposed.
    sampled: usize,
    /// Proposals without a result, and the member each competes with.
    open: Vec<(Vec<i64>, Option<usize>)>,
}

struct Member {
    configuration: Vec<i64>,
    /// Infinite where it failed.
    time: f64,
}

impl DifferentialEvolution {
    fn new(setting: &Setting) -> Self {
        Self {
            space: Arc::clone(&setting.space),
            generator: Generator::new(setting.seed),
            members: Vec::new(),
            target: 0,
            sampled: 0,
            open: Vec::new(),
        }
    }

    fn position(&self, member: usize, parameter: usize) -> f64 {
        let code = self.members[member].configuration[parameter];
        continuous::place(&self.space, parameter, code)
    }

    /// A configuration that competes with a member.
    fn trial(&mut self, target: usize) -> Vec<i64> {
        let time = |index: &usize| self.members[*index].time;
        let all = 0..self.members.len();
        let best = all
            .min_by(|left, right| time(left).total_cmp(&time(right)))
            .unwrap_or(target);
        let others = self.members.len() as u128;
        let (plus, minus) = (
            self.generator.below(others) as usize,
            self.generator.below(others) as usize,
        );
        let mut trial = self.members[target].configuration.clone();
        let sure = self.generator.below(trial.len() as u128) as usize;
        for (parameter, code) in trial.iter_mut().enumerate() {
            let crosses = self.generator.unit() < CROSSOVER;
            if !crosses && parameter != sure {
                continue;
            }
            let difference = self.position(plus, parameter) - self.position(minus, parameter);
            let codes = &self.space.parameters()[parameter].codes;
            let wish = self.position(best, parameter) + WEIGHT * difference;
            // A difference between neighbouring positions would round to nothing as often as not.
            let rounded = (wish + self.generator.unit()).floor();
            *code = codes[continuous::reflected(rounded, codes.len())];
        }
        let anchor = self.members[target].configuration.clone();
        repair::towards(&self.space, trial, &anchor, &mut self.generator)
    }
}

impl Strategy for DifferentialEvolution {
    fn propose(&mut self) -> Option<Vec<i64>> {
        let (proposal, competes_with) = if self.sampled < POPULATION {
            self.sampled += 1;
            (self.space.sample(&mut self.generator)?, None)
        } else if self.members.is_empty() {
            // Without a result there is nothing to compute with.
            return None;
        } else {
            let target = self.target % self.members.len();
            self.target = target + 1;
            let trial = self.trial(target);
            if trial == self.members[target].configuration {
                // The members lie too close together: a new one brings new differences.
                (self.space.sample(&mut self.generator)?, Some(target))
            } else {
                (trial, Some(target))
            }
        };
        self.open.push((proposal.clone(), competes_with));
        Some(proposal)
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        let open = self.open.iter().position(|open| open.0 == configuration);
        let competes_with = open.and_then(|open| self.open.swap_remove(open).1);
        let member = Member {
            configuration: configuration.to_vec(),
            time: score.time().unwrap_or(f64::INFINITY),
        };
        match competes_with {
            None => self.members.push(member),
            Some(target) if member.time <= self.members[target].time => {
                self.members[target] = member;
            }
            Some(_) => {}
        }
    }
}
