//! Numbers in statements: whether the type that they take can hold them.

use super::value::{Kind, Type, Value, is_for_integers};
use crate::errors::fail;
use cltune_core::model::ScalarType;
use proc_macro2::Span;

/// The largest number of half precision.
const LARGEST_HALF: f64 = 65504.0;

/// A scalar type that statements compute with; refused at its token otherwise. Kernels that are made
/// of statements compute in the types of OpenCL C, and `bf16` is none of them.
pub(super) fn computable(scalar: ScalarType, span: Span) -> syn::Result<ScalarType> {
    if scalar == ScalarType::BF16 {
        let message = "statements do not compute with `bf16`: use `f32` or `f16`, or a `#[tunable]` whose \
                       kernel converts it";
        return fail(span, message);
    }
    Ok(scalar)
}

/// Refuses a number that its type does not hold, at its token.
pub(super) fn check(value: &Value) -> syn::Result<()> {
    match &value.kind {
        Kind::Literal(digits, span) => fits(digits, false, value.ty, *span),
        Kind::Unary("-", inner) => match &inner.kind {
            Kind::Literal(digits, span) => fits(digits, true, inner.ty, *span),
            _ => check(inner),
        },
        // Constants that became numbers of a type where they met one.
        Kind::Binary(operator, left, _)
            if is_for_integers(operator)
                && matches!(value.ty, Type::Number(scalar) if !scalar.is_integer()) =>
        {
            let span = left.literal().unwrap_or_else(Span::call_site);
            fail(span, format!("`{operator}` is for integers"))
        }
        _ => value.parts().into_iter().try_for_each(check),
    }
}

fn fits(digits: &str, is_negative: bool, ty: Type, span: Span) -> syn::Result<()> {
    let (Type::Number(scalar) | Type::Truth(scalar)) = ty else {
        return Ok(());
    };
    let sign = if is_negative { "-" } else { "" };
    let fits = if scalar.is_integer() {
        let number = format!("{sign}{digits}").parse::<i128>();
        let (least, most) = scalar.integers();
        let most = if scalar == ScalarType::U64 {
            i128::from(u64::MAX)
        } else {
            i128::from(most)
        };
        let least = i128::from(least);
        number.is_ok_and(|number| (least..=most).contains(&number))
    } else {
        match scalar {
            ScalarType::F16 => digits
                .parse()
                .is_ok_and(|number: f64| number <= LARGEST_HALF),
            // What is rounded to the largest number is one, as in Rust: `3.4028235e38`.
            ScalarType::F32 => digits.parse().is_ok_and(f32::is_finite),
            _ => digits.parse().is_ok_and(f64::is_finite),
        }
    };
    if fits {
        return Ok(());
    }
    let message = format!(
        "`{sign}{digits}` is no number of type `{}`",
        scalar.rust_name()
    );
    fail(span, message)
}
