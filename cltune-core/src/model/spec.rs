//! The specification of a search space, from which the crate `cltune-search` builds the space.

use crate::Text;
use crate::expr::Program;

/// Parameters and constraints, bound to a problem and a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceSpec {
    /// The parameters, in declaration order.
    pub parameters: Vec<SpaceParameter>,
    /// What every valid configuration satisfies.
    pub constraints: Vec<SpaceConstraint>,
}

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceParameter {
    /// Its name.
    pub name: Text,
    /// The codes of its values on the device, in declaration order.
    pub codes: Vec<i64>,
    /// Whether these stand for all codes from the first to the last, which ascend, and values close
    /// to each other are alike: those of a range of real numbers.
    pub continuous: bool,
}

impl SpaceParameter {
    /// One whose values are these and no others.
    pub fn listed(name: impl Into<Text>, codes: Vec<i64>) -> Self {
        Self {
            name: name.into(),
            codes,
            continuous: false,
        }
    }
}

/// A constraint, bound to a problem and a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceConstraint {
    /// Its text, for messages.
    pub label: Text,
    /// Its program, in which parameters are the only names. A configuration for which it has no
    /// value is invalid.
    pub program: Program,
}
