//! What each constraint removes, and which constraints together leave nothing.

use super::{Space, SpaceSpec, cartesian};
use crate::Text;
use std::fmt;

/// What the constraints of a space do.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The number of configurations without constraints.
    pub cartesian: u128,
    /// What each constraint removes on its own.
    pub removed: Vec<Removed>,
    /// For an empty space: constraints that leave nothing together, none of which could be left
    /// out.
    pub conflict: Vec<Text>,
}

/// What a constraint removes on its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Removed {
    /// The constraint.
    pub label: Text,
    /// How many configurations of the cartesian product it removes.
    pub count: u128,
}

pub(super) fn explain(spec: &SpaceSpec) -> Explanation {
    let cartesian = cartesian(spec);
    let with = |keep: &dyn Fn(usize) -> bool| {
        let constraints = spec.constraints.iter().enumerate();
        let kept = constraints
            .filter(|(index, _)| keep(*index))
            .map(|(_, c)| c.clone());
        Space::build(&SpaceSpec {
            parameters: spec.parameters.clone(),
            constraints: kept.collect(),
        })
        .count()
    };
    let removed = spec
        .constraints
        .iter()
        .enumerate()
        .map(|(index, constraint)| Removed {
            label: constraint.label.clone(),
            count: cartesian.saturating_sub(with(&|other| other == index)),
        });
    let removed: Vec<Removed> = removed.collect();
    // Leave out one constraint after the other, as long as nothing remains valid.
    let mut kept: Vec<usize> = (0..spec.constraints.len()).collect();
    let empty = with(&|_| true) == 0;
    if empty {
        for index in 0..spec.constraints.len() {
            let without: Vec<usize> = kept.iter().copied().filter(|k| *k != index).collect();
            if with(&|other| without.contains(&other)) == 0 {
                kept = without;
            }
        }
    }
    let conflict = if empty { kept } else { Vec::new() };
    let conflict = conflict
        .into_iter()
        .map(|index| spec.constraints[index].label.clone());
    Explanation {
        cartesian,
        removed,
        conflict: conflict.collect(),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for removed in &self.removed {
            writeln!(
                f,
                "  `{}` removes {} of {}",
                removed.label, removed.count, self.cartesian
            )?;
        }
        match &*self.conflict {
            [] => Ok(()),
            [only] => write!(f, "  `{only}` alone leaves nothing"),
            several => {
                let labels: Vec<String> =
                    several.iter().map(|label| format!("`{label}`")).collect();
                write!(f, "  together {} leave nothing", labels.join(" and "))
            }
        }
    }
}
