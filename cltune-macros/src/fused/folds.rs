//! Reductions in the generated source: the lines that fold values at positions, the values of a
//! work-group's work-items, and the parts of work-groups.

use super::functions::Fold;
use super::program::{Action, Program, Statement};
use super::value::{Lanes, Style, type_text};
use super::{index_folds, norm_folds};
use cltune_core::model::ScalarType;

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
    number: usize,
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
                    suffix: "_at",
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

    /// The lanes in which values are computed: indexes depend on the last bit, so that the reference
    /// computes them as the kernels do.
    pub(super) fn lanes_of_value(&self, lanes: Lanes) -> Lanes {
        match (self.fold, lanes) {
            (Fold::IndexOfMax, Lanes::Wide) => Lanes::One,
            _ => lanes,
        }
    }

    /// The declarations of what one work-item folds into.
    pub(super) fn declared(&self, lanes: Lanes) -> Vec<String> {
        let (ty, name, neutral) = (type_text(self.scalar, lanes), self.name, self.neutral());
        match (self.fold, lanes) {
            (Fold::IndexOfMax, _) => index_folds::declared(self, lanes),
            (Fold::Norm2, _) => norm_folds::declared(self, lanes),
            (_, Lanes::Many | Lanes::Cells) => {
                vec![format!("{ty} many_{name} = ({ty})({neutral});")]
            }
            (_, Lanes::One) => vec![format!("{ty} one_{name} = {neutral};")],
            (_, Lanes::Wide) => vec![format!("{ty} one_{name} = {neutral}, rest_{name} = 0;")],
        }
    }

    /// The declarations of what one work-item folds into, begun with the lanes of vectors.
    pub(super) fn declared_from_many(&self) -> Vec<String> {
        if self.fold == Fold::IndexOfMax {
            return index_folds::declared_from_many(self);
        }
        let (ty, name, op) = (type_text(self.scalar, Lanes::One), self.name, self.op());
        let components = self.components().into_iter();
        components
            .map(|Component { suffix, .. }| {
                format!("{ty} one_{name}{suffix} = FOLD({op}, many_{name}{suffix});")
            })
            .collect()
    }

    /// The lines that fold a value.
    pub(super) fn accumulated(&self, value: &str, lanes: Lanes) -> Vec<String> {
        let (name, op) = (self.name, self.op());
        match (self.fold, lanes) {
            (Fold::IndexOfMax, _) => index_folds::accumulated(self, value, lanes),
            (Fold::Norm2, _) => norm_folds::accumulated(self, value, lanes),
            (_, Lanes::Many | Lanes::Cells) => {
                vec![format!("many_{name} = {op}(many_{name}, {value});")]
            }
            // What an addition rounds away is kept (Neumaier 1974).
            (Fold::Sum, Lanes::Wide) if !self.scalar.is_integer() => vec![
                format!("const wide new_{name} = {value};"),
                format!("const wide sum_{name} = one_{name} + new_{name};"),
                format!(
                    "rest_{name} += fabs(one_{name}) >= fabs(new_{name}) ? (one_{name} - \
                     sum_{name}) + new_{name} : (new_{name} - sum_{name}) + one_{name};"
                ),
                format!("one_{name} = sum_{name};"),
            ],
            _ => vec![format!("one_{name} = {op}(one_{name}, {value});")],
        }
    }

    /// The lines that fold the part of a work-group.
    pub(super) fn part_folded(&self, program: &Program, lanes: Lanes) -> Vec<String> {
        if self.fold == Fold::IndexOfMax {
            return vec![index_folds::part_folded(self, program)];
        }
        let (name, op) = (self.name, self.op());
        let parts = self.parts().into_iter();
        parts
            .map(|parts| {
                let (suffix, parts) = (parts.component.suffix, parts.name(program));
                let part = match lanes {
                    Lanes::Wide => format!("({}){parts}[at]", type_text(self.scalar, lanes)),
                    Lanes::One | Lanes::Many | Lanes::Cells => format!("{parts}[at]"),
                };
                format!("one_{name}{suffix} = {op}(one_{name}{suffix}, {part});")
            })
            .collect()
    }

    /// The lines that fold the values of a work-group's work-items into the first element of local
    /// memory.
    pub(super) fn tree(&self, style: Style) -> Vec<String> {
        let (name, op) = (self.name, self.op());
        let with_rest = matches!(self.fold, Fold::Sum | Fold::Min | Fold::Max);
        let components = self.components().into_iter().zip(self.lanes());
        let (mut stores, mut folds) = (Vec::new(), Vec::new());
        for (Component { suffix, .. }, lanes) in components {
            let lanes = lanes.name();
            let one = match style {
                Style::Reference if with_rest => format!("one_{name} + rest_{name}"),
                _ => format!("one_{name}{suffix}"),
            };
            stores.push(format!("{lanes}[get_local_id(0)] = {one};"));
            folds.push(format!(
                "    if (get_local_id(0) < width) {lanes}[get_local_id(0)] = \
                 {op}({lanes}[get_local_id(0)], {lanes}[get_local_id(0) + width]);"
            ));
        }
        if self.fold == Fold::IndexOfMax {
            folds = vec![index_folds::lanes_folded(self)];
        }
        let mut lines = stores;
        lines.push("for (uint width = get_local_size(0) / 2; width > 0; width /= 2) {".to_owned());
        lines.push("    barrier(CLK_LOCAL_MEM_FENCE);".to_owned());
        lines.extend(folds);
        lines.push("}".to_owned());
        lines
    }

    /// The lines that store the parts of a work-group.
    pub(super) fn parts_stored(&self, program: &Program) -> Vec<String> {
        let stored = self.parts().into_iter().zip(self.lanes());
        stored
            .map(|(parts, lanes)| {
                let (parts, lanes) = (parts.name(program), lanes.name());
                format!("if (get_local_id(0) == 0) {parts}[get_group_id(0)] = {lanes}[0];")
            })
            .collect()
    }

    /// The result, where one work-group has folded all parts.
    pub(super) fn result(&self) -> String {
        match self.fold {
            Fold::Sum | Fold::Min | Fold::Max => format!("{}[0]", self.lanes()[0].name()),
            Fold::IndexOfMax => index_folds::result(self),
            Fold::Norm2 => norm_folds::result(self),
        }
    }
}

impl Parts {
    pub(super) fn name(&self, program: &Program) -> String {
        let name = &program.operands[self.target].name;
        program.free_name(&format!("parts_{name}{}", self.component.suffix))
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
