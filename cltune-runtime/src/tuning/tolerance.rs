//! The allowed difference of results from the reference's.

use cltune_core::model::ScalarType;
use cltune_formats::declaration::{ElementTolerance, NormTolerance, Tolerance};

/// Roundings that one term may cost: built-in functions are exact to a few units in the last place
/// (OpenCL C 3.0, section 7.4: 3 for `exp`, 4 for `sin`), a product and a sum to one each.
const ROUNDINGS: f64 = 16.0;

/// The bound that follows from an element's type, as a fraction of what is compared.
///
/// - Of a result that accumulates `k` terms: `16 * u * sqrt(k)`, where `u` is the type's unit
///   roundoff (2^-24 for `f32`, 2^-53 for `f64`, 2^-11 for `f16`, 2^-8 for `bf16`). The errors of
///   sums in different orders grow with the root of the number of terms as long as roundings are
///   independent (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis, SIAM J.
///   Sci. Comput. 41(5), 2019), which random inputs see to.
/// - Where nothing is known of the kernel: 1e-4 for `f32` (about 1,700 units, sums of 10,000
///   terms), 1e-10 for `f64`, 1e-2 for `f16` and 8e-2 for `bf16` (20 units: sums are expected to be
///   in `f32`).
/// - 0 for integers.
pub fn default_bound(scalar: ScalarType, accumulates: Option<u64>) -> f64 {
    let unknown = match scalar {
        ScalarType::F16 => 1e-2,
        ScalarType::BF16 => 8e-2,
        ScalarType::F32 => 1e-4,
        ScalarType::F64 => 1e-10,
        _ => return 0.0,
    };
    let unit = unit_roundoff(scalar);
    accumulates.map_or(unknown, |terms| ROUNDINGS * unit * (terms as f64).sqrt())
}

/// By which part of itself a number is rounded, at most; 0 for integers.
pub(super) fn unit_roundoff(scalar: ScalarType) -> f64 {
    match scalar {
        ScalarType::F16 => f64::powi(2.0, -11),
        ScalarType::BF16 => f64::powi(2.0, -8),
        ScalarType::F32 => f64::powi(2.0, -24),
        ScalarType::F64 => f64::powi(2.0, -53),
        _ => 0.0,
    }
}

/// The tolerance of one buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Allowed {
    /// The bound on each element.
    pub(super) elements: Option<ElementTolerance>,
    /// The bound on the error's L2 norm, as a fraction of the reference's.
    pub(super) norm: Option<f64>,
}

impl Allowed {
    /// The meaning of a declaration for elements of a type, of which each accumulates so many
    /// terms, given the root mean square `rms` of the reference's values. It is the measure of the
    /// absolute part of a bound that is not declared: values near zero in a sum carry the errors of
    /// its large terms.
    pub(super) fn new(
        scalar: ScalarType,
        declared: &Tolerance,
        accumulates: Option<u64>,
        rms: f64,
    ) -> Self {
        if scalar.is_integer() {
            let (rel, abs) = (0.0, 0.0);
            return Self {
                elements: Some(ElementTolerance { rel, abs }),
                norm: None,
            };
        }
        let default = default_bound(scalar, accumulates);
        let norm = declared.norm.map(|norm| match norm {
            NormTolerance::Default => default,
            NormTolerance::Declared(bound) => bound,
        });
        let elements = match declared.elements {
            None if norm.is_none() => Some(ElementTolerance {
                rel: default,
                abs: default * rms,
            }),
            declared => declared,
        };
        Self { elements, norm }
    }

    /// The same for a draw of another kind, of whose results the reference's have the root mean
    /// square `rms`; `usual_rms` is that of a random draw. What is declared was found on those: an
    /// absolute bound grows with the results, and elements near zero, of which there may be more,
    /// are measured by the others.
    pub(super) fn of_kind(self, declared: &Tolerance, rms: f64, usual_rms: f64) -> Self {
        let growth = if usual_rms > 0.0 {
            rms / usual_rms
        } else {
            1.0
        };
        let widened = |allowed: ElementTolerance| ElementTolerance {
            abs: (allowed.abs * growth.max(1.0)).max(allowed.rel * rms),
            ..allowed
        };
        Self {
            elements: match declared.elements {
                Some(_) => self.elements.map(widened),
                None => self.elements,
            },
            norm: self.norm,
        }
    }

    /// A part of what is allowed.
    pub(super) fn part(self, part: f64) -> Self {
        Self {
            elements: self.elements.map(|allowed| ElementTolerance {
                rel: allowed.rel * part,
                abs: allowed.abs * part,
            }),
            norm: self.norm.map(|norm| norm * part),
        }
    }

    /// By how much an element may differ that should be `expected`; 0 where nothing else will do,
    /// or any number.
    pub(super) fn bound(&self, expected: f64) -> f64 {
        let bound = self
            .elements
            .map(|allowed| allowed.abs + allowed.rel * expected.abs());
        bound.filter(|bound| bound.is_finite()).unwrap_or(0.0)
    }

    /// The absolute and the relative part of the bound on each element; without one, any finite
    /// number is near.
    pub(super) fn bounds(&self) -> (f64, f64) {
        self.elements
            .map_or((f64::MAX, 0.0), |allowed| (allowed.abs, allowed.rel))
    }
}

/// The L2 norm of numbers that come one after the other, without overflow on the way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Norm {
    /// The largest magnitude.
    scale: f64,
    /// The sum of squares, in squares of the scale.
    squares: f64,
    count: f64,
}

impl Norm {
    /// Of so many numbers whose squares have this sum.
    pub(super) fn of_squares(squares: f64, count: usize) -> Self {
        Self {
            scale: if squares == 0.0 { 0.0 } else { 1.0 },
            squares,
            count: count as f64,
        }
    }

    pub(super) fn add(&mut self, number: f64) {
        let magnitude = number.abs();
        self.count += 1.0;
        if magnitude > self.scale {
            let ratio = self.scale / magnitude;
            self.squares = 1.0 + self.squares * ratio * ratio;
            self.scale = magnitude;
        } else if magnitude > 0.0 {
            let ratio = magnitude / self.scale;
            self.squares += ratio * ratio;
        }
    }

    /// The root mean square; 0 of nothing.
    pub(super) fn root_mean_square(&self) -> f64 {
        if self.scale == 0.0 {
            return 0.0;
        }
        self.scale * (self.squares / self.count).sqrt()
    }

    /// This norm as a fraction of another; infinite for a fraction of zero, but 0 for that of zero.
    pub(super) fn relative_to(&self, other: &Self) -> f64 {
        if self.scale == 0.0 {
            return 0.0;
        }
        (self.scale / other.scale) * (self.squares / other.squares).sqrt()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tuning_tolerance.rs"]
mod tests;
