//! Comparison of a configuration's results with the reference's.

use super::elements::pattern;
use super::elements::{distance, real, text};
use super::kept::Kept;
use super::outcome::{Different, WrongKind};
use super::tolerance::{Allowed, Norm};
use cltune_core::model::ScalarType;
use cltune_formats::declaration::Tolerance;
use cltune_search::ready_threads;
use half::{bf16, f16};
use rayon::prelude::*;
use std::ops::Range;

/// The reference's results for a draw: the bytes of one output, which of them are compared, and the
/// allowed difference.
#[derive(Debug)]
pub(crate) struct Expected {
    bytes: Kept,
    /// The components that are compared.
    compared: Range<usize>,
    allowed: Allowed,
    /// The L2 norm of the finite ones among them.
    norm: Norm,
    /// By how much integers may differ: the normalized ones of images are rounded numbers.
    units: f64,
}

/// Why nothing can be compared with what the reference makes of a draw of another kind: the first
/// such element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    Nan(usize),
    /// It is infinite, or so near to it that another order of operations may be.
    Infinite(usize),
}

impl Expected {
    /// Takes the reference's output, of which these components are compared; each accumulates so
    /// many terms. The index of a NaN that is not the poison's is an error: with it nothing could
    /// be verified.
    pub(crate) fn new(
        scalar: ScalarType,
        bytes: impl Into<Kept>,
        compared: Range<usize>,
        declared: &Tolerance,
        accumulates: Option<u64>,
    ) -> Result<Self, usize> {
        let bytes = bytes.into();
        let mut norm = Norm::default();
        let elements = part(&bytes, &compared, scalar).chunks_exact(scalar.size());
        for (index, element) in compared.clone().zip(elements) {
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
            compared,
            allowed,
            norm,
            units: 0.0,
        })
    }

    /// The same for integers that are rounded numbers, if they are: two neighbours may be the same
    /// number, computed in another order. What is declared of elements is in units of them.
    pub(crate) fn rounded(self, are_rounded: bool, declared: &Tolerance) -> Self {
        let declared = declared.elements.map_or(1.0, |elements| elements.abs);
        let units = if are_rounded { declared } else { 0.0 };
        Self { units, ..self }
    }

    /// The components that are compared.
    pub(super) fn compared(&self) -> &Range<usize> {
        &self.compared
    }

    /// The bytes that are compared.
    fn compared_bytes(&self, scalar: ScalarType) -> &[u8] {
        part(&self.bytes, &self.compared, scalar)
    }

    /// Whether it is still what it was, as far as that is watched.
    pub(super) fn is_intact(&self) -> bool {
        self.bytes.is_intact()
    }

    /// The same of a draw of another kind of inputs; `usual` is the root mean square of what the
    /// reference makes of a random draw.
    pub(super) fn of_kind(
        scalar: ScalarType,
        bytes: impl Into<Kept>,
        compared: Range<usize>,
        (declared, accumulates): (&Tolerance, Option<u64>),
        usual: f64,
    ) -> Result<Self, Unfit> {
        let expected =
            Self::new(scalar, bytes, compared, declared, accumulates).map_err(Unfit::Nan)?;
        let most = largest(scalar) / 4.0;
        let bytes = expected.compared_bytes(scalar);
        let mut elements = bytes.chunks_exact(scalar.size());
        let is_beyond = |element| real(scalar, element).is_some_and(|number| number.abs() > most);
        if !scalar.is_integer()
            && let Some(index) = elements.position(is_beyond)
        {
            return Err(Unfit::Infinite(expected.compared.start + index));
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
            compared: self.compared.clone(),
            allowed: self.allowed.part(part),
            norm: self.norm,
            units: self.units,
        };
        narrow.passes(scalar, others.compared_bytes(scalar))
    }

    /// The reference's result.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The allowed difference of each element.
    pub(super) fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// Whether the reference left all that is compared of a poisoned output unwritten.
    pub(super) fn is_unwritten(&self, scalar: ScalarType) -> bool {
        let bytes = self.compared_bytes(scalar);
        let mut elements = bytes.chunks_exact(scalar.size());
        !bytes.is_empty() && elements.all(|element| element == pattern(scalar))
    }

    /// The error in a result, if there is one: in the whole buffer. `poisoned`: the output held the
    /// poison before.
    pub(crate) fn compare(
        &self,
        scalar: ScalarType,
        found: &[u8],
        poisoned: bool,
    ) -> Option<WrongKind> {
        let found = part(found, &self.compared, scalar);
        if self.passes(scalar, found) {
            return None;
        }
        let (size, len) = (scalar.size(), self.compared.len());
        let mut wrong: Option<Place<'_>> = None;
        let mut farthest: Option<(f64, Place<'_>)> = None;
        let mut unwritten = None;
        let (mut wrong_count, mut unwritten_count) = (0, 0);
        let mut error = Norm::default();
        let mut largest: Option<(f64, Place<'_>)> = None;
        let expected = self.compared_bytes(scalar).chunks_exact(size);
        let elements = expected.zip(found.chunks_exact(size));
        for (index, (expected, found)) in self.compared.clone().zip(elements) {
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
                allowed: number.map_or(self.units, |expected| self.allowed.bound(expected)),
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

    /// Whether what is compared of a result is certainly right. Most are, so this is quick: all
    /// cores, and no notes on what is wrong where.
    fn passes(&self, scalar: ScalarType, found: &[u8]) -> bool {
        match scalar {
            ScalarType::F32 => {
                self.passes_as(scalar, found, |bytes| f32::from_le_bytes(bytes).into())
            }
            ScalarType::F64 => self.passes_as(scalar, found, f64::from_le_bytes),
            ScalarType::F16 => {
                self.passes_as(scalar, found, |bytes| f16::from_le_bytes(bytes).to_f64())
            }
            ScalarType::BF16 => {
                self.passes_as(scalar, found, |bytes| bf16::from_le_bytes(bytes).to_f64())
            }
            _ => is_same(self.compared_bytes(scalar), found) || self.is_rounded_to(scalar, found),
        }
    }

    /// Whether integers that are rounded numbers are near enough.
    fn is_rounded_to(&self, scalar: ScalarType, found: &[u8]) -> bool {
        let size = scalar.size();
        let expected = self.compared_bytes(scalar).chunks_exact(size);
        let mut pairs = expected.zip(found.chunks_exact(size));
        self.units > 0.0
            && pairs.all(|(expected, found)| distance(scalar, expected, found) <= self.units)
    }

    fn passes_as<const N: usize>(
        &self,
        scalar: ScalarType,
        found: &[u8],
        decode: fn([u8; N]) -> f64,
    ) -> bool {
        let (abs, rel) = self.allowed.bounds();
        ready_threads();
        let chunks = self.compared_bytes(scalar).par_chunks(N * CHUNK);
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
        squares.is_some_and(|squares| self.is_within_norm(squares, self.compared.len()))
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
        if scalar.is_integer() {
            let difference = distance(scalar, expected, found);
            return (difference <= self.units).then_some(difference);
        }
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

/// The bytes of some components of a buffer.
fn part<'a>(bytes: &'a [u8], components: &Range<usize>, scalar: ScalarType) -> &'a [u8] {
    let size = scalar.size();
    &bytes[components.start * size..components.end * size]
}

/// The largest number of a floating-point type.
fn largest(scalar: ScalarType) -> f64 {
    match scalar {
        ScalarType::F16 => f16::MAX.to_f64(),
        ScalarType::BF16 => bf16::MAX.to_f64(),
        ScalarType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// The number of elements that are compared at once.
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
#[path = "../../tests/unit/tuning_verify.rs"]
mod tests;
