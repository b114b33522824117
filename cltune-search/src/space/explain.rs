//! The effects of the constraints of a space: of each alone, of each after those before it, and of
//! all together.

use super::build::count_within;
use super::query::cartesian;
use super::work::Work;
use super::{Space, SpaceConstraint, SpaceSpec};
use cltune_core::Text;
use std::fmt;

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

    /// The number of configurations with these constraints alone; `None` where it takes too long to
    /// find.
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

/// What the constraints of a space do to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The number of configurations without constraints; `None` when it does not fit into 128
    /// bits.
    pub cartesian: Option<u128>,
    /// What each constraint removes on its own, in the order of the constraints.
    pub removed: Vec<Removed>,
    /// The parameters without values; one is enough to leave nothing.
    pub without_values: Vec<Text>,
    /// Of an empty space whose parameters all have values, the labels of constraints that leave
    /// nothing together, while with one of them less something is left. Empty otherwise.
    ///
    /// A constraint for which it takes too long to find out whether it is needed is kept.
    pub conflict: Vec<Text>,
}

/// What a constraint removes on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The constraint's label.
    pub label: Text,
    /// How many configurations of the Cartesian product it makes invalid; `None` when that number
    /// does not fit into 128 bits or takes too long to find.
    pub configurations: Option<u128>,
}

impl Space {
    /// What each constraint does, and which of them leave nothing if the space is empty.
    ///
    /// Builds a space for each constraint alone and, if this one is empty, for all but one.
    pub fn explain(&self) -> Explanation {
        let spec = self.spec();
        let mut questions = Questions::about(spec);
        let removed = spec
            .constraints
            .iter()
            .enumerate()
            .map(|(position, constraint)| Removed {
                label: constraint.label.clone(),
                configurations: questions.removed(position),
            })
            .collect();
        let without_values: Vec<Text> = spec
            .parameters
            .iter()
            .filter(|parameter| parameter.codes.is_empty())
            .map(|parameter| parameter.name.clone())
            .collect();
        let conflict = if self.is_empty() && without_values.is_empty() {
            conflict(spec, &mut questions)
        } else {
            Vec::new()
        };
        Explanation {
            cartesian: cartesian(spec),
            removed,
            without_values,
            conflict,
        }
    }
}

/// Drops, one after the other, the constraints without which nothing is left either.
fn conflict(spec: &SpaceSpec, questions: &mut Questions<'_>) -> Vec<Text> {
    let mut needed = spec.constraints.clone();
    let mut at = 0;
    while at < needed.len() && !questions.are_over() {
        let mut fewer = needed.clone();
        fewer.remove(at);
        if questions.count(&fewer) == Some(0) {
            needed = fewer;
        } else {
            at += 1;
        }
    }
    needed
        .into_iter()
        .map(|constraint| constraint.label)
        .collect()
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.without_values {
            writeln!(f, "  parameter `{name}` has no values")?;
        }
        for removed in &self.removed {
            // What removes nothing is no reason.
            if removed.configurations == Some(0) {
                continue;
            }
            write!(f, "  `{}` removes ", removed.label)?;
            match (removed.configurations, self.cartesian) {
                (Some(count), Some(total)) => writeln!(f, "{count} of {total}")?,
                (Some(count), None) => writeln!(f, "{count}")?,
                (None, _) => writeln!(f, "too many to count")?,
            }
        }
        match &*self.conflict {
            [] => Ok(()),
            [one] => writeln!(f, "  `{one}` alone leaves nothing"),
            several => {
                let labels: Vec<String> =
                    several.iter().map(|label| format!("`{label}`")).collect();
                writeln!(f, "  together {} leave nothing", labels.join(" and "))
            }
        }
    }
}
