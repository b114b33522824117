//! The values of a parameter, or the sizes of a problem dimension.

use super::device_limits::{same_on_all_devices, uses_device_limits};
use super::identifiers::is_rust_identifier;
use super::literals::{MIXED, error, fraction, is_path, literal, signed_float, ungrouped};
use super::real_range::real_range;
use cltune_core::device::DeviceLimits;
use cltune_core::expr::{Env, EvalError, Formula};
use cltune_core::parameter::{Domain, Value, is_c_identifier};
use cltune_formats::formula::{Scope, Type};
use proc_macro2::Ident;
use std::collections::HashSet;
use std::hash::Hash;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, ExprRange, Lit, RangeLimits, Token};

const FORMS: &str = "expected values: `[1, 2, 4]`, `1..=8`, `(0..=64).step_by(16)`, \
                     `powers_of_two(8..=128)`, `[0.5, 1.0]`, `0.5..=2.0`, \
                     `logarithmic(0.01..=100.0)`, `[false, true]` or `[\"float\", \"half\"]`";

/// The domain that an expression describes, for the parameter of this name.
pub(super) fn domain(expr: &Expr, parameter: &Ident) -> syn::Result<Domain> {
    if let Expr::Array(array) = ungrouped(expr)
        && uses_device_limits(expr)
    {
        return per_device(&array.elems);
    }
    same_on_all_devices(expr, |limit| {
        format!(
            "of the values of a parameter only a list depends on the device, for example \
             `{parameter} = [32, {limit}]`. A range is the same on all devices; a constraint says which of \
             its values are possible on a device, for example `constraints({parameter} <= {limit})`"
        )
    })?;
    match ungrouped(expr) {
        Expr::Array(array) => match kind(array.elems.first()) {
            _ if array.elems.is_empty() => Err(error(expr, "a parameter needs at least one value")),
            Kind::Boolean => Ok(Domain::Booleans(distinct(&array.elems, boolean)?.into())),
            Kind::Name => {
                let names = distinct(&array.elems, name)?;
                Ok(Domain::Names(names.into_iter().map(Into::into).collect()))
            }
            Kind::Fraction => Ok(Domain::Fractions(distinct(&array.elems, fraction)?.into())),
            Kind::Integer => Ok(Domain::Integers(
                distinct(&array.elems, listed_integer)?.into(),
            )),
        },
        _ => match real_range(expr) {
            Some(range) => Ok(Domain::Reals(range?)),
            None => not_too_many(integers(expr)?, expr),
        },
    }
}

/// A list of integers some of which depend on the device.
fn per_device(elements: &Punctuated<Expr, Token![,]>) -> syn::Result<Domain> {
    let mut formulas: Vec<Formula> = Vec::with_capacity(elements.len());
    for element in elements {
        if !matches!(kind(Some(element)), Kind::Integer) {
            return Err(error(element, MIXED));
        }
        let formula = integer_formula(element)?;
        let is_constant = formula.program.limits().is_empty();
        let value = is_constant.then(|| constant(&formula));
        if let Some(Err(reason)) = value {
            return Err(error(
                element,
                format!("this integer has no value: {reason}"),
            ));
        }
        if let Some(Ok(value)) = value
            && value < 1
        {
            let message = "a value in a list that depends on the device is positive: any other is left out \
                           on every device";
            return Err(error(element, message));
        }
        if formulas.iter().any(|known| known.text == formula.text) {
            return Err(error(element, "this value is listed twice"));
        }
        formulas.push(formula);
    }
    Ok(Domain::PerDevice(formulas.into()))
}

fn not_too_many(domain: Domain, expr: &Expr) -> syn::Result<Domain> {
    let (len, most) = (domain.len(), Domain::MAX_LEN);
    if len > most {
        let message = format!("a parameter has at most {most} values, and these are {len}");
        return Err(error(expr, message));
    }
    Ok(domain)
}

/// Whether an expression has the form of several values.
pub(super) fn is_domain(expr: &Expr) -> bool {
    match ungrouped(expr) {
        Expr::Array(_) | Expr::Range(_) => true,
        Expr::MethodCall(call) => call.method == "step_by",
        Expr::Call(call) => is_path(&call.func, "powers_of_two"),
        _ => false,
    }
}

/// The domain of an expression that describes integers and uses no limits of a device.
pub(super) fn integers(expr: &Expr) -> syn::Result<Domain> {
    match ungrouped(expr) {
        Expr::Array(array) if array.elems.is_empty() => {
            Err(error(expr, "at least one value is needed"))
        }
        Expr::Array(array) => Ok(Domain::Integers(
            distinct(&array.elems, listed_integer)?.into(),
        )),
        Expr::Range(range) => {
            let (first, last) = bounds(range)?;
            let step = 1;
            Ok(Domain::Range { first, last, step })
        }
        Expr::MethodCall(call) if call.method == "step_by" && call.args.len() == 1 => {
            let (first, last) = bounds(inner_range(&call.receiver)?)?;
            let step = integer(&call.args[0])?;
            if step < 1 {
                return Err(error(&call.args[0], "the step must be at least 1"));
            }
            // The last value must be a member, so that the bounds describe the domain.
            let beyond = last.abs_diff(first) % step.unsigned_abs();
            let last = last.wrapping_sub_unsigned(beyond);
            Ok(Domain::Range { first, last, step })
        }
        Expr::Call(call) if is_path(&call.func, "powers_of_two") && call.args.len() == 1 => {
            let range = inner_range(&call.args[0])?;
            powers_of_two(range)
        }
        _ => Err(error(expr, FORMS)),
    }
}

/// An integer that is known when the macro runs: `64`, `1 << 20`. Callers have seen to it that the
/// expression uses no limits of a device.
pub(super) fn integer(expr: &Expr) -> syn::Result<i64> {
    // Lists of many literals are common, and formulas cost more.
    if let Expr::Lit(ExprLit {
        lit: Lit::Int(literal),
        ..
    }) = expr
        && literal.suffix().is_empty()
        && let Ok(value) = literal.base10_parse()
    {
        return Ok(value);
    }
    let formula = integer_formula(expr)?;
    constant(&formula).map_err(|reason| error(expr, format!("this integer has no value: {reason}")))
}

/// The value of a formula without names.
fn constant(formula: &Formula) -> Result<i64, EvalError> {
    formula.eval(&Env {
        params: &[],
        dims: &[],
        device: &DeviceLimits::default(),
    })
}

/// A formula without parameters and problem dimensions.
fn integer_formula(expr: &Expr) -> syn::Result<Formula> {
    cltune_formats::formula::from_syn(expr, &Scope::default(), Type::Int).map_err(|errors| {
        errors
            .into_iter()
            .map(syn::Error::from)
            .reduce(|mut all, next| {
                all.combine(next);
                all
            })
            .unwrap_or_else(|| error(expr, "expected an integer"))
    })
}

/// The code of an expression that must be a member of a parameter's domain.
pub(super) fn member(expr: &Expr, parameter: &Ident, domain: &Domain) -> syn::Result<i64> {
    let value = match kind(Some(expr)) {
        Kind::Boolean => Value::Bool(boolean(expr)?),
        Kind::Fraction => Value::Fraction(fraction(expr)?),
        Kind::Name => match literal(expr) {
            Some(Lit::Str(text)) => Value::Name(text.value().into()),
            _ => return Err(error(expr, MIXED)),
        },
        Kind::Integer => {
            same_on_all_devices(expr, |_| {
                format!(
                    "the default configuration is the same on all devices. Give one value of `{parameter}`; \
                     where a device cannot run the default, it gets the first configuration that it can"
                )
            })?;
            Value::Int(integer(expr)?)
        }
    };
    let code = domain.code(&value).filter(|code| domain.contains(*code));
    code.ok_or_else(|| {
        let shown = match &value {
            Value::Name(name) => format!("\"{name}\""),
            value => value.to_string(),
        };
        let which = match domain {
            Domain::PerDevice(_) => " on all devices",
            _ => "",
        };
        error(
            expr,
            format!("{shown} is not a value of the parameter `{parameter}`{which}"),
        )
    })
}

enum Kind {
    Integer,
    Fraction,
    Boolean,
    Name,
}

fn kind(expr: Option<&Expr>) -> Kind {
    match expr.and_then(literal) {
        Some(Lit::Bool(_)) => Kind::Boolean,
        Some(Lit::Str(_)) => Kind::Name,
        _ if expr.is_some_and(|expr| signed_float(expr).is_some()) => Kind::Fraction,
        _ => Kind::Integer,
    }
}

fn boolean(expr: &Expr) -> syn::Result<bool> {
    match literal(expr) {
        Some(Lit::Bool(value)) => Ok(value.value),
        _ => Err(error(expr, MIXED)),
    }
}

fn name(expr: &Expr) -> syn::Result<String> {
    let Some(Lit::Str(text)) = literal(expr) else {
        return Err(error(expr, MIXED));
    };
    let name = text.value();
    if !is_c_identifier(&name) {
        let message = format!(
            "{name:?} cannot be a named value: it is pasted into the kernel and names a macro, \
             so it consists of ASCII letters, digits and `_` and does not start with a digit"
        );
        return Err(error(expr, message));
    }
    if !is_rust_identifier(&name) {
        let message = format!("{name:?} cannot be a named value: it is a word of Rust");
        return Err(error(expr, message));
    }
    Ok(name)
}

fn listed_integer(expr: &Expr) -> syn::Result<i64> {
    match kind(Some(expr)) {
        Kind::Integer => integer(expr),
        Kind::Fraction | Kind::Boolean | Kind::Name => Err(error(expr, MIXED)),
    }
}

/// The values of all elements; a repeated one is an error at its second place.
fn distinct<T: Clone + Eq + Hash>(
    elements: &Punctuated<Expr, Token![,]>,
    value: impl Fn(&Expr) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    let mut seen = HashSet::with_capacity(elements.len());
    let mut values = Vec::with_capacity(elements.len());
    for element in elements {
        let value = value(element)?;
        if !seen.insert(value.clone()) {
            return Err(error(element, "this value is listed twice"));
        }
        values.push(value);
    }
    Ok(values)
}

fn bounds(range: &ExprRange) -> syn::Result<(i64, i64)> {
    let (Some(start), Some(end)) = (&range.start, &range.end) else {
        return Err(error(range, "this range needs both bounds, as `1..=8`"));
    };
    if let Expr::MethodCall(call) = &**end
        && call.method == "step_by"
    {
        let message = "a range with a step has parentheses: `(0..=64).step_by(16)`";
        return Err(error(range, message));
    }
    let first = integer(start)?;
    let end = integer(end)?;
    let last = match range.limits {
        RangeLimits::Closed(_) => Some(end),
        RangeLimits::HalfOpen(_) => end.checked_sub(1),
    };
    match last {
        Some(last) if last >= first => Ok((first, last)),
        _ => Err(error(range, "this range is empty")),
    }
}

fn powers_of_two(range: &ExprRange) -> syn::Result<Domain> {
    let (first, last) = bounds(range)?;
    // The end of a half-open range is not a member, and `8..129` would hide that 128 is the last.
    if let RangeLimits::HalfOpen(dots) = range.limits {
        return Err(error(dots, "write `..=`, so that both bounds are values"));
    }
    for (value, bound) in [(first, &range.start), (last, &range.end)] {
        if value < 1 || value.count_ones() != 1 {
            return Err(error(bound, format!("{value} is not a power of two")));
        }
    }
    Ok(Domain::PowersOfTwo { first, last })
}

fn inner_range(expr: &Expr) -> syn::Result<&ExprRange> {
    match ungrouped(expr) {
        Expr::Range(range) => Ok(range),
        _ => Err(error(expr, "expected a range, as `8..=128`")),
    }
}
