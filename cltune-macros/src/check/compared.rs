//! `compare` of an argument: the elements that are compared with the reference's.

use super::formulas::{self, Names, Scopes};
use crate::errors::Errors;
use crate::parse::{Argument, CompareSyntax};
use cltune_core::expr::{Formula, Fragment};
use cltune_core::model::{self, Access, ArgumentKind};
use cltune_formats::declaration::Compared;
use cltune_formats::formula::Type;
use syn::Expr;

/// The compared elements of a buffer.
pub(super) fn compared(
    argument: &Argument,
    access: Access,
    len: Option<&Formula>,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Compared {
    let Some((compare, span)) = &argument.options.compare else {
        return Compared::All;
    };
    if access == Access::Read {
        let name = &argument.name;
        let message = format!(
            "results are compared, and the kernel only reads `{name}`: leave `compare` out"
        );
        errors.add(*span, message);
        return Compared::All;
    }
    let CompareSyntax::Range(begin, end) = compare else {
        return Compared::None;
    };
    let names = Names::NoParameters("what is compared is the same for all configurations");
    let mut bound = |expr: &Option<Box<Expr>>, otherwise: Option<Formula>| match expr {
        Some(expr) => scopes.formula(expr, Type::Int, names, errors),
        None => otherwise,
    };
    let zero = Formula {
        text: "0".into(),
        program: Fragment::constant(0).finish(),
    };
    let (begin, end) = (bound(begin, Some(zero)), bound(end, len.cloned()));
    let (Some(begin), Some(end)) = (begin, end) else {
        return Compared::All;
    };
    let constants = (formulas::constant(&begin), formulas::constant(&end));
    if let (Some(Ok(first)), Some(Ok(after))) = constants
        && !(0 <= first && first < after)
    {
        errors.add(*span, format!("there are no elements {first}..{after}"));
    }
    Compared::Range { begin, end }
}

/// Refuses a declaration that compares nothing.
pub(super) fn compares_something(
    written: &[Argument],
    arguments: &[model::Argument],
    compared: &[Compared],
    errors: &mut Errors,
) {
    let results = arguments.iter().zip(compared);
    let mut results = results.filter(|(argument, _)| {
        matches!(argument.kind, ArgumentKind::Buffer { access, .. } if access != Access::Read)
    });
    let is_any = results.any(|(_, compared)| *compared != Compared::None);
    let mut compares = written
        .iter()
        .filter_map(|argument| argument.options.compare.as_ref());
    let none = compares.find(|(compare, _)| matches!(compare, CompareSyntax::None));
    if let Some((_, span)) = none.filter(|_| !is_any) {
        errors.add(
            *span,
            "this compares no result at all, so that every configuration would be right: compare \
             one buffer, or a range of it (`compare = 0..n`)",
        );
    }
}
