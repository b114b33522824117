//! Ranges of real numbers as the values of a parameter.

use crate::fraction::Fraction;
use std::fmt;

/// A range of real numbers: every `f64` from `first` to `last` is a value.
///
/// A search draws from [`len`](Self::len) of them, 65,537 unless the range holds fewer numbers.
/// These lie at equal distances on the range's [`Scale`], and each is rounded to the decimal digits
/// that the distance leaves meaning to, so that files and kernels have `0.3141` and not
/// `0.31410000000000005`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealRange {
    /// The least number, finite.
    pub first: Fraction,
    /// The greatest number, finite and no less than the least.
    pub last: Fraction,
    /// The scale on which a search sees the range.
    pub scale: Scale,
}

/// The scale on which the numbers that a search draws from lie at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Differences count.
    Linear,
    /// Ratios count: from 0.01 to 0.1 is as far as from 10 to 100. Both bounds are positive.
    Logarithmic,
}

/// The reason why two numbers are not the bounds of a range of real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RealRangeError {
    /// A bound is infinite or no number.
    #[error("a bound of a range of real numbers is finite")]
    NotFinite,
    /// No number lies in the range.
    #[error("this range is empty: its first number is greater than its last")]
    Empty,
    /// A bound has no logarithm.
    #[error("the bounds of a range on a logarithmic scale are positive")]
    NotPositive,
}

/// The distances between neighbours in a range that holds numbers enough.
const DISTANCES: u64 = 1 << 16;

/// With fewer numbers than this for each distance, rounding would move them onto each other. The
/// distances are then counted in numbers, which on so short a range lie at equal distances.
const NUMBERS_A_DISTANCE: u64 = 1 << 8;

/// A part of the distance between neighbours that rounding may move a number by, as a power of ten.
const ROUNDING: f64 = -1.0;

impl RealRange {
    /// The range from `first` to `last`, both included.
    ///
    /// # Errors
    /// [`RealRangeError`], where that is not a range with a finite length on this scale.
    pub fn new(first: f64, last: f64, scale: Scale) -> Result<Self, RealRangeError> {
        if !first.is_finite() || !last.is_finite() {
            return Err(RealRangeError::NotFinite);
        }
        if first > last {
            return Err(RealRangeError::Empty);
        }
        if scale == Scale::Logarithmic && first <= 0.0 {
            return Err(RealRangeError::NotPositive);
        }
        Ok(Self {
            first: Fraction::of(first),
            last: Fraction::of(last),
            scale,
        })
    }

    /// Whether a number is one of the range.
    pub fn contains(&self, value: Fraction) -> bool {
        (self.first..=self.last).contains(&value)
    }

    /// How many of its numbers a search draws from.
    pub fn len(&self) -> usize {
        // Saturates where a range was not made by `new`.
        usize::try_from(self.distances()).map_or(usize::MAX, |distances| distances + 1)
    }

    /// Whether no number lies in the range, which [`new`](Self::new) refuses.
    pub fn is_empty(&self) -> bool {
        self.first > self.last
    }

    /// The number at a position; `None` past the last.
    pub fn at(&self, position: usize) -> Option<Fraction> {
        let (position, distances) = (position as u64, self.distances());
        match position {
            0 => Some(self.first),
            _ if position == distances => Some(self.last),
            _ if position > distances => None,
            _ if self.is_short() => Some(self.counted(position, distances)),
            // The least numbers of all lie too far apart for small ratios.
            _ => Some(Fraction::of(self.rounded(position as f64)).max(self.after_first(position))),
        }
    }

    /// The part of the way from the first number to the last on the range's scale: 0 at the first,
    /// 1 at the last, and at any number beyond them the nearer of the two.
    pub fn part(&self, value: Fraction) -> f64 {
        let [first, last, at] = [self.first, self.last, value].map(|of| match self.scale {
            Scale::Linear => of.get(),
            Scale::Logarithmic => of.get().ln(),
        });
        // Halves, since the length of a range may be more than the largest number.
        let part = (0.5 * at - 0.5 * first) / (0.5 * last - 0.5 * first);
        if part.is_finite() {
            part.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    fn numbers(&self) -> u64 {
        self.last.code().abs_diff(self.first.code())
    }

    fn distances(&self) -> u64 {
        self.numbers().min(DISTANCES)
    }

    fn is_short(&self) -> bool {
        self.numbers() < DISTANCES * NUMBERS_A_DISTANCE
    }

    fn counted(&self, position: u64, distances: u64) -> Fraction {
        // The product has 41 bits at most.
        self.after_first(self.numbers() * position / distances)
    }

    /// The number that so many others separate from the first.
    fn after_first(&self, numbers: u64) -> Fraction {
        Fraction::from_code(self.first.code().wrapping_add_unsigned(numbers))
    }

    fn rounded(&self, position: f64) -> f64 {
        let after = position / DISTANCES as f64;
        let between = |first: f64, last: f64| first * (1.0 - after) + last * after;
        let (first, last) = (self.first.get(), self.last.get());
        match self.scale {
            Scale::Linear => {
                let distance = last / DISTANCES as f64 - first / DISTANCES as f64;
                round(between(first, last), distance.log10() + ROUNDING)
            }
            Scale::Logarithmic => {
                let ratio = (last.ln() - first.ln()) / DISTANCES as f64;
                let value = between(first.ln(), last.ln()).exp();
                round(value, value.log10() + ratio.log10() + ROUNDING)
            }
        }
    }
}

/// A number rounded to a multiple of the greatest power of ten whose exponent is not above
/// `exponent`: the number that the decimal digits mean, where these can be computed exactly.
fn round(value: f64, exponent: f64) -> f64 {
    /// Powers of ten up to this are exact.
    const MOST: f64 = 22.0;
    /// Integers up to this are exact.
    const EXACT: f64 = (1_u64 << 53) as f64;
    let exponent = exponent.floor();
    if exponent.abs() > MOST {
        return value;
    }
    let power = 10_f64.powi(exponent.abs() as i32);
    let multiple = if exponent < 0.0 {
        value * power
    } else {
        value / power
    };
    if multiple.abs() > EXACT {
        return value;
    }
    let multiple = multiple.round();
    if exponent < 0.0 {
        multiple / power
    } else {
        multiple * power
    }
}

/// `0.05 to 2.0`, with the scale where it is not linear.
impl fmt::Display for RealRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.first, self.last)?;
        match self.scale {
            Scale::Linear => Ok(()),
            Scale::Logarithmic => f.write_str(", on a logarithmic scale"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: f64, last: f64, scale: Scale) -> RealRange {
        RealRange::new(first, last, scale).unwrap()
    }

    fn numbers(range: &RealRange) -> Vec<f64> {
        let numbers = (0..).map_while(|position| range.at(position));
        numbers.map(Fraction::get).collect()
    }

    /// The longest text of a number.
    fn longest(numbers: &[f64]) -> usize {
        let texts = numbers
            .iter()
            .map(|number| Fraction::of(*number).to_string());
        texts.map(|text| text.len()).max().unwrap()
    }

    #[test]
    fn bounds_that_make_no_range_are_refused() {
        for (first, last, scale, error) in [
            (2.0, 1.0, Scale::Linear, RealRangeError::Empty),
            (f64::NAN, 1.0, Scale::Linear, RealRangeError::NotFinite),
            (0.0, f64::INFINITY, Scale::Linear, RealRangeError::NotFinite),
            (
                f64::NEG_INFINITY,
                0.0,
                Scale::Logarithmic,
                RealRangeError::NotFinite,
            ),
            (0.0, 1.0, Scale::Logarithmic, RealRangeError::NotPositive),
            (-2.0, -1.0, Scale::Logarithmic, RealRangeError::NotPositive),
        ] {
            assert_eq!(RealRange::new(first, last, scale), Err(error));
        }
    }

    #[test]
    fn numbers_ascend_from_bound_to_bound_in_every_range() {
        for (first, last) in [
            (0.05, 2.0),
            (-1.0, 1.0),
            (0.0, 1.0),
            (0.0, 5e-324),
            (1.0, 1.0),
            (1.0, 1.0 + 1e-11),
            (1.0, 1.0 + 1e-9),
            (1.0, 1.0 + 3e-9),
            (1.0, 1.0 + 1e-8),
            (-3e-320, 5e-318),
            (1e-300, 2e-300),
            (1e15, 1e300),
            (-1e16, 1e16),
            (f64::MIN, f64::MAX),
            (5e-324, f64::MAX),
        ] {
            let scales = [Scale::Linear, Scale::Logarithmic];
            for scale in scales
                .into_iter()
                .filter(|scale| *scale == Scale::Linear || first > 0.0)
            {
                let range = range(first, last, scale);
                let numbers = numbers(&range);
                assert_eq!(numbers.len(), range.len(), "{range}");
                assert_eq!((numbers[0], *numbers.last().unwrap()), (first, last));
                assert!(numbers.is_sorted_by(|a, b| a < b), "{range}");
                assert!(numbers.iter().all(|of| range.contains(Fraction::of(*of))));
            }
        }
    }

    #[test]
    fn numbers_lie_at_equal_distances_on_the_scale() {
        for (first, last, scale) in [
            (0.05, 2.0, Scale::Linear),
            (-7e7, 3e8, Scale::Linear),
            (f64::MIN, f64::MAX, Scale::Linear),
            (0.01, 100.0, Scale::Logarithmic),
            (1e-300, 1e300, Scale::Logarithmic),
        ] {
            let range = range(first, last, scale);
            assert_eq!(range.len(), 65_537);
            for (position, number) in numbers(&range).into_iter().enumerate() {
                let exact = position as f64 / 65_536.0;
                let part = range.part(Fraction::of(number));
                assert!((part - exact).abs() < 0.06 / 65_536.0, "{range}: {number}");
            }
        }
    }

    #[test]
    fn numbers_have_few_digits() {
        assert_eq!(
            longest(&numbers(&range(0.05, 2.0, Scale::Linear))),
            "1.000001".len()
        );
        assert_eq!(
            longest(&numbers(&range(0.0, 1e6, Scale::Linear))),
            "1000000.0".len()
        );
        let logarithmic = range(0.01, 100.0, Scale::Logarithmic);
        assert_eq!(longest(&numbers(&logarithmic)), "0.0100014".len());
    }

    #[test]
    fn parts_are_those_of_the_scale_and_end_at_the_bounds() {
        let linear = range(-1.0, 3.0, Scale::Linear);
        let logarithmic = range(0.01, 100.0, Scale::Logarithmic);
        for (range, number, part) in [
            (linear, 0.0, 0.25),
            (linear, -9.0, 0.0),
            (linear, 9.0, 1.0),
            (logarithmic, 1.0, 0.5),
            (logarithmic, -1.0, 0.0),
            (range(2.0, 2.0, Scale::Linear), 2.0, 0.0),
        ] {
            assert!(
                (range.part(Fraction::of(number)) - part).abs() < 1e-12,
                "{range}: {number}"
            );
        }
    }
}
