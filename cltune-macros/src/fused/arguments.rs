//! Kernels that were written: what a stage has to say about them, and their arguments in the
//! source.

use super::folded::{LocalLanes, Parts};
use super::program::{Grid, Operand, Place, Program};
use super::value::{Lanes, type_text};
use cltune_core::model::ScalarType;
use std::collections::BTreeSet;

/// A kernel with what a stage has to say about it.
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) arguments: Vec<KernelArgument>,
    pub(super) work: Work,
    /// Whether the kernel of the loop before it does the same in the same launch, if a parameter
    /// says so.
    pub(super) is_in_loop: bool,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KernelArgument {
    /// The number of positions, by the length's position.
    Count(usize),
    /// The number of parts. It is no constant in the source: PoCL 3.1 builds kernels that crash
    /// where it is 1 and the loop over the parts becomes a condition before a barrier.
    Groups,
    Operand(usize),
    /// The parts of a reduction.
    Parts(Parts),
    /// How many work-groups of a loop have ended.
    Finished,
    /// The same for each group of positions of lines that are so long.
    ColumnsFinished(usize),
    /// A number of local memory for each work-item.
    Lanes(LocalLanes),
    /// The number of lines.
    Lines(usize),
    /// The number of elements of a line.
    Line(usize),
    /// The distance of the lines of a matrix.
    Leading(usize),
    /// The number of terms of the sums of a product.
    Depth(usize),
    /// A number of local memory for each work-item of a group that goes through lines.
    Cells(ScalarType),
    /// The same with vectors.
    Strips(ScalarType),
    /// The parts of all lines that are folded to one, by the operand that it is.
    LineParts(usize),
}

/// The index space of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// All work-groups.
    Loop,
    /// One work-group.
    Group,
    /// One work-item.
    Item,
    /// Work-groups for all lines.
    Lines(Grid),
    /// Work-groups for all positions of lines, and for parts of the lines.
    Across(Grid),
    /// A work-item for each of so many.
    Each(usize),
    /// Work-groups for all tiles of a product of elements of this type.
    Product(Grid, ScalarType),
    /// A work-item for each element of a matrix.
    Elements(Grid),
}

impl KernelArgument {
    /// Its declaration, in a kernel that writes these operands.
    pub(super) fn declared(
        &self,
        program: &Program,
        written: &BTreeSet<usize>,
        work: Work,
    ) -> String {
        let is_over_lines = !matches!(work, Work::Loop | Work::Group | Work::Item);
        let pointer = if is_over_lines { "* restrict" } else { "*" };
        match self {
            Self::Count(_) => "const ulong count".to_owned(),
            Self::Groups => "const uint groups".to_owned(),
            Self::Operand(position) => {
                let Operand { scalar, place, .. } = &program.operands[*position];
                let ty = type_text(*scalar, Lanes::One);
                let name = program.name_in_source(*position);
                match place {
                    Place::Value => format!("const {ty} {name}"),
                    _ if written.contains(position) => {
                        format!("__global {ty}{pointer} {name}")
                    }
                    _ => format!("__global const {ty}{pointer} {name}"),
                }
            }
            Self::Parts(parts) => {
                let constant = if work == Work::Loop { "" } else { "const " };
                let ty = type_text(parts.component.scalar, Lanes::One);
                format!("__global {constant}{ty}* {}", parts.name(program))
            }
            Self::Finished => format!("volatile __global uint* {}", finished_name(program)),
            Self::ColumnsFinished(length) => {
                let name = columns_finished_name(program, *length);
                format!("volatile __global uint* {name}")
            }
            Self::Lanes(lanes) => {
                let ty = type_text(lanes.scalar, Lanes::One);
                format!("__local {ty}* {}", lanes.name())
            }
            Self::Lines(_) => "const ulong lines".to_owned(),
            Self::Line(_) => "const ulong length".to_owned(),
            Self::Depth(_) => "const ulong depth".to_owned(),
            Self::Leading(operand) => {
                format!("const ulong {}", leading_name(&program.operands[*operand]))
            }
            Self::Cells(scalar) => {
                let ty = type_text(*scalar, Lanes::One);
                format!("__local {ty}* {}", cells_name(*scalar))
            }
            Self::Strips(scalar) => {
                let ty = type_text(*scalar, Lanes::Cells);
                format!("__local {ty}* {}", strips_name(*scalar))
            }
            Self::LineParts(target) => {
                let constant = if matches!(work, Work::Across(_)) {
                    ""
                } else {
                    "const "
                };
                let ty = type_text(program.operands[*target].scalar, Lanes::One);
                let name = parts_name(program, *target);
                format!("__global {constant}{ty}{pointer} {name}")
            }
        }
    }
}

/// The name of the counter of work-groups that have ended.
pub(super) fn finished_name(program: &Program) -> String {
    program.free_argument("finished")
}

/// The name of the counters of work-groups that go across lines of a length and have ended.
pub(super) fn columns_finished_name(program: &Program, length: usize) -> String {
    program.free_argument(&format!("columns_finished_{length}"))
}

/// The name of the distance of a matrix's lines.
pub(super) fn leading_name(operand: &Operand) -> String {
    format!("ld_{}", operand.name)
}

/// The name of the local memory in which the work-items of a line fold numbers of a type.
pub(super) fn cells_name(scalar: ScalarType) -> String {
    format!("cells_{}", scalar.rust_name())
}

/// The name of the local memory in which work-items fold parts of lines.
pub(super) fn strips_name(scalar: ScalarType) -> String {
    format!("strips_{}", scalar.rust_name())
}

/// The name of the buffer with the parts of lines that are folded to one.
pub(super) fn parts_name(program: &Program, target: usize) -> String {
    program.free_argument(&format!("parts_{}", program.operands[target].name))
}
