//! Numbers with a fraction as values of parameters.

use std::fmt;

/// A number with a fraction, by its code: an integer that is the larger the larger the number is.
/// Formulas and search spaces, which know integers only, thus compare such numbers as they are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fraction(i64);

impl Fraction {
    /// That of a floating-point number. Negative zero counts as zero; infinities and NaN have
    /// codes, but no parameter has them as values.
    pub const fn of(value: f64) -> Self {
        if value == 0.0 {
            return Self(0);
        }
        Self(ordered(value.to_bits() as i64))
    }

    /// That of a code.
    pub const fn from_code(code: i64) -> Self {
        Self(code)
    }

    /// The code.
    pub const fn code(self) -> i64 {
        self.0
    }

    /// The number.
    pub const fn get(self) -> f64 {
        f64::from_bits(ordered(self.0) as u64)
    }

    /// That of an integer, where no digit is lost.
    pub fn of_integer(value: i64) -> Option<Self> {
        let number = value as f64;
        // The conversion back saturates, so that 2^63 would come back as the largest integer.
        (number as i128 == i128::from(value)).then(|| Self::of(number))
    }
}

/// The bits of a number as an integer of the same order, and back: the bits of negative numbers
/// grow as the numbers fall.
const fn ordered(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// With a point or an exponent, as Rust, C, TOML and JSON read it back to the same number.
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

impl fmt::Debug for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [f64; 11] = [
        f64::MIN,
        -1e16,
        -2.0,
        -0.1,
        -5e-324,
        0.0,
        5e-324,
        0.1,
        1.0,
        1e16,
        f64::MAX,
    ];

    #[test]
    fn codes_have_the_order_of_the_numbers() {
        let codes: Vec<i64> = NUMBERS.iter().map(|n| Fraction::of(*n).code()).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        assert_eq!(Fraction::of(-0.0), Fraction::of(0.0));
    }

    #[test]
    fn codes_and_texts_lead_back_to_the_number() {
        for number in NUMBERS {
            let fraction = Fraction::of(number);
            assert_eq!(Fraction::from_code(fraction.code()).get(), number);
            let text = fraction.to_string();
            assert_eq!(text.parse(), Ok(number), "{text}");
            assert!(text.contains(['.', 'e']), "{text}");
        }
    }

    #[test]
    fn integers_are_fractions_where_no_digit_is_lost() {
        for (integer, number) in [
            (0, Some(0.0)),
            (-3, Some(-3.0)),
            (1 << 53, Some(9_007_199_254_740_992.0)),
        ] {
            assert_eq!(Fraction::of_integer(integer).map(Fraction::get), number);
        }
        for integer in [(1 << 53) + 1, i64::MAX] {
            assert_eq!(Fraction::of_integer(integer), None);
        }
    }
}
