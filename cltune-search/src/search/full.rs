//! Every configuration, in the space's order.

use super::kind::StrategyKind;
use super::strategy::{Score, Setting, Strategy};
use crate::space::Space;
use std::sync::Arc;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "full",
    summary: "every configuration, in order",
    options: &[],
    learns: false,
    requirement: None,
    new: |setting, _| Box::new(Full::new(setting)),
};

/// Of a continuous parameter every listed value; [`Chosen::check`](super::Chosen::check) says that
/// these are not all.
pub(super) struct Full {
    space: Arc<Space>,
    next: u128,
}

impl Full {
    pub(super) fn new(setting: &Setting) -> Self {
        Self {
            space: Arc::clone(&setting.space),
            next: 0,
        }
    }
}

impl Strategy for Full {
    fn propose(&mut self) -> Option<Vec<i64>> {
        let configuration = self.space.get(self.next)?;
        self.next += 1;
        Some(configuration)
    }

    fn tell(&mut self, _configuration: &[i64], _score: Score) {}
}
