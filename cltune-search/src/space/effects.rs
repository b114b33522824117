//! What each constraint of a space does, alone and after those before it.

use super::build::count_within;
use super::query::cartesian;
use super::work::Work;
use super::{SpaceConstraint, SpaceSpec};
use cltune_core::Text;

/// The steps spent on one question; about a second.
const MOST_STEPS: u64 = 4_000_000;
/// The steps spent on all questions about a space, which may have any number of constraints.
const MOST_STEPS_IN_ALL: u64 = 32 * MOST_STEPS;

/// What one constraint does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The constraint's label.
    pub label: Text,
    /// How many configurations of the Cartesian product it makes invalid on its own; `None` when
    /// that number does not fit into 128 bits or takes too long to find.
    pub removed: Option<u128>,
    /// How many configurations satisfy it and all constraints before it; `None` when that takes too
    /// long to find.
    pub left: Option<u128>,
}

/// The effect of each constraint, in order.
pub fn effects(spec: &SpaceSpec) -> Vec<Effect> {
    let mut questions = Questions::about(spec);
    (0..spec.constraints.len())
        .map(|position| Effect {
            label: spec.constraints[position].label.clone(),
            removed: questions.removed(position),
            left: questions.count(&spec.constraints[..=position]),
        })
        .collect()
}

/// Questions about a space, which may take so many steps together.
pub(super) struct Questions<'a> {
    spec: &'a SpaceSpec,
    cartesian: Option<u128>,
    work: Work,
    /// What it takes to ask one.
    asking: usize,
}

impl<'a> Questions<'a> {
    pub(super) fn about(spec: &'a SpaceSpec) -> Self {
        let codes = spec
            .parameters
            .iter()
            .map(|parameter| parameter.codes.len());
        Self {
            cartesian: cartesian(spec),
            work: Work::new(MOST_STEPS_IN_ALL),
            asking: codes.map(|codes| 16 + codes / 8).sum(),
            spec,
        }
    }

    /// How many configurations of the Cartesian product a constraint removes on its own.
    pub(super) fn removed(&mut self, position: usize) -> Option<u128> {
        let left = self.count(&self.spec.constraints[position..=position])?;
        self.cartesian?.checked_sub(left)
    }

    /// The number of configurations with these constraints alone; `None` where it takes too long to find.
    pub(super) fn count(&mut self, constraints: &[SpaceConstraint]) -> Option<u128> {
        self.work.take(self.asking + 8 * constraints.len())?;
        let other = SpaceSpec {
            parameters: self.spec.parameters.clone(),
            constraints: constraints.to_vec(),
        };
        let mut share = self.work.share(MOST_STEPS);
        let count = count_within(&other, &mut share);
        self.work.give_back(&share);
        count
    }

    /// Whether all further questions take too long.
    pub(super) fn are_over(&self) -> bool {
        self.work.is_used_up()
    }
}
