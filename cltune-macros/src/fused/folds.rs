//! Reductions in the generated source: the lines that fold values at positions, the values of a
//! work-group's work-items, and the parts of work-groups.

use super::functions::Fold;
use super::kernels::Style;
use super::program::{Action, Program, Statement};
use super::value::{Lanes, type_text};
use cltune_core::model::ScalarType;

/// A statement that reduces.
#[derive(Clone, Copy)]
pub(super) struct Folded<'a> {
    pub(super) fold: Fold,
    pub(super) scalar: ScalarType,
    /// The operand that it results in.
    pub(super) target: usize,
    /// The operand's name, which registers are named after.
    name: &'a str,
}

impl<'a> Folded<'a> {
    /// The reduction that a statement is, if it is one.
    pub(super) fn of(program: &'a Program, statement: &Statement) -> Option<Self> {
        let Action::Fold(fold) = statement.action else {
            return None;
        };
        Some(Self {
            fold,
            scalar: statement.value.scalar(),
            target: statement.target,
            name: &program.operands[statement.target].name,
        })
    }

    /// The macro or function that folds two values.
    fn op(&self) -> &'static str {
        match (self.fold, self.scalar.is_integer()) {
            (Fold::Sum, _) => "ADD",
            (Fold::Min, true) => "min",
            (Fold::Min, false) => "fmin",
            (Fold::Max, true) => "max",
            (Fold::Max, false) => "fmax",
        }
    }

    /// The value that changes nothing when it is folded.
    fn neutral(&self) -> String {
        let (least, most) = self.scalar.integers();
        let (bound, infinity) = match self.fold {
            Fold::Sum => return "0".into(),
            Fold::Min => (most, "INFINITY"),
            Fold::Max => (least, "-INFINITY"),
        };
        match (self.scalar, bound) {
            (scalar, _) if !scalar.is_integer() => infinity.into(),
            (ScalarType::U64, bound) if bound > 0 => "ULONG_MAX".into(),
            // The least number is no literal of C: its digits are those of a number too large.
            (_, i64::MIN) => "LONG_MIN".into(),
            (scalar, bound) => format!("({}){bound}L", scalar.opencl_name()),
        }
    }

    /// The declaration of what one work-item folds into.
    pub(super) fn declared(&self, lanes: Lanes) -> String {
        let (ty, name, neutral) = (type_text(self.scalar, lanes), self.name, self.neutral());
        match lanes {
            Lanes::Many => format!("{ty} many_{name} = ({ty})({neutral});"),
            Lanes::One => format!("{ty} one_{name} = {neutral};"),
            Lanes::Wide => format!("{ty} one_{name} = {neutral}, rest_{name} = 0;"),
        }
    }

    /// The declaration of what one work-item folds into, begun with the lanes of vectors.
    pub(super) fn declared_from_many(&self) -> String {
        let (ty, name, op) = (type_text(self.scalar, Lanes::One), self.name, self.op());
        format!("{ty} one_{name} = FOLD({op}, many_{name});")
    }

    /// The lines that fold a value.
    pub(super) fn accumulated(&self, value: &str, lanes: Lanes) -> Vec<String> {
        let (name, op) = (self.name, self.op());
        match lanes {
            Lanes::Many => vec![format!("many_{name} = {op}(many_{name}, {value});")],
            // What an addition rounds away is kept (Neumaier 1974).
            Lanes::Wide if self.fold == Fold::Sum && !self.scalar.is_integer() => vec![
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

    /// The line that folds the part of a work-group.
    pub(super) fn part_folded(&self, program: &Program, lanes: Lanes) -> String {
        let (name, op, parts) = (self.name, self.op(), self.parts(program));
        let part = match lanes {
            Lanes::Wide => format!("({}){parts}[at]", type_text(self.scalar, lanes)),
            Lanes::One | Lanes::Many => format!("{parts}[at]"),
        };
        format!("one_{name} = {op}(one_{name}, {part});")
    }

    /// The lines that fold the values of a work-group's work-items into the first element of local
    /// memory.
    pub(super) fn tree(&self, style: Style) -> [String; 5] {
        let (name, op, lanes) = (self.name, self.op(), lanes_name(self.scalar));
        let one = match style {
            Style::Tuned => format!("one_{name}"),
            Style::Reference => format!("one_{name} + rest_{name}"),
        };
        [
            format!("{lanes}[get_local_id(0)] = {one};"),
            "for (uint width = get_local_size(0) / 2; width > 0; width /= 2) {".to_owned(),
            "    barrier(CLK_LOCAL_MEM_FENCE);".to_owned(),
            format!(
                "    if (get_local_id(0) < width) {lanes}[get_local_id(0)] = \
                 {op}({lanes}[get_local_id(0)], {lanes}[get_local_id(0) + width]);"
            ),
            "}".to_owned(),
        ]
    }

    /// The name of the buffer with the parts of work-groups.
    pub(super) fn parts(&self, program: &Program) -> String {
        parts_name(program, self.target)
    }
}

/// The name of the buffer with the parts of a reduction that results in an operand.
pub(super) fn parts_name(program: &Program, target: usize) -> String {
    program.free_name(&format!("parts_{}", program.operands[target].name))
}

/// The name of the local memory in which work-items fold numbers of a type.
pub(super) fn lanes_name(scalar: ScalarType) -> String {
    format!("lanes_{}", scalar.rust_name())
}
