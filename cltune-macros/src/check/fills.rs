//! The clause `fill`: the data that the tuner fills arguments with.

use super::problems::fits;
use crate::errors::Errors;
use crate::parse::{ArgOptions, FillSyntax, Number};
use cltune_core::model::{Access, ElementType, ScalarType};
use cltune_formats::declaration::Fill;

/// The fill of a buffer: of each component, where the elements are vectors.
pub(super) fn fill(
    options: &ArgOptions,
    element: ElementType,
    access: Access,
    errors: &mut Errors,
) -> Fill {
    let Some((fill, span)) = &options.fill else {
        return match access {
            Access::Write => Fill::None,
            Access::Read | Access::ReadWrite => usual(element),
        };
    };
    if access == Access::Write {
        errors.add(
            *span,
            "an `out` argument is not filled: the tuner poisons it to see what the kernel does \
             not write",
        );
        return Fill::None;
    }
    match fill {
        FillSyntax::Zeros => Fill::Zeros,
        FillSyntax::Iota => Fill::Iota,
        FillSyntax::Prepared => Fill::Prepared,
        FillSyntax::Constant(value) => Fill::Constant(self::element(*value, element, errors)),
        FillSyntax::Uniform(low, high) => {
            let fill = Fill::Uniform {
                low: self::element(*low, element, errors),
                high: self::element(*high, element, errors),
            };
            if low.value > high.value {
                errors.add(high.span, "the upper bound is less than the lower one");
            }
            fill
        }
        FillSyntax::File(path) => {
            let text = path.value();
            if text.is_empty() || text.contains('\\') || text.starts_with('/') {
                errors.add(
                    path.span(),
                    "write the path of a file relative to the package, with `/`",
                );
            }
            Fill::File(text)
        }
    }
}

/// What an argument is filled with where nothing is said.
pub(super) fn usual(element: ElementType) -> Fill {
    match element.component() {
        None => Fill::ByType,
        Some(scalar) if scalar.is_integer() => Fill::INTEGERS,
        Some(_) => Fill::FLOATS,
    }
}

/// A number that must be a value of an element's type; of a struct's fields each takes the nearest
/// that it has.
pub(super) fn element(number: Number, element: ElementType, errors: &mut Errors) -> f64 {
    let Number { value, span } = number;
    let element = element.component().unwrap_or(ScalarType::F64);
    // Beyond 2^53 an f64 no longer holds every integer, so the conversion could change the value.
    let is_exact = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
    if element.is_integer() && !(is_exact && fits(value as i64, element)) {
        let message = format!("this is not a value of type `{}`", element.rust_name());
        errors.add(span, message);
    } else if !value.is_finite() {
        errors.add(span, "this number is too large");
    }
    value
}
