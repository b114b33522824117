//! Comparison of a configuration's results with the reference's.

use super::elements::pattern;
use super::elements::{distance, real, text};
use super::kept::Kept;
use super::outcome::{Different, WrongKind};
use super::tolerance::{Allowed, Norm};
use cltune_core::declaration::Tolerance;
use cltune_core::model::ScalarType;
use cltune_search::ready_threads;
use half::f16;
use rayon::prelude::*;

/// What the reference made of a draw: the bytes of one output, and how near others must come.
#[derive(Debug)]
pub(crate) struct Expected {
    bytes: Kept,
    allowed: Allowed,
    /// The L2 norm of the finite values.
    norm: Norm,
}

/// Why nothing can be compared with what the reference makes of a draw of another kind: the first such
/// element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    Nan(usize),
    /// It is infinite, or so near to it that another order of operations may be.
    Infinite(usize),
}

impl Expected {
    /// Takes the reference's output; each element accumulates so many terms. The index of a NaN
    /// that is not the poison's is an error: with it nothing could be verified.
    pub(crate) fn new(
        scalar: ScalarType,
        bytes: impl Into<Kept>,
        declared: &Tolerance,
        accumulates: Option<u64>,
    ) -> Result<Self, usize> {
        let bytes = bytes.into();
        let mut norm = Norm::default();
        for (index, element) in bytes.chunks_exact(scalar.size()).enumerate() {
            let Some(number) = real(scalar, element) else {
                break;
            };
            if number.is_nan() && element != pattern(scalar) {
                return Err(index);
            }
            if number.is_finite() {
                norm.add(number);
            }
        }
        let allowed = Allowed::new(scalar, declared, accumulates, norm.root_mean_square());
        Ok(Self {
            bytes,
            allowed,
            norm,
        })
    }

    /// Whether it is still what it was, as far as that is watched.
    pub(super) fn is_intact(&self) -> bool {
        self.bytes.is_intact()
    }

    /// The same of a draw of another kind of inputs; `usual` is the root mean square of what the reference makes of
    /// a random draw.
    pub(super) fn of_kind(
        scalar: ScalarType,
        bytes: impl Into<Kept>,
        declared: &Tolerance,
        accumulates: Option<u64>,
        usual: f64,
    ) -> Result<Self, Unfit> {
        let expected = Self::new(scalar, bytes, declared, accumulates).map_err(Unfit::Nan)?;
        let most = largest(scalar) / 4.0;
        let mut elements = expected.bytes.chunks_exact(scalar.size());
        let is_beyond = |element| real(scalar, element).is_some_and(|number| number.abs() > most);
        if !scalar.is_integer()
            && let Some(index) = elements.position(is_beyond)
        {
            return Err(Unfit::Infinite(index));
        }
        let own = expected.root_mean_square();
        Ok(Self {
            allowed: expected.allowed.of_kind(declared, own, usual),
            ..expected
        })
    }

    pub(super) fn root_mean_square(&self) -> f64 {
        self.norm.root_mean_square()
    }

    /// Whether others are nearer than a part of what is allowed.
    pub(super) fn is_nearer(&self, part: f64, scalar: ScalarType, others: &Self) -> bool {
        let narrow = Self {
            bytes: self.bytes.to_vec().into(),
            allowed: self.allowed.part(part),
            norm: self.norm,
        };
        narrow.passes(scalar, &others.bytes)
    }

    /// What the reference computes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How near each element must come.
    pub(super) fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// Whether the reference left all of a poisoned output unwritten.
    pub(super) fn is_unwritten(&self, scalar: ScalarType) -> bool {
        let mut elements = self.bytes.chunks_exact(scalar.size());
        !self.bytes.is_empty() && elements.all(|element| element == pattern(scalar))
    }

    /// What is wrong with a result, if anything. `poisoned`: the output held the poison before.
    pub(crate) fn compare(
        &self,
        scalar: ScalarType,
        found: &[u8],
        poisoned: bool,
    ) -> Option<WrongKind> {
        if self.passes(scalar, found) {
            return None;
        }
        let size = scalar.size();
        let len = self.bytes.len() / size;
        let mut wrong: Option<Place<'_>> = None;
        let mut farthest: Option<(f64, Place<'_>)> = None;
        let mut unwritten = None;
        let (mut wrong_count, mut unwritten_count) = (0, 0);
        let mut error = Norm::default();
        let mut largest: Option<(f64, Place<'_>)> = None;
        let elements = self.bytes.chunks_exact(size).zip(found.chunks_exact(size));
        for (index, (expected, found)) in elements.enumerate() {
            if expected == found {
                continue;
            }
            let place = (index, expected, found);
            if poisoned && found == pattern(scalar) {
                unwritten_count += 1;
                unwritten.get_or_insert(index);
                continue;
            }
            let Some(difference) = self.difference(scalar, expected, found) else {
                wrong_count += 1;
                wrong.get_or_insert(place);
                let distance = distance(scalar, expected, found);
                if farthest.is_none_or(|(most, _)| distance > most) {
                    farthest = Some((distance, place));
                }
                continue;
            };
            error.add(difference);
            if largest.is_none_or(|(most, _)| difference > most) {
                largest = Some((difference, place));
            }
        }
        if let Some(index) = unwritten {
            return Some(WrongKind::NeverWritten {
                index,
                count: unwritten_count,
                len,
            });
        }
        let show = |element: &[u8]| -> Box<str> {
            if poisoned && element == pattern(scalar) {
                "never written".into()
            } else {
                text(scalar, element).into()
            }
        };
        if let Some((index, expected, found)) = wrong {
            let most = farthest.map(|(_, (index, expected, found))| Different {
                index,
                expected: show(expected),
                found: show(found),
            });
            let most = most.filter(|most| most.index != index);
            let number = real(scalar, expected);
            return Some(WrongKind::Mismatch {
                index,
                expected: show(expected),
                found: show(found),
                allowed: number.map_or(0.0, |expected| self.allowed.bound(expected)),
                count: wrong_count,
                len,
                most: most.map(Box::new),
            });
        }
        let bound = self.allowed.norm?;
        let error = error.relative_to(&self.norm);
        let (_, (index, expected, found)) = largest.filter(|_| error > bound)?;
        Some(WrongKind::Norm {
            error: format!("{error:.1e}").into(),
            bound,
            index,
            expected: show(expected),
            found: show(found),
        })
    }

    /// Whether a result is certainly right. Most are, so this is quick: all cores, and no notes on what
    /// is wrong where.
    fn passes(&self, scalar: ScalarType, found: &[u8]) -> bool {
        match scalar {
            ScalarType::F32 => self.passes_as(found, |bytes| f64::from(f32::from_le_bytes(bytes))),
            ScalarType::F64 => self.passes_as(found, f64::from_le_bytes),
            ScalarType::F16 => self.passes_as(found, |bytes| f16::from_le_bytes(bytes).to_f64()),
            _ => is_same(&self.bytes, found),
        }
    }

    fn passes_as<const N: usize>(&self, found: &[u8], decode: fn([u8; N]) -> f64) -> bool {
        let (abs, rel) = self.allowed.bounds();
        ready_threads();
        let chunks = self.bytes.par_chunks(N * CHUNK);
        let squares = chunks
            .zip(found.par_chunks(N * CHUNK))
            .map(|(expected, found)| {
                let (mut far, mut squares) = (false, 0.0);
                let (expected, _) = expected.as_chunks::<N>();
                let (found, _) = found.as_chunks::<N>();
                for (expected, found) in expected.iter().zip(found) {
                    let same = expected == found;
                    let (expected, found) = (decode(*expected), decode(*found));
                    let difference = (found - expected).abs();
                    // Not a number is not near; neither is what is infinitely far.
                    let near = difference <= abs + rel * expected.abs() && difference <= f64::MAX;
                    let equal = same || expected == found;
                    far |= !(near || equal);
                    squares += if near { difference * difference } else { 0.0 };
                }
                (!far).then_some(squares)
            });
        let squares = squares.try_reduce(|| 0.0, |a, b| Some(a + b));
        squares.is_some_and(|squares| self.is_within_norm(squares, self.bytes.len() / N))
    }

    /// Whether so many elements with this sum of the squares of their differences are near enough
    /// together.
    pub(super) fn is_within_norm(&self, squares: f64, count: usize) -> bool {
        let error = Norm::of_squares(squares, count);
        let bound = self.allowed.norm;
        bound.is_none_or(|bound| error.relative_to(&self.norm) <= bound)
    }

    /// The difference of two elements that are near enough by themselves; `None` for others. Both
    /// infinite of one sign are equal; other infinities and every NaN are far.
    fn difference(&self, scalar: ScalarType, expected: &[u8], found: &[u8]) -> Option<f64> {
        let (expected, found) = (real(scalar, expected)?, real(scalar, found)?);
        if expected == found {
            return Some(0.0);
        }
        let difference = (found - expected).abs();
        let is_near = self
            .allowed
            .elements
            .is_none_or(|allowed| difference <= allowed.abs + allowed.rel * expected.abs());
        (is_near && expected.is_finite() && found.is_finite()).then_some(difference)
    }
}

/// The largest number of a floating-point type.
fn largest(scalar: ScalarType) -> f64 {
    match scalar {
        ScalarType::F16 => f16::MAX.to_f64(),
        ScalarType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// How many elements are compared at once.
const CHUNK: usize = 1 << 16;

/// Whether bytes are the same, on all cores.
pub(super) fn is_same(expected: &[u8], found: &[u8]) -> bool {
    ready_threads();
    expected.len() == found.len()
        && expected
            .par_chunks(16 * CHUNK)
            .zip(found.par_chunks(16 * CHUNK))
            .all(|(expected, found)| expected == found)
}

/// An element: its index, the reference's bytes and the bytes found.
type Place<'a> = (usize, &'a [u8], &'a [u8]);

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::declaration::{ElementTolerance, NormTolerance};
    use proptest::prelude::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    /// With the default tolerance.
    fn by_default(scalar: ScalarType, bytes: Vec<u8>) -> Result<Expected, usize> {
        Expected::new(scalar, bytes, &Tolerance::default(), None)
    }

    fn compare(expected: &[f32], found: &[f32]) -> Option<WrongKind> {
        let expected = by_default(ScalarType::F32, bytes(expected)).unwrap();
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
            allowed,
            count,
            len,
            most,
        } = wrong
        else {
            panic!("{wrong:?}")
        };
        assert_eq!((index, count, len), (1, 2, 3));
        assert_eq!((&*expected, &*found), ("2", "2.1"));
        // A ten thousandth of itself and of the root mean square.
        let rms = (14.0_f64 / 3.0).sqrt();
        assert!((allowed - 1e-4 * (2.0 + rms)).abs() < 1e-9);
        let most = most.unwrap();
        assert_eq!((most.index, &*most.found), (2, "4"));
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
            by_default(ScalarType::F32, bytes(&[1.0, f32::NAN])).unwrap_err(),
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
        let expected = by_default(ScalarType::I32, 7_i32.to_le_bytes().to_vec()).unwrap();
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

    /// With a norm alone.
    fn compare_norms(bound: f64, expected: &[f32], found: &[f32]) -> Option<WrongKind> {
        let declared = Tolerance {
            norm: Some(NormTolerance::Declared(bound)),
            ..Tolerance::default()
        };
        let expected = Expected::new(ScalarType::F32, bytes(expected), &declared, None).unwrap();
        expected.compare(ScalarType::F32, &bytes(found), true)
    }

    #[test]
    fn a_norm_is_about_the_whole_buffer() {
        // The error is 0.5, the reference's norm 5.
        let found = [3.0, 4.5, 0.0];
        assert_eq!(compare_norms(0.1, &[3.0, 4.0, 0.0], &found), None);
        let wrong = compare_norms(0.09, &[3.0, 4.0, 0.0], &found).unwrap();
        assert_eq!(
            wrong,
            WrongKind::Norm {
                error: "1.0e-1".into(),
                bound: 0.09,
                index: 1,
                expected: "4".into(),
                found: "4.5".into(),
            }
        );
        assert_eq!(compare_norms(0.0, &[0.0, 0.0], &[0.0, -0.0]), None);
        assert!(compare_norms(0.5, &[0.0, 0.0], &[0.0, 1e-30]).is_some());
    }

    #[test]
    fn no_norm_lets_pass_what_is_no_number_or_never_written() {
        for found in [f32::NAN, f32::INFINITY, poison()] {
            assert!(compare_norms(1e30, &[1.0, 2.0], &[1.0, found]).is_some());
        }
        assert_eq!(
            compare_norms(0.0, &[f32::INFINITY, 1.0], &[f32::INFINITY, 1.0]),
            None
        );
    }

    #[test]
    fn elements_and_norm_both_have_to_be_near() {
        let declared = Tolerance {
            elements: Some(ElementTolerance { rel: 0.0, abs: 1.0 }),
            norm: Some(NormTolerance::Declared(0.1)),
            accumulates: None,
        };
        let wrong = |expected: &[f32], found: &[f32]| {
            let expected = Expected::new(ScalarType::F32, bytes(expected), &declared, None);
            expected
                .unwrap()
                .compare(ScalarType::F32, &bytes(found), true)
        };
        assert_eq!(wrong(&[10.0], &[11.0]), None);
        assert!(matches!(
            wrong(&[100.0], &[102.0]),
            Some(WrongKind::Mismatch { .. })
        ));
        assert!(matches!(
            wrong(&[5.0], &[6.0]),
            Some(WrongKind::Norm { .. })
        ));
    }

    #[test]
    fn doubles_near_the_end_of_their_range_are_compared_like_others() {
        let of = |values: &[f64]| {
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        };
        let reference = by_default(ScalarType::F64, of(&[1e300, -1e300])).unwrap();
        let found: Vec<u8> = of(&[1e300, 1e300]);
        assert!(reference.compare(ScalarType::F64, &found, false).is_some());
        let found: Vec<u8> = of(&[1e300, -1.000_000_000_01e300]);
        assert_eq!(reference.compare(ScalarType::F64, &found, false), None);
    }

    #[test]
    fn an_output_of_which_nothing_is_written_is_recognised() {
        let unwritten = |values: &[f32]| {
            let expected = by_default(ScalarType::F32, bytes(values)).unwrap();
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
                by_default(ScalarType::I16, expected.to_le_bytes().to_vec()).unwrap();
            let wrong = reference.compare(ScalarType::I16, &found.to_le_bytes(), false);
            prop_assert_eq!(wrong.is_none(), expected == found);
        }
    }

    #[test]
    fn halves_have_their_own_tolerance() {
        let bits = |value: f32| f16::from_f32(value).to_le_bytes().to_vec();
        let expected = by_default(ScalarType::F16, bits(100.0)).unwrap();
        assert_eq!(expected.compare(ScalarType::F16, &bits(100.5), false), None);
        assert!(
            expected
                .compare(ScalarType::F16, &bits(110.0), false)
                .is_some()
        );
    }
}
