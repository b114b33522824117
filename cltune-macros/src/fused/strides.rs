//! Vectors that begin at an offset of their buffer and have a stride: their elements in the
//! generated source.
//!
//! Work-items load several elements at once where all strides are 1, by the usual instruction where
//! the vector begins at a multiple of so many elements, and by `vload` elsewhere.

use super::program::Operand;
use super::value::{Lanes, Shape, type_text};

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

/// The lines before the loops over these operands: the indexes of first elements, and for work-items
/// that load several elements how many of such loads there are.
pub(super) fn before_loops(operands: &[&Operand]) -> Vec<String> {
    let mut lines = Vec::new();
    for operand in operands {
        let offset = operand.layout.offset.as_deref().map(argument);
        let offset = offset.map_or("0".to_owned(), |offset| format!("(long){offset}"));
        let from_end = match &operand.layout.stride {
            Some(stride) => {
                let stride = argument(stride);
                format!(" + ({stride} < 0 ? (1 - (long)count) * (long){stride} : 0)")
            }
            None => String::new(),
        };
        lines.push(format!(
            "const long {} = {offset}{from_end};",
            first(operand)
        ));
    }
    lines
}

/// The lines before the loop over several elements.
pub(super) fn before_vectors(operands: &[&Operand]) -> Vec<String> {
    let strides = operands
        .iter()
        .filter_map(|operand| operand.layout.stride.as_deref())
        .map(|stride| format!("{} == 1", argument(stride)));
    let mut strides: Vec<String> = strides.collect();
    strides.dedup();
    let vectors = if strides.is_empty() {
        "count / VW".to_owned()
    } else {
        format!("{} ? count / VW : 0", strides.join(" && "))
    };
    let firsts: Vec<String> = operands.iter().map(|operand| first(operand)).collect();
    vec![
        format!("const ulong vectors = {vectors};"),
        format!("const bool aligned = ({}) % VW == 0;", firsts.join(" | ")),
    ]
}

/// An element, at one position.
pub(super) fn element(operand: &Operand, name: &str) -> String {
    let first = first(operand);
    match &operand.layout.stride {
        Some(stride) => format!("{name}[{first} + (long)at * {}]", argument(stride)),
        None => format!("{name}[{first} + at]"),
    }
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

/// The lines that store several elements from a register.
pub(super) fn stored(operand: &Operand, name: &str, register: &str) -> Vec<String> {
    let (ty, first) = (type_text(operand.scalar, Lanes::Many), first(operand));
    vec![
        format!("if (aligned) ((__global {ty}*)({name} + {first}))[at] = {register};"),
        format!("else JOIN(vstore, VW)({register}, at, {name} + {first});"),
    ]
}

/// Whether an operand is a vector that needs these lines.
pub(super) fn is_strided(operand: &Operand) -> bool {
    operand.shape != Shape::Number && !operand.layout.is_plain()
}
