//! The clause `split(…)` and what arguments say about it: who gets which part of what.

use super::device_limits;
use super::formulas::{self, Names, Scopes};
use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{Argument, ArgumentType, Assignment, Attribute, SplitSyntax};
use cltune_core::expr::Formula;
use cltune_core::model::{ArgumentKind, Model, ScalarType};
use cltune_core::split::{Division, Layout, Partition, Span as Positions};
use cltune_formats::formula::Type;
use proc_macro2::{Ident, Span};
use syn::Expr;
use syn::ext::IdentExt;

/// A dimension along which a tunable can be divided.
pub(crate) struct CheckedDivision {
    pub(crate) dimension: Ident,
    /// `None` where something is wrong, which was reported: users of the function get no further
    /// error.
    pub(crate) division: Option<Division>,
}

/// The divisions that are declared, in the clause's order.
pub(super) fn divisions(
    attribute: &Attribute,
    written: &[Argument],
    dimensions: &[Ident],
    scopes: &Scopes,
    errors: &mut Errors,
) -> Vec<CheckedDivision> {
    let no_clause = Vec::new();
    let clause = attribute
        .split
        .as_ref()
        .map_or(&no_clause, |clause| &clause.value);
    if let (Some(clause), []) = (&attribute.split, &**clause)
        && scopes.is_complete()
    {
        errors.add(
            clause.span,
            "`split` names the problem dimensions that are divided among devices, each with how many \
             positions one work-group covers, for example `split(n = WG)`",
        );
    }
    check_arguments(written, clause, scopes, errors);
    let mut divisions: Vec<CheckedDivision> = Vec::new();
    for Assignment { name, value } in clause {
        if divisions.iter().any(|other| other.dimension == *name) {
            errors.add(name.span(), format!("`{name}` is given twice; keep one"));
            continue;
        }
        let granule = value
            .as_ref()
            .and_then(|value| granule(value, scopes, errors));
        let position = dimensions.iter().position(|dimension| dimension == name);
        let arguments = if position.is_some() {
            partitions(written, name, scopes, errors)
        } else {
            if scopes.is_complete() {
                errors.add(name.span(), no_dimension(name, dimensions));
            }
            None
        };
        let position = position.and_then(|position| u16::try_from(position).ok());
        let division = match (position, granule, arguments) {
            (Some(dimension), Some(granule), Some(arguments)) => Some(Division {
                dimension,
                granule,
                arguments: arguments.into(),
            }),
            _ => None,
        };
        divisions.push(CheckedDivision {
            dimension: name.clone(),
            division,
        });
    }
    divisions
}

fn no_dimension(name: &Ident, dimensions: &[Ident]) -> String {
    let known: Vec<String> = dimensions
        .iter()
        .map(|dimension| dimension.unraw().to_string())
        .collect();
    let near = did_you_mean(&name.to_string(), known.iter().map(String::as_str));
    match &*known {
        [] => format!("`{name}` is no problem dimension; add it to `tune(…)`"),
        known => format!(
            "`{name}` is no problem dimension{near}; problem dimensions: {}",
            quoted(known)
        ),
    }
}

fn granule(value: &Expr, scopes: &Scopes, errors: &mut Errors) -> Option<Formula> {
    let formula = scopes.formula(value, Type::Int, Names::All, errors)?;
    if let Some(Ok(positions)) = formulas::constant(&formula)
        && positions < 1
    {
        let message = format!("a work-group covers at least 1 position, not {positions}");
        errors.push(syn::Error::new_spanned(value, message));
        return None;
    }
    Some(formula)
}

/// Every `split(…)` of an argument is about a divided dimension, and only one about each; the
/// argument is as long on every device.
fn check_arguments(
    written: &[Argument],
    clause: &[Assignment],
    scopes: &Scopes,
    errors: &mut Errors,
) {
    if !scopes.is_complete() {
        return;
    }
    for argument in written {
        if let (Some((len, _)), [_, ..]) = (&argument.options.len, &*argument.options.splits) {
            errors.take(same_on_all_devices(len));
        }
        for (position, split) in argument.options.splits.iter().enumerate() {
            let name = &split.dimension;
            let earlier = &argument.options.splits[..position];
            if earlier.iter().any(|other| other.dimension == *name) {
                let message = format!("`{name}` is given twice for this argument; keep one");
                errors.add(name.span(), message);
            }
            if clause.iter().any(|divided| divided.name == *name) {
                continue;
            }
            let divided = clause
                .iter()
                .map(|divided| divided.name.unraw().to_string());
            let divided: Vec<String> = divided.collect();
            let message = match &*divided {
                [] => format!(
                    "nothing is divided: add `split({name} = …)` to the attribute, with how many \
                     positions of `{name}` one work-group covers"
                ),
                divided => format!(
                    "`{name}` is not divided; the attribute's `split` names {}",
                    quoted(divided)
                ),
            };
            errors.add(name.span(), message);
        }
    }
}

/// What becomes of each argument of the kernel when `dimension` is divided; `None` where something
/// is wrong.
fn partitions(
    written: &[Argument],
    dimension: &Ident,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Option<Vec<Partition>> {
    let passed = written
        .iter()
        .filter(|argument| argument.options.host_only.is_none());
    // All of them first, so that every mistake is reported.
    let partitions: Vec<Option<Partition>> = passed
        .map(|argument| partition(argument, dimension, scopes, errors))
        .collect();
    partitions.into_iter().collect()
}

/// What becomes of an argument when `dimension` is divided; `None` where something is wrong.
fn partition(
    argument: &Argument,
    dimension: &Ident,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Option<Partition> {
    let name = &argument.name;
    let mut splits = argument.options.splits.iter();
    let split = splits.find(|split| split.dimension == *dimension);
    match (argument.kind?, split) {
        (ArgumentType::Scalar(_) | ArgumentType::Buffer { mutable: false, .. }, None) => {
            Some(Partition::Whole)
        }
        // Such a call is not divided, which was reported.
        (ArgumentType::Image(_), _) => None,
        (ArgumentType::Buffer { mutable: true, .. }, None) => {
            if !argument.options.is_wrong && scopes.is_complete() {
                let message = format!(
                    "the kernel writes `{name}`, so every device needs a part of its own: add \
                     `split({dimension})` to its `#[arg(…)]`"
                );
                errors.add(name.span(), message);
            }
            None
        }
        (ArgumentType::Scalar(element), Some(split)) => {
            let is_dimension = scopes
                .dimensions()
                .iter()
                .any(|other| name.unraw() == **other);
            let scalar = element.as_scalar();
            if !scalar.is_some_and(ScalarType::is_integer) || is_dimension {
                let message = format!(
                    "the first position of a share is added to a scalar with `split`, so it is an \
                     integer that is no problem dimension, which `{name}` is not"
                );
                errors.add(split.dimension.span(), message);
                return None;
            }
            if let Some((_, span)) = split.rows.as_ref().or(split.halo.as_ref()) {
                let message =
                    format!("`rows` and `halo` are for buffers, and `{name}` is a scalar");
                errors.add(*span, message);
                return None;
            }
            Some(Partition::Shifted)
        }
        (ArgumentType::Buffer { mutable, .. }, Some(split)) => {
            if let (Some((_, span)), true) = (&split.halo, mutable) {
                let message = format!(
                    "the kernel writes `{name}`: with a halo, two devices would write the same \
                     elements"
                );
                errors.add(*span, message);
                return None;
            }
            let mut value = |written: &Option<(Expr, Span)>| match written {
                None => Some(None),
                Some((expr, _)) => formula(expr, scopes, errors).map(Some),
            };
            let (rows, halo) = (value(&split.rows), value(&split.halo));
            Some(Partition::Parts {
                rows: rows?,
                halo: halo?,
            })
        }
    }
}

/// A formula that is the same on all devices.
fn formula(expr: &Expr, scopes: &Scopes, errors: &mut Errors) -> Option<Formula> {
    let names = Names::NoParameters("devices have different configurations");
    errors.take(same_on_all_devices(expr))?;
    scopes.formula(expr, Type::Int, names, errors)
}

/// An error where a formula about a divided argument uses a device's limits.
fn same_on_all_devices(expr: &Expr) -> syn::Result<()> {
    device_limits::same_on_all_devices(expr, |_| {
        "the argument is divided among several devices, which have different limits. Use problem dimensions \
         and integers"
            .to_owned()
    })
}

/// Whether the lengths of divided arguments are what the parts add up to, for the problems that are
/// tuned: those are known here.
pub(super) fn check_lengths(
    divisions: &[CheckedDivision],
    written: &[Argument],
    model: &Model,
    problems: &[Vec<i64>],
    errors: &mut Errors,
) {
    for CheckedDivision {
        dimension,
        division,
    } in divisions
    {
        let Some(division) = division else {
            continue;
        };
        let passed = model.arguments.iter().zip(&*division.arguments);
        for (argument, partition) in passed {
            let written = written
                .iter()
                .find(|other| other.name.unraw() == *argument.name);
            let split = written.and_then(|written| {
                let mut splits = written.options.splits.iter();
                splits.find(|split| split.dimension == *dimension)
            });
            let wrong = problems
                .iter()
                .find_map(|dims| mismatch(division, partition, &argument.kind, dims, model));
            if let (Some(split), Some(message)) = (split, wrong) {
                errors.add(place(split), message);
            }
        }
    }
}

/// The token that the length is compared with.
fn place(split: &SplitSyntax) -> Span {
    split.dimension.span()
}

/// Why parts do not add up for a problem, if so.
fn mismatch(
    division: &Division,
    partition: &Partition,
    kind: &ArgumentKind,
    dims: &[i64],
    model: &Model,
) -> Option<String> {
    let problem = model.describe_problem(dims);
    let layout = match division.layout(partition, kind, dims) {
        Ok(layout) => layout?,
        Err(error) => return Some(format!("for {problem}: {error}")),
    };
    let total = division.total(dims);
    let mut shares = [1, total / 2].into_iter().filter(|share| *share > 0);
    shares.find_map(|share| {
        let positions = Positions {
            start: 0,
            len: share,
        };
        let part = layout.part(positions).len();
        let of_share = division.layout(partition, kind, &division.share_dims(dims, share));
        let is_right = |layout: Option<Layout>| {
            layout.is_some_and(|layout| layout.part(positions).len() == part)
        };
        (!of_share.is_ok_and(is_right)).then(|| {
            format!(
                "for {problem}: a share of {share} gets {part} elements, but `len` says otherwise \
                 of a problem of that size"
            )
        })
    })
}
