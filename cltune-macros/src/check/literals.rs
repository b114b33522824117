//! Literals in the values of parameters.

use cltune_core::parameter::Fraction;
use syn::{Expr, Lit, LitFloat, UnOp};

pub(super) const MIXED: &str = "the values of a parameter are all integers, all numbers with a fraction (as \
                     `1.0`), all booleans or all names";

/// A literal of a floating-point number, and whether it has a minus sign.
pub(super) fn signed_float(expr: &Expr) -> Option<(&LitFloat, bool)> {
    match (ungrouped(expr), literal(expr)) {
        (Expr::Unary(unary), _) if matches!(unary.op, UnOp::Neg(_)) => {
            let (number, negative) = signed_float(&unary.expr)?;
            Some((number, !negative))
        }
        (_, Some(Lit::Float(number))) => Some((number, false)),
        _ => None,
    }
}

/// A finite number with a fraction.
pub(super) fn fraction(expr: &Expr) -> syn::Result<Fraction> {
    let Some((literal, negative)) = signed_float(expr) else {
        return Err(error(expr, MIXED));
    };
    if !literal.suffix().is_empty() {
        let digits = literal.base10_digits();
        let message = format!(
            "numbers with a fraction take no suffix here, write `{digits}`: the kernel gets a \
             literal of type `double`, and can say `(float)PARAMETER`"
        );
        return Err(error(expr, message));
    }
    match literal.base10_parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Fraction::of(if negative { -value } else { value })),
        _ => Err(error(expr, "this number is not finite")),
    }
}

pub(super) fn literal(expr: &Expr) -> Option<&Lit> {
    match ungrouped(expr) {
        Expr::Lit(literal) => Some(&literal.lit),
        _ => None,
    }
}

/// An expression without parentheses and without the invisible ones of `macro_rules!`.
pub(super) fn ungrouped(mut expr: &Expr) -> &Expr {
    loop {
        expr = match expr {
            Expr::Group(group) => &group.expr,
            Expr::Paren(paren) => &paren.expr,
            _ => return expr,
        }
    }
}

pub(super) fn is_path(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident(name))
}

pub(super) fn error(at: impl quote::ToTokens, message: impl std::fmt::Display) -> syn::Error {
    syn::Error::new_spanned(at, message)
}
