//! Comparing a configuration's results with the reference's.

use super::fill::value;
use super::outcome::WrongKind;
use super::poison::pattern;
use cltune_core::declaration::Tolerance;
use cltune_core::model::ScalarType;

/// The tolerance for an output that declares none, given the root mean square `rms` of the
/// reference's values. Relative 1e-4 for `f32` (about 1,000 roundings of a unit in the last
/// place, enough for sums of thousands of products in another order), 1e-10 for `f64`, 1e-2 for
/// `f16`; the absolute part is the same fraction of `rms`, since values near zero in a sum carry
/// the errors of its large terms. Zero for integers, which are compared exactly.
pub fn default_tolerance(scalar: ScalarType, rms: f64) -> Tolerance {
    let rel = match scalar {
        ScalarType::F16 => 1e-2,
        ScalarType::F32 => 1e-4,
        ScalarType::F64 => 1e-10,
        _ => 0.0,
    };
    Tolerance {
        rel,
        abs: rel * rms,
    }
}

/// What the reference made of a draw: the bytes of one output, and how near others must come.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) bytes: Vec<u8>,
    pub(super) tolerance: Tolerance,
}

impl Expected {
    /// Takes the reference's output. The index of a NaN that is not the poison's is an error: with
    /// it nothing could be verified.
    pub(super) fn new(
        scalar: ScalarType,
        bytes: Vec<u8>,
        declared: Option<Tolerance>,
    ) -> Result<Self, usize> {
        let mut squares = 0.0;
        let mut count = 0.0;
        if !scalar.is_integer() {
            for (index, element) in bytes.chunks_exact(scalar.size()).enumerate() {
                let number = value(scalar, element).0;
                if number.is_nan() {
                    if element != pattern(scalar) {
                        return Err(index);
                    }
                } else if number.is_finite() {
                    squares += number * number;
                    count += 1.0;
                }
            }
        }
        let rms = if count > 0.0 {
            f64::sqrt(squares / count)
        } else {
            0.0
        };
        let tolerance = declared
            .filter(|_| !scalar.is_integer())
            .unwrap_or_else(|| default_tolerance(scalar, rms));
        Ok(Self { bytes, tolerance })
    }

    /// What is wrong with a result, if anything. `poisoned`: the output held the poison before.
    pub(super) fn compare(
        &self,
        scalar: ScalarType,
        found: &[u8],
        poisoned: bool,
    ) -> Option<WrongKind> {
        let size = scalar.size();
        let len = self.bytes.len() / size;
        let mut wrong = None;
        let mut unwritten = None;
        let (mut wrong_count, mut unwritten_count) = (0, 0);
        let elements = self.bytes.chunks_exact(size).zip(found.chunks_exact(size));
        for (index, (expected, found)) in elements.enumerate() {
            if expected == found || self.is_near(scalar, expected, found) {
                continue;
            }
            if poisoned && found == pattern(scalar) {
                unwritten_count += 1;
                unwritten.get_or_insert(index);
            } else {
                wrong_count += 1;
                wrong.get_or_insert((index, expected, found));
            }
        }
        if let Some(index) = unwritten {
            return Some(WrongKind::NeverWritten {
                index,
                count: unwritten_count,
                len,
            });
        }
        let (index, expected, found) = wrong?;
        let text = |element: &[u8]| {
            if poisoned && element == pattern(scalar) {
                "never written".to_string()
            } else {
                value(scalar, element).1
            }
        };
        Some(WrongKind::Mismatch {
            index,
            expected: text(expected),
            found: text(found),
            count: wrong_count,
            len,
        })
    }

    fn is_near(&self, scalar: ScalarType, expected: &[u8], found: &[u8]) -> bool {
        if scalar.is_integer() {
            return false;
        }
        let (expected, found) = (value(scalar, expected).0, value(scalar, found).0);
        // Both infinite of one sign are equal; other infinities and every NaN are far.
        if expected == found {
            return true;
        }
        (found - expected).abs() <= self.tolerance.abs + self.tolerance.rel * expected.abs()
            && expected.is_finite()
            && found.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    fn compare(expected: &[f32], found: &[f32]) -> Option<WrongKind> {
        let expected = Expected::new(ScalarType::F32, bytes(expected), None).unwrap();
        expected.compare(ScalarType::F32, &bytes(found), true)
    }

    fn poison() -> f32 {
        f32::from_le_bytes(pattern(ScalarType::F32).try_into().unwrap())
    }

    #[test]
    fn near_values_pass_and_far_ones_show_the_first() {
        assert_eq!(compare(&[1.0, -2.0], &[1.000_01, -2.000_1]), None);
        let wrong = compare(&[1.0, 2.0, 3.0], &[1.0, 2.1, 4.0]).unwrap();
        let WrongKind::Mismatch {
            index,
            expected,
            found,
            count,
            len,
        } = wrong
        else {
            panic!("{wrong:?}")
        };
        assert_eq!((index, count, len), (1, 2, 3));
        assert_eq!((expected.as_str(), found.as_str()), ("2", "2.1"));
    }

    #[test]
    fn zeros_of_either_sign_and_equal_infinities_pass() {
        assert_eq!(compare(&[0.0, f32::INFINITY], &[-0.0, f32::INFINITY]), None);
        assert!(compare(&[f32::INFINITY], &[f32::NEG_INFINITY]).is_some());
        assert!(compare(&[f32::INFINITY], &[f32::MAX]).is_some());
        assert!(compare(&[1.0], &[f32::INFINITY]).is_some());
    }

    #[test]
    fn nan_never_passes() {
        assert!(compare(&[1.0], &[f32::NAN]).is_some());
        assert_eq!(
            Expected::new(ScalarType::F32, bytes(&[1.0, f32::NAN]), None).unwrap_err(),
            1
        );
    }

    #[test]
    fn what_was_never_written_is_told_from_what_is_wrong() {
        assert_eq!(
            compare(&[1.0, 2.0, 3.0], &[1.0, poison(), poison()]),
            Some(WrongKind::NeverWritten {
                index: 1,
                count: 2,
                len: 3
            })
        );
        assert_eq!(compare(&[1.0, poison()], &[1.0, poison()]), None);
        assert!(
            compare(&[1.0, poison()], &[1.0, 5.0]).is_some(),
            "written too much"
        );
    }

    #[test]
    fn integers_are_exact() {
        let expected = Expected::new(ScalarType::I32, 7_i32.to_le_bytes().to_vec(), None).unwrap();
        assert_eq!(
            expected.compare(ScalarType::I32, &7_i32.to_le_bytes(), false),
            None
        );
        assert!(
            expected
                .compare(ScalarType::I32, &8_i32.to_le_bytes(), false)
                .is_some()
        );
    }

    #[test]
    fn halves_have_their_own_tolerance() {
        let bits = |value: f32| half::f16::from_f32(value).to_le_bytes().to_vec();
        let expected = Expected::new(ScalarType::F16, bits(100.0), None).unwrap();
        assert_eq!(expected.compare(ScalarType::F16, &bits(100.5), false), None);
        assert!(
            expected
                .compare(ScalarType::F16, &bits(110.0), false)
                .is_some()
        );
    }
}
