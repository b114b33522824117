//! Configurations drawn uniformly, without replacement.

use super::generator::Generator;
use super::kind::StrategyKind;
use super::strategy::{Score, Setting, Strategy};
use crate::space::Permutation;
use crate::space::Space;
use std::sync::Arc;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "random",
    summary: "valid configurations at random, each equally likely and none twice",
    options: &[],
    learns: false,
    requirement: None,
    new: |setting, _| Box::new(Random::new(setting)),
};

pub(super) struct Random {
    space: Arc<Space>,
    generator: Generator,
    order: Permutation,
}

impl Random {
    pub(super) fn new(setting: &Setting) -> Self {
        Self {
            space: Arc::clone(&setting.space),
            generator: Generator::new(setting.seed),
            order: Permutation::new(setting.space.count()),
        }
    }
}

impl Strategy for Random {
    fn propose(&mut self) -> Option<Vec<i64>> {
        self.space.get(self.order.draw(&mut self.generator)?)
    }

    fn tell(&mut self, _configuration: &[i64], _score: Score) {}
}
