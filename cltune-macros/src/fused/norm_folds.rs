//! The root of the sum of squares in the generated source, without overflow and underflow: large,
//! small and other values are summed apart, those of the first two after a multiplication (Blue
//! 1978; Anderson 2017). The thresholds leave room for 2^33 summands.

use super::folds::{Component, Folded, LocalLanes};
use super::value::{Lanes, type_text};
use cltune_core::model::ScalarType;

/// Powers of two of a type.
struct Powers {
    /// Values above are large.
    large: &'static str,
    /// By which large values are multiplied, and what takes that back.
    down: [&'static str; 2],
    /// Values below are small.
    small: &'static str,
    /// By which small values are multiplied, and what takes that back.
    up: [&'static str; 2],
    /// Sums of the other squares above it are too large to be multiplied with the squares of `up`,
    /// and so large that small ones hardly count.
    middle: &'static str,
}

const SINGLE: Powers = Powers {
    large: "0x1p46f",
    down: ["0x1p-82f", "0x1p82f"],
    small: "0x1p-63f",
    up: ["0x1p90f", "0x1p-90f"],
    middle: "0x1p-60f",
};

const DOUBLE: Powers = Powers {
    large: "0x1p486",
    down: ["0x1p-538", "0x1p538"],
    small: "0x1p-511",
    up: ["0x1p600", "0x1p-600"],
    middle: "0x1p-300",
};

const fn powers(scalar: ScalarType) -> Powers {
    match scalar {
        ScalarType::F64 => DOUBLE,
        _ => SINGLE,
    }
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
        down: [down, _],
        small,
        up: [up, _],
        ..
    } = powers(fold.scalar);
    let square = |factor: &str| format!("(new_{name} * {factor}) * (new_{name} * {factor})");
    vec![
        format!("const {ty} new_{name} = {value}, size_{name} = fabs(new_{name});"),
        format!(
            "{one}_{name}_big += size_{name} > ({ty})({large}) ? {} : ({ty})(0);",
            square(down)
        ),
        format!(
            "{one}_{name}_small += size_{name} < ({ty})({small}) ? {} : ({ty})(0);",
            square(up)
        ),
        format!(
            "{one}_{name} += (size_{name} > ({ty})({large})) || (size_{name} < ({ty})({small})) ? \
             ({ty})(0) : new_{name} * new_{name};"
        ),
    ]
}

pub(super) fn result(fold: &Folded<'_>) -> String {
    let Powers {
        down: [down, of_large],
        up: [up, of_small],
        middle,
        ..
    } = powers(fold.scalar);
    let names: Vec<String> = fold.lanes().into_iter().map(LocalLanes::name).collect();
    let (sum, big, little) = (&names[0], &names[1], &names[2]);
    format!(
        "{big}[0] > 0 ? sqrt({big}[0] + {sum}[0] * {down} * {down}) * {of_large} : \
         {sum}[0] > {middle} ? sqrt({sum}[0] + {little}[0] * {of_small} * {of_small}) : \
         sqrt({little}[0] + {sum}[0] * {up} * {up}) * {of_small}"
    )
}
