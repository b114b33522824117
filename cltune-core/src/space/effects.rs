//! What each constraint of a space does, alone and after those before it.

use super::build::count_within;
use super::query::cartesian;
use super::{SpaceConstraint, SpaceSpec};
use crate::Text;

/// The edges and evaluations spent on one question; about a second.
pub(super) const MOST_STEPS: u64 = 4_000_000;

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
    (0..spec.constraints.len())
        .map(|position| Effect {
            label: spec.constraints[position].label.clone(),
            removed: removed(spec, position),
            left: count_of(spec, &spec.constraints[..=position]),
        })
        .collect()
}

/// How many configurations of the Cartesian product a constraint removes on its own.
pub(super) fn removed(spec: &SpaceSpec, position: usize) -> Option<u128> {
    let left = count_of(spec, &spec.constraints[position..=position])?;
    cartesian(spec)?.checked_sub(left)
}

/// The number of configurations with other constraints.
pub(super) fn count_of(spec: &SpaceSpec, constraints: &[SpaceConstraint]) -> Option<u128> {
    let other = SpaceSpec {
        parameters: spec.parameters.clone(),
        constraints: constraints.to_vec(),
    };
    count_within(&other, MOST_STEPS)
}
