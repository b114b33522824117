//! Comparing a configuration's results with the reference's.

use super::outcome::WrongKind;
use super::poison::pattern;
use super::value::{real, text};
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
        for (index, element) in bytes.chunks_exact(scalar.size()).enumerate() {
            let Some(number) = real(scalar, element) else {
                break;
            };
            if number.is_nan() && element != pattern(scalar) {
                return Err(index);
            }
            if number.is_finite() {
                squares += number * number;
                count += 1.0;
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

    /// Whether the reference left all of a poisoned output unwritten.
    pub(super) fn is_unwritten(&self, scalar: ScalarType) -> bool {
        let mut elements = self.bytes.chunks_exact(scalar.size());
        !self.bytes.is_empty() && elements.all(|element| element == pattern(scalar))
    }

    /// What is wrong with a result, if anything. `poisoned`: the output held the poison before.
    pub(super) fn compare(
        &self,
        scalar: ScalarType,
        found: &[u8],
        poisoned: bool,
    ) -> Option<WrongKind> {
        if self.bytes == found {
            return None;
        }
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
        let show = |element: &[u8]| {
            if poisoned && element == pattern(scalar) {
                "never written".to_string()
            } else {
                text(scalar, element)
            }
        };
        Some(WrongKind::Mismatch {
            index,
            expected: show(expected),
            found: show(found),
            count: wrong_count,
            len,
        })
    }

    fn is_near(&self, scalar: ScalarType, expected: &[u8], found: &[u8]) -> bool {
        let (Some(expected), Some(found)) = (real(scalar, expected), real(scalar, found)) else {
            return false;
        };
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
    use proptest::prelude::*;

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
    fn denormals_count_as_the_numbers_they_are() {
        let tiny = f32::from_bits(1);
        assert_eq!(compare(&[tiny], &[tiny]), None);
        assert_eq!(compare(&[1.0, tiny], &[1.0, 0.0]), None, "flushed to zero");
        assert!(
            compare(&[tiny], &[0.0]).is_some(),
            "nothing larger to measure by"
        );
    }

    #[test]
    fn a_declared_tolerance_replaces_the_default_of_floats_and_not_of_integers() {
        let wide = Some(Tolerance { rel: 0.5, abs: 0.0 });
        let near = |scalar, expected: &[u8], found: &[u8]| {
            let expected = Expected::new(scalar, expected.to_vec(), wide).unwrap();
            expected.compare(scalar, found, false).is_none()
        };
        let bytes = f64::to_le_bytes;
        assert!(near(ScalarType::F64, &bytes(2.0), &bytes(3.0)));
        assert!(!near(ScalarType::F64, &bytes(2.0), &bytes(3.1)));
        assert!(!near(
            ScalarType::I32,
            &4_i32.to_le_bytes(),
            &5_i32.to_le_bytes()
        ));
    }

    #[test]
    fn an_output_of_which_nothing_is_written_is_recognised() {
        let unwritten = |values: &[f32]| {
            let expected = Expected::new(ScalarType::F32, bytes(values), None).unwrap();
            expected.is_unwritten(ScalarType::F32)
        };
        assert!(unwritten(&[poison(), poison()]));
        assert!(!unwritten(&[poison(), 0.0]));
        assert!(!unwritten(&[]), "nothing to write");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_result_without_nan_is_like_itself(values: Vec<f32>) {
            prop_assume!(values.iter().all(|value| !value.is_nan()));
            prop_assert_eq!(compare(&values, &values), None);
        }

        #[test]
        fn one_far_element_is_found_wherever_it_is(
            values in proptest::collection::vec(-1e3_f32..1e3, 1..50),
            at: prop::sample::Index,
            to_nan: bool,
        ) {
            let index = at.index(values.len());
            let mut found = values.clone();
            found[index] = if to_nan { f32::NAN } else { found[index] + 1e4 };
            let wrong = compare(&values, &found);
            let is_found = matches!(
                wrong,
                Some(WrongKind::Mismatch { index: first, count: 1, len, .. })
                    if first == index && len == values.len()
            );
            prop_assert!(is_found, "{:?}", wrong);
        }

        #[test]
        fn a_smaller_error_is_never_worse(
            expected in -1e6_f32..1e6,
            error in 0.0_f32..10.0,
            fraction in 0.0_f32..1.0,
        ) {
            let near = |error: f32| compare(&[expected], &[expected + error]).is_none();
            prop_assert!(!near(error) || near(error * fraction));
        }

        #[test]
        fn integers_pass_only_when_equal(expected: i16, found: i16) {
            let reference =
                Expected::new(ScalarType::I16, expected.to_le_bytes().to_vec(), None).unwrap();
            let wrong = reference.compare(ScalarType::I16, &found.to_le_bytes(), false);
            prop_assert_eq!(wrong.is_none(), expected == found);
        }
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
