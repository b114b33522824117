//! Kinds of inputs that random draws hardly have, and a kernel may be wrong for.
//!
//! All are within the bounds of `fill = uniform(low, high)`; contents that are not random are the same in
//! every draw. Zeros and denormal numbers are among random ones, so that results keep a size to compare
//! them by.

use super::fill::{generated, push, uniform};
use cltune_core::declaration::{Declaration, Fill};
use cltune_core::model::{Access, ArgumentKind, ScalarType};
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
    /// A quarter of the elements of buffers is denormal: nearer to zero than normal numbers are. Devices
    /// may take them for zero.
    Denormal,
}

/// What a quarter of the elements is.
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
                ArgumentKind::Scalar { scalar, .. } => kind.values().apply(fill, *scalar, false),
                ArgumentKind::Buffer { element, .. } => kind.values().apply(fill, *element, true),
                ArgumentKind::Local { .. } => false,
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

/// Whether a kernel that takes denormal numbers for zero can be told from one that is wrong: where results
/// are floating-point numbers that may differ by something.
fn tells_denormals(declaration: &Declaration) -> bool {
    let elements = declaration.tolerance.elements;
    let is_exact = elements.is_some_and(|elements| elements.abs == 0.0 && elements.rel == 0.0);
    let mut arguments = declaration.model.arguments.iter();
    let is_integer = arguments.any(|argument| match &argument.kind {
        ArgumentKind::Buffer {
            element, access, ..
        } => *access != Access::Read && element.is_integer(),
        _ => false,
    });
    !is_exact && !is_integer
}

impl Values {
    /// Whether an argument with this fill can have such values. Scalars are never zero: what they are multiplied
    /// with would not show.
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

    /// So many elements of an argument that is random; `None` where it cannot have such values. The random ones
    /// among them are the same whatever is `With` them.
    pub(super) fn elements(
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
mod tests {
    use super::super::elements::{real, text};
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    fn elements(values: Values, fill: &Fill, scalar: ScalarType, len: usize) -> Option<Vec<f64>> {
        let random = Pcg64Mcg::seed_from_u64(1);
        let bytes = values.elements(fill, scalar, len, true, &random)?;
        let numbers = bytes.chunks(scalar.size()).map(|element| {
            let exact = real(scalar, element);
            exact.unwrap_or_else(|| text(scalar, element).parse().unwrap())
        });
        Some(numbers.collect())
    }

    fn uniform(low: f64, high: f64) -> Fill {
        Fill::Uniform { low, high }
    }

    #[test]
    fn each_kind_is_what_it_says() {
        let fill = uniform(-1.0, 2.0);
        let of = |values| elements(values, &fill, ScalarType::F32, 1000).unwrap();
        assert!(of(Values::Negative).iter().all(|x| (-1.0..0.0).contains(x)));
        let large = of(Values::Large);
        assert!(large.iter().all(|x| (1.8125..=2.0).contains(x)));
        assert!(large.contains(&2.0));
        let count = |numbers: &[f64], is: fn(f64) -> bool| {
            let found = numbers.iter().filter(|number| is(**number));
            found.count()
        };
        let zeros = of(Values::With(Special::Zero));
        assert!((200..300).contains(&count(&zeros, |x| x == 0.0)));
        let denormal = of(Values::With(Special::Denormal));
        let is_denormal = |x: f64| x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE);
        let least = of(Values::With(Special::LeastNormal));
        // The others are the same in all three.
        for ((zero, denormal), least) in zeros.iter().zip(&denormal).zip(&least) {
            if *zero == 0.0 {
                assert!(is_denormal(*denormal), "{denormal}");
                assert_eq!(least.abs(), f64::from(f32::MIN_POSITIVE));
            } else {
                assert!(zero == denormal && zero == least);
            }
        }
        assert!(denormal.iter().any(|x| *x < 0.0 && is_denormal(*x)));
        assert!(denormal.contains(&f64::from(f32::from_bits(1))));
    }

    #[test]
    fn integers_have_no_denormals_and_reach_their_bounds() {
        let fill = uniform(-3.0, 40.0);
        let of = |values| elements(values, &fill, ScalarType::I8, 500);
        let has = |values, range: std::ops::RangeInclusive<i64>| {
            let numbers = of(values).unwrap();
            range.into_iter().all(|x| numbers.contains(&(x as f64)))
        };
        assert!(has(Values::Negative, -3..=-1));
        assert!(has(Values::Large, 38..=40));
        assert!(of(Values::Negative).unwrap().iter().all(|x| *x < 0.0));
        assert!(of(Values::Large).unwrap().iter().all(|x| *x >= 37.0));
        assert_eq!(of(Values::With(Special::Denormal)), None);
    }

    #[test]
    fn a_fill_that_does_not_allow_a_kind_has_none() {
        let of = |values, fill| elements(values, &fill, ScalarType::F32, 3);
        assert_eq!(of(Values::Negative, uniform(0.0, 1.0)), None);
        assert_eq!(of(Values::Negative, uniform(-2.0, -1.0)), None, "as usual");
        assert_eq!(of(Values::With(Special::Zero), uniform(1.0, 2.0)), None);
        assert_eq!(of(Values::Large, uniform(1.0, 1.0)), None, "not random");
        for fixed in [Fill::Iota, Fill::Zeros, Fill::Constant(1.0), Fill::None] {
            assert_eq!(of(Values::Large, fixed), None);
        }
        // Below zero only.
        let large = of(Values::Large, uniform(-9.0, 1.0)).unwrap();
        assert!(large.iter().all(|x| (-9.0..=-8.0).contains(x)), "{large:?}");
    }

    #[test]
    fn a_buffer_of_one_element_has_the_kind_too() {
        let zero = elements(
            Values::With(Special::Zero),
            &uniform(0.0, 1.0),
            ScalarType::F64,
            1,
        );
        assert_eq!(zero, Some(vec![0.0]));
    }

    proptest! {
        #[test]
        fn every_value_is_within_the_bounds(
            low in -1e3_f64..1e3, span in 1.0_f64..1e3, seed: u64, kind in 0_usize..4,
            type_at in 0..ScalarType::ALL.len(),
        ) {
            let scalar = ScalarType::ALL[type_at];
            // What is written in a declaration is a value of the type.
            let round = |x: f64| if scalar.is_integer() { x.round().clamp(-100.0, 100.0) } else { x.round() };
            let (low, high) = (round(low), round(low + span));
            let low = if text(scalar, &[0xFF; 8]).starts_with('-') || !scalar.is_integer() {
                low
            } else {
                low.max(0.0)
            };
            prop_assume!(low <= high);
            let random = Pcg64Mcg::seed_from_u64(seed);
            let values = InputKind::ALL[kind].values();
            let fill = Fill::Uniform { low, high };
            if let Some(bytes) = values.elements(&fill, scalar, 50, true, &random) {
                for element in bytes.chunks(scalar.size()) {
                    let number: f64 = text(scalar, element).parse().unwrap();
                    prop_assert!((low..=high).contains(&number), "{:?} {number}", values);
                }
            }
        }
    }
}
