//! Kinds of inputs that random draws hardly have, and a kernel may be wrong for.
//!
//! All are within the bounds of `fill = uniform(low, high)`; contents that are not random are the
//! same in every draw. Zeros and denormal numbers are among random ones, so that results keep a
//! size to compare them by.

use super::columns::{joined, random_of};
use super::fill::{generated, push, scalars, uniform};
use cltune_core::model::{ArgumentKind, ElementType, ScalarType};
use cltune_formats::declaration::{Declaration, Fill};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputKind {
    /// All are negative, of those arguments that can be.
    Negative,
    /// All are near the bound that is farther from zero, or it.
    Large,
    /// A quarter of the elements of buffers is zero.
    Zeros,
    /// A quarter of the elements of buffers is denormal: nearer to zero than normal numbers are.
    /// Devices may take them for zero.
    Denormal,
}

/// The value of a quarter of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    Zero,
    Denormal,
    /// The normal numbers next to zero.
    LeastNormal,
}

/// The values of a further draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Negative,
    Large,
    With(Special),
}

impl InputKind {
    /// In the order in which they are tried.
    const ALL: [Self; 4] = [Self::Negative, Self::Large, Self::Zeros, Self::Denormal];

    /// The kinds in which inputs of this declaration can be drawn besides at random.
    pub fn of(declaration: &Declaration) -> Vec<Self> {
        let kinds = Self::ALL.into_iter();
        let allowed = kinds.filter(|kind| {
            let arguments = declaration.model.arguments.iter();
            let mut pairs = arguments.zip(&declaration.fills);
            let is_possible = pairs.any(|(argument, fill)| match &argument.kind {
                ArgumentKind::Scalar { scalar, .. } => {
                    kind.values().apply_to_any(fill, *scalar, false)
                }
                ArgumentKind::Buffer { element, .. } => {
                    kind.values().apply_to_any(fill, *element, true)
                }
            });
            is_possible && (*kind != Self::Denormal || tells_denormals(declaration))
        });
        allowed.collect()
    }

    pub(super) fn values(self) -> Values {
        match self {
            Self::Negative => Values::Negative,
            Self::Large => Values::Large,
            Self::Zeros => Values::With(Special::Zero),
            Self::Denormal => Values::With(Special::Denormal),
        }
    }

    /// Whether all terms of a sum may have the same sign.
    pub(super) fn has_one_sign(self) -> bool {
        matches!(self, Self::Negative | Self::Large)
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Negative => "negative inputs",
            Self::Large => "inputs near their bounds",
            Self::Zeros => "zeros among the inputs",
            Self::Denormal => "denormal numbers among the inputs",
        })
    }
}

/// Whether a kernel that takes denormal numbers for zero can be told from one that is wrong: where
/// results are floating-point numbers that may differ by something.
fn tells_denormals(declaration: &Declaration) -> bool {
    let elements = declaration.tolerance.elements;
    let is_exact = elements.is_some_and(|elements| elements.abs == 0.0 && elements.rel == 0.0);
    let results = declaration.compared_elements();
    let mut leaves = results.flat_map(ElementType::leaves);
    let is_integer = leaves.any(|leaf| leaf.scalar.is_integer());
    // What a kernel prepares from them, such as their order, may differ though they are near zero.
    !is_exact && !is_integer && declaration.prepare.is_none()
}

impl Values {
    /// Whether any field of an argument's elements can have such values.
    fn apply_to_any(self, fill: &Fill, element: ElementType, is_buffer: bool) -> bool {
        let leaves = element.leaves();
        let mut leaves = leaves.iter();
        leaves.any(|leaf| self.apply(&fill.of_leaf(leaf), leaf.scalar, is_buffer))
    }

    /// Whether an argument with this fill can have such values. Scalars are never zero: what they
    /// are multiplied with would not show.
    fn apply(self, fill: &Fill, scalar: ScalarType, is_buffer: bool) -> bool {
        let Fill::Uniform { low, high } = *fill else {
            return false;
        };
        let below_zero = if scalar.is_integer() { -1.0 } else { 0.0 };
        fill.is_random()
            && match self {
                Self::Negative => low < 0.0 && low <= below_zero && high > 0.0,
                Self::Large => true,
                Self::With(Special::Zero) => is_buffer && low <= 0.0 && high >= 0.0,
                Self::With(_) => {
                    is_buffer && Tiny::of(scalar).is_some_and(|of| low <= 0.0 && high >= of.normal)
                }
            }
    }

    /// So many elements of an argument that is random; `None` where it cannot have such values. The
    /// random ones among them are the same whatever is `With` them.
    pub(super) fn elements(
        self,
        fill: &Fill,
        element: ElementType,
        len: usize,
        is_buffer: bool,
        random: &Pcg64Mcg,
    ) -> Option<Vec<u8>> {
        if let ElementType::Vector { scalar, lanes } = element {
            return self.scalars(fill, scalar, usize::from(lanes) * len, is_buffer, random);
        }
        if !self.apply_to_any(fill, element, is_buffer) {
            return None;
        }
        let leaves = element.leaves();
        let columns = leaves.iter().enumerate().map(|(at, leaf)| {
            let (fill, random) = (fill.of_leaf(leaf), random_of(random, at));
            let (scalar, count) = (leaf.scalar, leaf.count * len);
            self.scalars(&fill, scalar, count, is_buffer, &random)
                .unwrap_or_else(|| scalars(&fill, scalar, count, &random))
        });
        Some(joined(&leaves, &columns.collect::<Vec<_>>(), len))
    }

    /// The same of scalars.
    fn scalars(
        self,
        fill: &Fill,
        scalar: ScalarType,
        len: usize,
        is_buffer: bool,
        random: &Pcg64Mcg,
    ) -> Option<Vec<u8>> {
        let Fill::Uniform { low, high } = *fill else {
            return None;
        };
        if !self.apply(fill, scalar, is_buffer) {
            return None;
        }
        let bytes = generated(scalar, len, random, 2, |bytes, index, random| {
            let (unit, other): (f64, u64) = (random.random(), random.random());
            match self {
                Self::Negative => push(bytes, scalar, negative(scalar, low, unit)),
                Self::Large => {
                    // An eighth is the bound itself.
                    let unit = if other % 8 == 0 { 0.0 } else { unit };
                    push(bytes, scalar, large(scalar, low, high, unit));
                }
                // One of the elements at least.
                Self::With(special) if other % 4 == 0 || index == len / 2 => {
                    special.push(bytes, scalar, low, other >> 2);
                }
                Self::With(_) => push(bytes, scalar, uniform(scalar, low, high, unit)),
            }
        });
        Some(bytes)
    }
}

fn negative(scalar: ScalarType, low: f64, unit: f64) -> f64 {
    if scalar.is_integer() {
        uniform(scalar, low, -1.0, unit)
    } else {
        // Never zero.
        low * (1.0 - unit)
    }
}

/// Within a sixteenth of the span, where numbers still differ, so that their roundings do, too.
fn large(scalar: ScalarType, low: f64, high: f64, unit: f64) -> f64 {
    let width = (high - low) / 16.0;
    let distance = if scalar.is_integer() {
        (unit * (width + 1.0)).floor()
    } else {
        unit * width
    };
    if high.abs() >= low.abs() {
        high - distance
    } else {
        low + distance
    }
}

impl Special {
    fn push(self, bytes: &mut Vec<u8>, scalar: ScalarType, low: f64, random: u64) {
        let tiny = Tiny::of(scalar).filter(|_| self != Self::Zero);
        let Some(tiny) = tiny else {
            push(bytes, scalar, 0.0);
            return;
        };
        let denormals = (1 << tiny.mantissa) - 1;
        let magnitude = match self {
            Self::LeastNormal => denormals + 1,
            // The least and the largest of them often.
            _ => match random >> 1 & 3 {
                0 => 1,
                1 => denormals,
                _ => (random >> 3) % denormals + 1,
            },
        };
        let is_negative = low <= -tiny.normal && random & 1 == 1;
        let sign = u64::from(is_negative) << (8 * scalar.size() - 1);
        bytes.extend_from_slice(&(sign | magnitude).to_le_bytes()[..scalar.size()]);
    }
}

/// The numbers of a type next to zero.
struct Tiny {
    /// The least normal number.
    normal: f64,
    /// Bits of the mantissa.
    mantissa: u32,
}

impl Tiny {
    fn of(scalar: ScalarType) -> Option<Self> {
        let (exponent, mantissa) = match scalar {
            ScalarType::F16 => (-14, 10),
            ScalarType::BF16 => (-126, 7),
            ScalarType::F32 => (-126, 23),
            ScalarType::F64 => (-1022, 52),
            _ => return None,
        };
        Some(Self {
            normal: f64::powi(2.0, exponent),
            mantissa,
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tuning_kinds.rs"]
mod tests;
