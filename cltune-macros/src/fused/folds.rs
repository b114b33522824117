//! Reductions in the generated source: the lines that fold values at positions, the values of a
//! work-group's work-items, and the parts of work-groups.

use super::folded::{AT, Component, Folded};
use super::functions::Fold;
use super::program::Program;
use super::value::{Kind, Lanes, Style, Value, type_text};
use super::{index_folds, norm_folds};

/// How the parts of reductions pass from one work-group to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handing {
    /// One launch stores them, and the next reads them.
    Plain,
    /// By macros, which a parameter decides about.
    ByMacro,
}

impl Folded<'_> {
    /// The lanes in which values are computed: indexes depend on the last bit, so that the
    /// reference computes them as the kernels do.
    pub(super) fn lanes_of_value(&self, lanes: Lanes) -> Lanes {
        match (self.fold, lanes) {
            (Fold::IndexOfMax, Lanes::Wide) => Lanes::One,
            _ => lanes,
        }
    }

    /// A value's text as an argument of the function that folds: C makes an `int` of a choice among
    /// small integers, and functions have one type for all arguments.
    pub(super) fn argument(&self, value: &Value, text: String, lanes: Lanes) -> String {
        match (self.fold, &value.kind) {
            (Fold::Min | Fold::Max, Kind::Select(_)) => value.narrowed(text, lanes),
            _ => text,
        }
    }

    /// The declarations of what one work-item folds into.
    pub(super) fn declared(&self, lanes: Lanes) -> Vec<String> {
        let (ty, name, neutral) = (type_text(self.scalar, lanes), self.name, self.neutral());
        match (self.fold, lanes) {
            (Fold::IndexOfMax, _) => index_folds::declared(self),
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

    /// The declarations of `count` accumulators, vectors that a work-item folds into, of which the
    /// first `used` are used.
    pub(super) fn sums_declared(&self, count: &str, used: &str) -> Vec<String> {
        let name = self.name;
        let declared = self.vectors().flat_map(|(suffix, ty)| {
            let neutral = match (self.fold, suffix) {
                (Fold::IndexOfMax, AT) => index_folds::NOWHERE.to_owned(),
                _ => self.neutral(),
            };
            [
                format!("{ty} sums_{name}{suffix}[{count}];"),
                format!(
                    "for (uint c = 0; c < {used}; c++) sums_{name}{suffix}[c] = ({ty})({neutral});"
                ),
            ]
        });
        declared.collect()
    }

    /// The suffixes of the components, and the types of their vectors.
    fn vectors(&self) -> impl Iterator<Item = (&'static str, String)> {
        let components = self.components().into_iter();
        components.map(|Component { suffix, scalar }| (suffix, type_text(scalar, Lanes::Many)))
    }

    /// The declarations of what a work-item folds into, as accumulator `which`.
    pub(super) fn declared_from_sums(&self, which: &str) -> Vec<String> {
        let name = self.name;
        let declared = self.vectors().map(|(suffix, ty)| {
            format!("{ty} many_{name}{suffix} = sums_{name}{suffix}[{which}];")
        });
        declared.collect()
    }

    /// The lines that keep what was folded in an accumulator.
    pub(super) fn sums_kept(&self) -> Vec<String> {
        let name = self.name;
        let kept = self
            .vectors()
            .map(|(suffix, _)| format!("sums_{name}{suffix}[c] = many_{name}{suffix};"));
        kept.collect()
    }

    /// The lines that fold an accumulator into that of earlier positions.
    pub(super) fn sums_folded(&self) -> Vec<String> {
        if self.fold == Fold::IndexOfMax {
            return index_folds::sums_folded(self);
        }
        let (name, op) = (self.name, self.op());
        let folded = self.vectors().map(|(suffix, _)| {
            let (many, sums) = (
                format!("many_{name}{suffix}"),
                format!("sums_{name}{suffix}"),
            );
            format!("{many} = {op}({many}, {sums}[c]);")
        });
        folded.collect()
    }

    /// The line that folds a value into one of them.
    pub(super) fn sum_accumulated(&self, value: &str) -> String {
        let (name, op) = (self.name, self.op());
        format!("sums_{name}[c] = {op}(sums_{name}[c], {value});")
    }

    /// The line that goes on with one of them.
    pub(super) fn sum_taken(&self) -> String {
        format!("many_{0} = sums_{0}[c];", self.name)
    }

    /// The lines that fold the part of a work-group.
    pub(super) fn part_folded(
        &self,
        program: &Program,
        lanes: Lanes,
        handing: Handing,
    ) -> Vec<String> {
        let (name, op) = (self.name, self.op());
        let taken = self.parts().into_iter().map(|parts| {
            let Component { suffix, scalar } = parts.component;
            let (ty, parts) = (scalar.opencl_name(), parts.name(program));
            let source = match handing {
                Handing::Plain => format!("{parts}[at]"),
                Handing::ByMacro => format!("TAKE{}({ty}, {parts} + at)", scalar.size()),
            };
            format!("const {ty} part_{name}{suffix} = {source};")
        });
        let mut lines: Vec<String> = taken.collect();
        if self.fold == Fold::IndexOfMax {
            lines.push(index_folds::part_folded(self));
            return lines;
        }
        let components = self.components().into_iter();
        lines.extend(components.map(|Component { suffix, .. }| {
            let part = match lanes {
                Lanes::Wide => format!("({})part_{name}{suffix}", type_text(self.scalar, lanes)),
                Lanes::One | Lanes::Many | Lanes::Cells => format!("part_{name}{suffix}"),
            };
            format!("one_{name}{suffix} = {op}(one_{name}{suffix}, {part});")
        }));
        lines
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
    pub(super) fn parts_stored(&self, program: &Program, handing: Handing) -> Vec<String> {
        let stored = self.parts().into_iter().zip(self.lanes());
        stored
            .map(|(parts, lanes)| {
                let size = parts.component.scalar.size();
                let (parts, lanes) = (parts.name(program), lanes.name());
                let store = match handing {
                    Handing::Plain => format!("{parts}[get_group_id(0)] = {lanes}[0];"),
                    Handing::ByMacro => {
                        format!("PUT{size}({parts} + get_group_id(0), {lanes}[0]);")
                    }
                };
                format!("if (get_local_id(0) == 0) {store}")
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
