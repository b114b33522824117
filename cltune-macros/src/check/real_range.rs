//! Ranges of real numbers as the values of a parameter.

use super::literals::{error, fraction, is_path, literal, signed_float, ungrouped};
use cltune_core::parameter::{Fraction, RealRange, RealRangeError, Scale};
use syn::{Expr, ExprCall, ExprRange, Lit, RangeLimits, UnOp};

/// The range of real numbers that an expression describes; `None` where it has another form.
pub(super) fn real_range(expr: &Expr) -> Option<syn::Result<RealRange>> {
    match ungrouped(expr) {
        Expr::Range(range) if has_real_bound(range) => Some(between(range, Scale::Linear)),
        Expr::Call(call) if is_path(&call.func, "logarithmic") => Some(logarithmic(call)),
        Expr::MethodCall(call) if call.method == "step_by" => match ungrouped(&call.receiver) {
            Expr::Range(range) if has_real_bound(range) => Some(Err(error(
                &call.method,
                "a range of real numbers has no step: a search takes steps of every size. Leave it \
                 out, or list the values, as `[0.0, 0.5, 1.0]`",
            ))),
            _ => None,
        },
        _ => None,
    }
}

fn logarithmic(call: &ExprCall) -> syn::Result<RealRange> {
    match call.args.first().map(ungrouped) {
        Some(Expr::Range(range)) if call.args.len() == 1 => between(range, Scale::Logarithmic),
        _ => Err(error(
            call,
            "expected a range of positive numbers, as `logarithmic(0.01..=100.0)`",
        )),
    }
}

fn between(range: &ExprRange, scale: Scale) -> syn::Result<RealRange> {
    let (Some(start), Some(end)) = (&range.start, &range.end) else {
        let message = "this range is infinite; give both bounds, as `0.5..=2.0`";
        return Err(error(range, message));
    };
    let (first, last) = (bound(start)?, bound(end)?);
    if let RangeLimits::HalfOpen(dots) = range.limits {
        let message = "write `..=`: both bounds of a range of real numbers are values";
        return Err(error(dots, message));
    }
    RealRange::new(first, last, scale).map_err(|reason| match reason {
        RealRangeError::NotPositive => error(start, reason),
        _ => error(range, reason),
    })
}

/// Whether a bound is a floating-point number, or meant to be one: `f64::INFINITY`.
fn has_real_bound(range: &ExprRange) -> bool {
    let is_real = |bound: &Expr| {
        let constant = match unsigned(bound) {
            Expr::Path(path) => path
                .path
                .segments
                .iter()
                .any(|it| it.ident == "f32" || it.ident == "f64"),
            _ => false,
        };
        constant || signed_float(bound).is_some()
    };
    let bounds = [&range.start, &range.end];
    bounds.into_iter().flatten().any(|bound| is_real(bound))
}

fn bound(expr: &Expr) -> syn::Result<f64> {
    if signed_float(expr).is_some() {
        return fraction(expr).map(Fraction::get);
    }
    let Some(Lit::Int(integer)) = literal(unsigned(expr)) else {
        let message =
            "a bound of a range of real numbers is a finite number with a point, as `0.5`";
        return Err(error(expr, message));
    };
    let sign = match ungrouped(expr) {
        Expr::Unary(_) => "-",
        _ => "",
    };
    let digits = integer.base10_digits();
    let message =
        format!("the bounds of a range of real numbers have a point: write `{sign}{digits}.0`");
    Err(error(expr, message))
}

/// An expression without a minus sign.
fn unsigned(expr: &Expr) -> &Expr {
    match ungrouped(expr) {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => ungrouped(&unary.expr),
        expr => expr,
    }
}
