//! Memory that belongs to steps: scratch buffers and local memory.

use super::formulas::{self, Names, Scopes};
use super::identifiers::text;
use crate::errors::Errors;
use crate::parse::{LocalArg, NamedArray, element_type};
use cltune_core::expr::Formula;
use cltune_core::model::{self, ScalarType, Scratch};
use cltune_formats::formula::Type;
use syn::ext::IdentExt;
use syn::spanned::Spanned as _;

/// The scratch buffers of steps.
pub(super) fn scratch(
    syntax: &[NamedArray],
    names: Names,
    scopes: &Scopes,
    arguments: &[model::Argument],
    errors: &mut Errors,
) -> Vec<Scratch> {
    let mut found: Vec<Scratch> = Vec::new();
    for array in syntax {
        let NamedArray {
            name, element, len, ..
        } = array;
        let unraw = name.unraw();
        let is_argument = arguments.iter().any(|argument| unraw == *argument.name);
        let is_scratch = found.iter().any(|other| unraw == *other.name);
        let parameters = scopes.parameters().iter();
        let is_parameter = parameters.clone().any(|parameter| unraw == *parameter.name);
        if is_argument || is_scratch || is_parameter {
            let message = format!("the name `{name}` is taken; give the scratch buffer another");
            errors.add(name.span(), message);
            continue;
        }
        let element = errors.take(element_type(element));
        let formula = scopes.formula(len, Type::Int, names, errors);
        if let Some(Ok(elements)) = formula.as_ref().and_then(formulas::constant)
            && elements < 1
        {
            let message = format!("a scratch buffer has at least 1 element, not {elements}");
            errors.add(len.span(), message);
        }
        // The place is kept where something is wrong: steps name it all the same.
        found.push(Scratch {
            name: text(name),
            element: element.unwrap_or(ScalarType::F32.into()),
            len: formula.unwrap_or_else(nothing),
            zeros: array.zeros.is_some(),
        });
    }
    found
}

/// Reports local memory whose name is taken. That of a call (`is_own` is false) is compared with
/// the function's arguments elsewhere.
pub(super) fn check_locals(
    locals: &[LocalArg],
    is_own: bool,
    arguments: &[model::Argument],
    scratch: &[Scratch],
    errors: &mut Errors,
) {
    for local in locals.iter().map(|local| &local.array.name) {
        let mut arguments = arguments.iter();
        let is_argument = is_own && arguments.any(|argument| local.unraw() == *argument.name);
        if is_argument || scratch.iter().any(|other| local.unraw() == *other.name) {
            let message = format!("the name `{local}` is taken; give the local memory another");
            errors.add(local.span(), message);
        }
    }
}

/// What stands for a formula with a mistake, which was reported.
pub(super) fn nothing() -> Formula {
    Formula {
        text: "0".into(),
        program: cltune_core::expr::Fragment::constant(0).finish(),
    }
}
