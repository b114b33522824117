//! Vectors that begin at an offset of their buffer and have a stride, and matrices that begin at an
//! offset: their elements in the generated source.
//!
//! Work-items load several elements at once where all strides are 1, by the usual instruction where
//! the vector begins at a multiple of so many elements, and by `vload` elsewhere. A loop over
//! vectors decides that once. A loop over lines loads each operand by a function that decides for
//! it: the matrix, which is most of what is moved, is loaded as if no vector had a stride.

use super::program::{Operand, Program};
use super::value::{Lanes, Shape, type_text};
use cltune_core::model::ScalarType;
use std::collections::HashSet;
use std::fmt::Write as _;

/// An argument of the kernel by its name.
fn argument(name: &str) -> String {
    format!("{name}_")
}

/// The name of the index of a vector's first element.
fn first(operand: &Operand) -> String {
    format!("{}_first", operand.name)
}

/// The index of a single number in its buffer.
pub(super) fn place_of_number(operand: &Operand) -> String {
    match &operand.layout.offset {
        Some(offset) => argument(offset),
        None => "0".to_owned(),
    }
}

/// The lines before the loops over these operands: the indexes of first elements, and for
/// work-items that load several elements how many of such loads there are.
pub(super) fn before_loops(operands: &[&Operand]) -> Vec<String> {
    let operands = operands.iter();
    operands
        .map(|operand| first_declared(operand, "count"))
        .collect()
}

/// The declaration of the index of the first element of an operand with so many.
pub(super) fn first_declared(operand: &Operand, count: &str) -> String {
    let offset = operand.layout.offset.as_deref().map(argument);
    let offset = offset.map_or("0".to_owned(), |offset| format!("(long){offset}"));
    let from_end = match &operand.layout.stride {
        Some(stride) => {
            let stride = argument(stride);
            format!(" + ({stride} < 0 ? (1 - (long){count}) * (long){stride} : 0)")
        }
        None => String::new(),
    };
    format!("const long {} = {offset}{from_end};", first(operand))
}

/// Whether all strides of these operands are 1; `None` where none has a stride.
pub(super) fn are_one(operands: &[&Operand]) -> Option<String> {
    let strides = operands
        .iter()
        .filter_map(|operand| operand.layout.stride.as_deref())
        .map(|stride| format!("{} == 1", argument(stride)));
    let mut strides: Vec<String> = strides.collect();
    strides.dedup();
    (!strides.is_empty()).then(|| strides.join(" && "))
}

/// The lines before the loop over several elements.
pub(super) fn before_vectors(operands: &[&Operand]) -> Vec<String> {
    let vectors = match are_one(operands) {
        Some(condition) => format!("{condition} ? count / VW : 0"),
        None => "count / VW".to_owned(),
    };
    let firsts: Vec<String> = operands.iter().map(|operand| first(operand)).collect();
    vec![
        format!("const ulong vectors = {vectors};"),
        format!("const bool aligned = ({}) % VW == 0;", firsts.join(" | ")),
    ]
}

/// An element, at one position.
pub(super) fn element(operand: &Operand, name: &str, at: &str) -> String {
    let first = first(operand);
    match &operand.layout.stride {
        Some(stride) => format!("{name}[{first} + (long){at} * {}]", argument(stride)),
        None => format!("{name}[{first} + {at}]"),
    }
}

/// Where a matrix begins.
pub(super) fn beginning(operand: &Operand, name: &str) -> String {
    if operand.layout.is_plain() {
        return name.to_owned();
    }
    format!("({name} + {})", first(operand))
}

/// `VW` elements at the position in a loop over lines, or as many as there are where all lines are
/// folded to one. `line` is how far the line begins behind the first element.
pub(super) fn loaded_of_line(
    operand: &Operand,
    name: &str,
    line: Option<&str>,
    is_across: bool,
) -> String {
    let of_line = of_line(operand, name, line);
    let scalar = operand.scalar.opencl_name();
    if is_across {
        format!("LOADED_FROM({scalar}, {of_line})")
    } else {
        format!("loaded_{scalar}({of_line}, at)")
    }
}

/// The statement that stores them.
pub(super) fn stored_of_line(
    operand: &Operand,
    name: &str,
    line: Option<&str>,
    is_across: bool,
    register: &str,
) -> String {
    let of_line = of_line(operand, name, line);
    let scalar = operand.scalar.opencl_name();
    if is_across {
        format!("STORED_TO({scalar}, {of_line}, {register});")
    } else {
        format!("stored_{scalar}({of_line}, at, {register});")
    }
}

fn of_line(operand: &Operand, name: &str, line: Option<&str>) -> String {
    let first = first(operand);
    let line = line.map_or(String::new(), |line| format!(" + (long)({line})"));
    let stride = operand.layout.stride.as_deref();
    let stride = stride.map_or("1".to_owned(), argument);
    format!("{name}, {first}{line}, {stride}")
}

/// The functions that load and store elements of operands in loops over lines.
pub(super) fn functions(program: &Program) -> String {
    let operands = program.operands.iter().filter(|it| is_strided(it));
    let mut scalars: Vec<ScalarType> = operands.map(|it| it.scalar).collect();
    let mut seen: HashSet<ScalarType> = HashSet::new();
    scalars.retain(|scalar| seen.insert(*scalar));
    let mut text = String::new();
    for scalar in scalars {
        let (ty, scalar) = (type_text(scalar, Lanes::Cells), scalar.opencl_name());
        let _ = write!(
            text,
            "// VW elements of a vector or a line that begins anywhere.\n\
             {ty} loaded_{scalar}(__global const {scalar}* from, const long first, \
             const long stride, const ulong at) {{\n    \
             const long begin = first + (long)(at * VW) * stride;\n\
             #if VW > 1\n    \
             if (stride == 1 && (first & (VW - 1)) == 0) \
             return *(__global const {ty}*)(from + begin);\n    \
             if (stride == 1) return JOIN(vload, VW)(0, from + begin);\n    \
             {scalar} elements[VW];\n    \
             for (uint i = 0; i < VW; i++) elements[i] = from[begin + i * stride];\n    \
             return JOIN(vload, VW)(0, elements);\n\
             #else\n    \
             return from[begin];\n\
             #endif\n\
             }}\n\
             void stored_{scalar}(__global {scalar}* to, const long first, const long stride, \
             const ulong at, const {ty} value) {{\n    \
             const long begin = first + (long)(at * VW) * stride;\n\
             #if VW > 1\n    \
             if (stride == 1 && (first & (VW - 1)) == 0) {{\n        \
             *(__global {ty}*)(to + begin) = value;\n    \
             }} else if (stride == 1) {{\n        \
             JOIN(vstore, VW)(value, 0, to + begin);\n    \
             }} else {{\n        \
             {scalar} elements[VW];\n        \
             JOIN(vstore, VW)(value, 0, elements);\n        \
             for (uint i = 0; i < VW; i++) to[begin + i * stride] = elements[i];\n    \
             }}\n\
             #else\n    \
             to[begin] = value;\n\
             #endif\n\
             }}\n"
        );
    }
    text
}

/// The functions that load and store elements of a line whose last vector may be a part of one.
pub(super) fn part_functions(program: &Program) -> String {
    let operands = program.operands.iter();
    let mut scalars: Vec<ScalarType> = operands
        .filter(|it| it.shape != Shape::Number)
        .map(|it| it.scalar)
        .collect();
    let mut seen: HashSet<ScalarType> = HashSet::new();
    scalars.retain(|scalar| seen.insert(*scalar));
    let mut text = "#if TAIL\n".to_owned();
    for scalar in scalars {
        let (ty, scalar) = (type_text(scalar, Lanes::Cells), scalar.opencl_name());
        let _ = write!(
            text,
            "// Those of VW elements of a line that are there; the others are 0.\n\
             {ty} loaded_part_{scalar}(__global const {scalar}* from, const long first, \
             const long stride, const ulong at, const ulong length) {{\n    \
             const long begin = first + (long)(at * VW) * stride;\n    \
             if (stride == 1 && (at + 1) * VW <= length) \
             return JOIN(vload, VW)(0, from + begin);\n    \
             {scalar} elements[VW];\n    \
             for (uint i = 0; i < VW; i++) \
             elements[i] = at * VW + i < length ? from[begin + i * stride] : 0;\n    \
             return JOIN(vload, VW)(0, elements);\n\
             }}\n\
             void stored_part_{scalar}(__global {scalar}* to, const long first, const long stride, \
             const ulong at, const ulong length, const {ty} value) {{\n    \
             const long begin = first + (long)(at * VW) * stride;\n    \
             if (stride == 1 && (at + 1) * VW <= length) {{\n        \
             JOIN(vstore, VW)(value, 0, to + begin);\n        \
             return;\n    \
             }}\n    \
             {scalar} elements[VW];\n    \
             JOIN(vstore, VW)(value, 0, elements);\n    \
             for (uint i = 0; i < VW; i++) \
             if (at * VW + i < length) to[begin + i * stride] = elements[i];\n\
             }}\n"
        );
    }
    text.push_str("#endif\n");
    text
}

/// The lines that load several elements into a register.
pub(super) fn loaded(operand: &Operand, name: &str, register: &str) -> Vec<String> {
    let (ty, first) = (type_text(operand.scalar, Lanes::Many), first(operand));
    vec![
        format!("{ty} {register};"),
        format!("if (aligned) {register} = ((__global const {ty}*)({name} + {first}))[at];"),
        format!("else {register} = JOIN(vload, VW)(at, {name} + {first});"),
    ]
}

/// The lines that store several elements from a register. `stored` writes the statement that
/// stores a vector which lies at a multiple of its size.
pub(super) fn stored(
    operand: &Operand,
    name: &str,
    register: &str,
    stored: impl Fn(&str) -> String,
) -> Vec<String> {
    let (ty, first) = (type_text(operand.scalar, Lanes::Many), first(operand));
    let whole = stored(&format!("((__global {ty}*)({name} + {first}))[at]"));
    vec![
        format!("if (aligned) {whole}"),
        format!("else JOIN(vstore, VW)({register}, at, {name} + {first});"),
    ]
}

/// Whether an operand is a vector or a matrix that needs these lines.
pub(super) fn is_strided(operand: &Operand) -> bool {
    operand.shape != Shape::Number && !operand.layout.is_plain()
}
