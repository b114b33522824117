//! The clauses `tune(…)`: problem dimensions and the sizes to tune for.

use super::{device_limits, domain};
use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{Argument, ArgumentType, Assignment, Spanned};
use cltune_core::model::ScalarType;
use proc_macro2::Ident;
use syn::Expr;
use syn::ext::IdentExt;

/// Far more than anybody wants to tune for; reached by a product of ranges by mistake.
const MAX_PROBLEMS: usize = 4096;

/// The problem dimensions and the sizes to tune for.
pub(super) struct Problems {
    /// In the order of the function's arguments.
    pub(super) dimensions: Vec<Ident>,
    /// Each in the order of `dimensions`.
    pub(super) sizes: Vec<Vec<i64>>,
    /// Whether all dimensions are known: a name that is no argument may stand for one that is.
    pub(super) complete: bool,
}

/// The product of each clause's lists, and the union of the clauses.
pub(super) fn problems(
    clauses: &[Spanned<Vec<Assignment>>],
    arguments: &[Argument],
    grammatical: bool,
    errors: &mut Errors,
) -> Problems {
    let mut complete = true;
    for clause in clauses {
        complete &= check_names(clause, arguments, grammatical, errors);
    }
    let is_named = |name: &Ident| {
        let mut assignments = clauses.iter().flat_map(|clause| &clause.value);
        assignments.any(|assignment| assignment.name.unraw() == name.unraw())
    };
    let dimensions: Vec<&Argument> = arguments
        .iter()
        .filter(|argument| is_integer(argument.kind) && is_named(&argument.name))
        .collect();
    let mut sizes: Vec<Vec<i64>> = Vec::new();
    if clauses.is_empty() {
        sizes.push(Vec::new());
    }
    for clause in clauses {
        let Some(product) = product(clause, &dimensions, grammatical && complete, errors) else {
            continue;
        };
        for problem in product {
            if !sizes.contains(&problem) {
                sizes.push(problem);
            }
        }
    }
    Problems {
        dimensions: dimensions
            .iter()
            .map(|argument| argument.name.clone())
            .collect(),
        sizes,
        complete,
    }
}

fn is_integer(kind: Option<ArgumentType>) -> bool {
    let scalar = match kind {
        Some(ArgumentType::Scalar(element)) => element.as_scalar(),
        _ => None,
    };
    scalar.is_some_and(ScalarType::is_integer)
}

/// Whether every name is that of an argument.
fn check_names(
    clause: &Spanned<Vec<Assignment>>,
    arguments: &[Argument],
    grammatical: bool,
    errors: &mut Errors,
) -> bool {
    let mut complete = true;
    if clause.value.is_empty() && grammatical {
        errors.add(
            clause.span,
            "`tune` names the problem dimensions and their sizes, for example \
             `tune(n = [1 << 20])`",
        );
    }
    for (position, Assignment { name, .. }) in clause.value.iter().enumerate() {
        let earlier = &clause.value[..position];
        if earlier.iter().any(|other| other.name == *name) {
            let message = format!("`{name}` is given twice in this `tune`; keep one");
            errors.add(name.span(), message);
            continue;
        }
        let argument = arguments
            .iter()
            .find(|argument| argument.name.unraw() == name.unraw());
        match argument.map(|argument| argument.kind) {
            // Reported at the argument's type.
            Some(None) => {}
            Some(kind) if is_integer(kind) => {}
            Some(Some(_)) => errors.add(
                name.span(),
                format!("`{name}` is not an integer argument, so it cannot be a problem dimension"),
            ),
            // It may be an argument that could not be read.
            None if !grammatical => complete = false,
            None => {
                complete = false;
                let integers: Vec<String> = arguments
                    .iter()
                    .filter(|argument| is_integer(argument.kind))
                    .map(|argument| argument.name.unraw().to_string())
                    .collect();
                let near = did_you_mean(&name.to_string(), integers.iter().map(String::as_str));
                let known = match &*integers {
                    [] => "the function has no integer arguments".to_owned(),
                    integers => format!("integer arguments: {}", quoted(integers)),
                };
                let message = format!(
                    "the function has no argument `{name}` that could be a problem \
                     dimension{near}; {known}"
                );
                errors.add(name.span(), message);
            }
        }
    }
    complete
}

/// Every combination of a clause's sizes; `None` where something is wrong with them.
fn product(
    clause: &Spanned<Vec<Assignment>>,
    dimensions: &[&Argument],
    grammatical: bool,
    errors: &mut Errors,
) -> Option<Vec<Vec<i64>>> {
    let mut problems = vec![Vec::new()];
    let mut complete = true;
    for dimension in dimensions {
        let name = &dimension.name;
        let assignment = clause
            .value
            .iter()
            .find(|assignment| assignment.name.unraw() == name.unraw());
        let Some(assignment) = assignment else {
            if grammatical {
                let message = format!(
                    "this `tune` gives no size for `{name}`, which another `tune` makes a \
                     problem dimension"
                );
                errors.add(clause.span, message);
            }
            complete = false;
            continue;
        };
        let sizes = assignment.value.as_ref().and_then(|value| {
            let sizes = errors.take(sizes(value, dimension))?;
            if sizes.len().saturating_mul(problems.len()) > MAX_PROBLEMS {
                let message = format!("this `tune` asks for more than {MAX_PROBLEMS} problems");
                errors.push(syn::Error::new_spanned(value, message));
                return None;
            }
            Some(sizes)
        });
        let Some(sizes) = sizes else {
            complete = false;
            continue;
        };
        problems = problems
            .iter()
            .flat_map(|problem| {
                sizes.iter().map(|size| {
                    let mut problem: Vec<i64> = problem.clone();
                    problem.push(*size);
                    problem
                })
            })
            .collect();
    }
    complete.then_some(problems)
}

/// The sizes of one dimension: one integer, or several in the grammar of a parameter's values.
fn sizes(value: &Expr, dimension: &Argument) -> syn::Result<Vec<i64>> {
    device_limits::same_on_all_devices(value, |limit| {
        format!(
            "the sizes to tune for are the same for all devices. List every size that is of use on any of them, \
             and say in `tune_if` which of them are tuned for on a device, for example \
             `tune_if({} <= {limit})`",
            dimension.name
        )
    })?;
    let sizes: Vec<i64> = if domain::is_domain(value) {
        let domain = domain::integers(value)?;
        if domain.len() > MAX_PROBLEMS {
            let message = format!("these are more than {MAX_PROBLEMS} sizes to tune for");
            return Err(syn::Error::new_spanned(value, message));
        }
        domain.codes().collect()
    } else {
        vec![domain::integer(value)?]
    };
    let scalar = match dimension.kind {
        Some(ArgumentType::Scalar(element)) => element.as_scalar(),
        _ => None,
    };
    let Some(scalar) = scalar else {
        return Ok(sizes);
    };
    match sizes.iter().find(|size| !fits(**size, scalar)) {
        Some(size) => {
            let message = format!(
                "{size} does not fit into `{}`, the type of `{}`",
                scalar.rust_name(),
                dimension.name
            );
            Err(syn::Error::new_spanned(value, message))
        }
        None => Ok(sizes),
    }
}

/// Whether an integer is a value of an integer type.
pub(super) fn fits(value: i64, scalar: ScalarType) -> bool {
    match scalar {
        ScalarType::I8 => i8::try_from(value).is_ok(),
        ScalarType::U8 => u8::try_from(value).is_ok(),
        ScalarType::I16 => i16::try_from(value).is_ok(),
        ScalarType::U16 => u16::try_from(value).is_ok(),
        ScalarType::I32 => i32::try_from(value).is_ok(),
        ScalarType::U32 => u32::try_from(value).is_ok(),
        ScalarType::U64 => value >= 0,
        ScalarType::I64
        | ScalarType::F16
        | ScalarType::BF16
        | ScalarType::F32
        | ScalarType::F64 => true,
    }
}
