//! Why a space is as small as it is.

use super::effects::Questions;
use super::query::cartesian;
use super::{Space, SpaceSpec};
use cltune_core::Text;
use std::fmt;

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
