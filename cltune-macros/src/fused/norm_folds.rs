//! The root of the sum of squares in the generated source, without overflow and underflow: large,
//! small and other values are summed apart, those of the first two after a multiplication (Blue
//! 1978; Anderson 2017). The thresholds leave room for 2^33 summands.

use super::folded::{Component, Folded, LocalLanes};
use super::value::{Lanes, type_text};
use cltune_core::model::ScalarType;

/// Exponents of powers of two for a type.
pub(super) struct Powers {
    /// Values above are large.
    pub(super) large: i16,
    /// By which large values are multiplied.
    pub(super) down: i16,
    /// Values below are small.
    pub(super) small: i16,
    /// By which small values are multiplied.
    pub(super) up: i16,
    /// Sums of the other squares above it are too large to be multiplied with the squares of `up`,
    /// and so large that small ones hardly count.
    pub(super) middle: i16,
}

const SINGLE: Powers = Powers {
    large: 46,
    down: -82,
    small: -63,
    up: 90,
    middle: -60,
};

const DOUBLE: Powers = Powers {
    large: 486,
    down: -538,
    small: -511,
    up: 600,
    middle: -300,
};

pub(super) const fn powers(scalar: ScalarType) -> Powers {
    match scalar {
        ScalarType::F64 => DOUBLE,
        _ => SINGLE,
    }
}

/// A power of two in the source.
fn power(exponent: i16, scalar: ScalarType) -> String {
    let suffix = if scalar == ScalarType::F64 { "" } else { "f" };
    format!("0x1p{exponent}{suffix}")
}

pub(super) fn declared(fold: &Folded<'_>, lanes: Lanes) -> Vec<String> {
    let (ty, name) = (type_text(fold.scalar, lanes), fold.name);
    let one = match lanes {
        Lanes::Many | Lanes::Cells => "many",
        Lanes::One | Lanes::Wide => "one",
    };
    let components = fold.components().into_iter();
    components
        .map(|Component { suffix, .. }| format!("{ty} {one}_{name}{suffix} = ({ty})(0);"))
        .collect()
}

/// NaN is neither large nor small.
pub(super) fn accumulated(fold: &Folded<'_>, value: &str, lanes: Lanes) -> Vec<String> {
    let (ty, name) = (type_text(fold.scalar, lanes), fold.name);
    let one = match lanes {
        Lanes::Many | Lanes::Cells => "many",
        Lanes::One | Lanes::Wide => "one",
    };
    let Powers {
        large,
        down,
        small,
        up,
        ..
    } = powers(fold.scalar);
    let [large, down, small, up] =
        [large, down, small, up].map(|exponent| power(exponent, fold.scalar));
    let square = |factor: &str| format!("(new_{name} * {factor}) * (new_{name} * {factor})");
    vec![
        format!("const {ty} new_{name} = {value}, size_{name} = fabs(new_{name});"),
        format!(
            "{one}_{name}_big += size_{name} > ({ty})({large}) ? {} : ({ty})(0);",
            square(&down)
        ),
        format!(
            "{one}_{name}_small += size_{name} < ({ty})({small}) ? {} : ({ty})(0);",
            square(&up)
        ),
        format!(
            "{one}_{name} += (size_{name} > ({ty})({large})) || (size_{name} < ({ty})({small})) ? \
             ({ty})(0) : new_{name} * new_{name};"
        ),
    ]
}

pub(super) fn result(fold: &Folded<'_>) -> String {
    let Powers {
        down, up, middle, ..
    } = powers(fold.scalar);
    let [down, of_large, up, of_small, middle] =
        [down, -down, up, -up, middle].map(|exponent| power(exponent, fold.scalar));
    let names: Vec<String> = fold.lanes().into_iter().map(LocalLanes::name).collect();
    let (sum, big, little) = (&names[0], &names[1], &names[2]);
    format!(
        "{big}[0] > 0 ? sqrt({big}[0] + {sum}[0] * {down} * {down}) * {of_large} : \
         {sum}[0] > {middle} ? sqrt({sum}[0] + {little}[0] * {of_small} * {of_small}) : \
         sqrt({little}[0] + {sum}[0] * {up} * {up}) * {of_small}"
    )
}
