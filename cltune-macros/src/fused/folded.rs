//! A statement that reduces: what its values are folded into, and the memory that this takes.

use super::functions::Fold;
use super::program::{Action, Program, Statement};
use cltune_core::model::ScalarType;

/// What the names of an index's positions end with.
pub(super) const AT: &str = "_at";

/// A statement that reduces.
#[derive(Clone, Copy)]
pub(super) struct Folded<'a> {
    pub(super) fold: Fold,
    /// The type of the values.
    pub(super) scalar: ScalarType,
    /// The operand that it results in.
    pub(super) target: usize,
    /// The operand's name, which registers are named after.
    pub(super) name: &'a str,
}

/// A number that values are folded into. Most reductions have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Component {
    /// What its names end with.
    pub(super) suffix: &'static str,
    pub(super) scalar: ScalarType,
}

/// A buffer with the parts of work-groups: a component of the reduction that results in an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) target: usize,
    /// The position of the component.
    pub(super) position: usize,
    pub(super) component: Component,
}

/// Local memory with a number of each work-item: the first one of its type, the second one, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LocalLanes {
    pub(super) scalar: ScalarType,
    pub(super) number: usize,
}

impl<'a> Folded<'a> {
    /// The reduction that a statement is, if it is one.
    pub(super) fn of(program: &'a Program, statement: &Statement) -> Option<Self> {
        match statement.action {
            Action::Fold(fold) => Some(Self::with(program, statement, fold)),
            _ => None,
        }
    }

    /// The reduction of lines that a statement is, if it is one.
    pub(super) fn of_lines(program: &'a Program, statement: &Statement) -> Option<Self> {
        match statement.action {
            Action::Lines(fold) | Action::Across(fold) => {
                Some(Self::with(program, statement, fold))
            }
            _ => None,
        }
    }

    fn with(program: &'a Program, statement: &Statement, fold: Fold) -> Self {
        Self {
            fold,
            scalar: statement.value.scalar(),
            target: statement.target,
            name: &program.operands[statement.target].name,
        }
    }

    /// What values are folded into.
    pub(super) fn components(&self) -> Vec<Component> {
        let of_value = |suffix| Component {
            suffix,
            scalar: self.scalar,
        };
        match self.fold {
            Fold::Sum | Fold::Min | Fold::Max => vec![of_value("")],
            Fold::IndexOfMax => vec![
                of_value(""),
                Component {
                    suffix: AT,
                    scalar: ScalarType::U64,
                },
            ],
            Fold::Norm2 => vec![of_value(""), of_value("_big"), of_value("_small")],
        }
    }

    /// The buffers with its parts.
    pub(super) fn parts(&self) -> Vec<Parts> {
        let components = self.components().into_iter().enumerate();
        let parts = components.map(|(position, component)| Parts {
            target: self.target,
            position,
            component,
        });
        parts.collect()
    }

    /// The local memory in which work-items fold, one for each component.
    pub(super) fn lanes(&self) -> Vec<LocalLanes> {
        let mut lanes: Vec<LocalLanes> = Vec::new();
        for Component { scalar, .. } in self.components() {
            let number = lanes.iter().filter(|lane| lane.scalar == scalar).count();
            lanes.push(LocalLanes { scalar, number });
        }
        lanes
    }

    /// The macro or function that folds two values.
    pub(super) fn op(&self) -> &'static str {
        match (self.fold, self.scalar.is_integer()) {
            (Fold::Sum | Fold::Norm2, _) => "ADD",
            (Fold::Min, true) => "min",
            (Fold::Min, false) => "fmin",
            (Fold::Max | Fold::IndexOfMax, true) => "max",
            (Fold::Max | Fold::IndexOfMax, false) => "fmax",
        }
    }

    /// The value that changes nothing when it is folded.
    pub(super) fn neutral(&self) -> String {
        let (least, most) = self.scalar.integers();
        let (bound, infinity) = match self.fold {
            Fold::Sum | Fold::Norm2 => return "0".into(),
            Fold::Min => (most, "INFINITY"),
            Fold::Max | Fold::IndexOfMax => (least, "-INFINITY"),
        };
        match (self.scalar, bound) {
            (scalar, _) if !scalar.is_integer() => infinity.into(),
            (ScalarType::U64, bound) if bound > 0 => "ULONG_MAX".into(),
            // The least number is no literal of C: its digits are those of a number too large.
            (_, i64::MIN) => "LONG_MIN".into(),
            (scalar, bound) => format!("({}){bound}L", scalar.opencl_name()),
        }
    }
}

impl Parts {
    pub(super) fn name(&self, program: &Program) -> String {
        let name = &program.operands[self.target].name;
        program.free_argument(&format!("parts_{name}{}", self.component.suffix))
    }
}

impl LocalLanes {
    pub(super) fn name(self) -> String {
        let scalar = self.scalar.rust_name();
        match self.number {
            0 => format!("lanes_{scalar}"),
            number => format!("lanes_{scalar}_{number}"),
        }
    }
}
