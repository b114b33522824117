//! Lines of JSON, written without a library: the run time has no other use for one.

use cltune_core::model::ScalarType;
use std::fmt::Write;

/// A string with quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            // Writing to a String cannot fail.
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// The numbers of a line and its end. They always have the same length, so that they can be
/// replaced.
pub(super) fn totals(launches: u64, seconds: f64) -> String {
    format!("\"launches\":{launches:>20},\"seconds\":{seconds:>24.9}}}\n")
}

/// The value of a scalar; `None` for what JSON cannot write.
pub(super) fn number(scalar: ScalarType, bytes: &[u8]) -> Option<String> {
    fn finite(value: f64) -> Option<String> {
        value.is_finite().then(|| format!("{value:?}"))
    }
    macro_rules! integer {
        ($ty:ty) => {
            Some(<$ty>::from_ne_bytes(bytes.try_into().ok()?).to_string())
        };
    }
    match scalar {
        ScalarType::I8 => integer!(i8),
        ScalarType::U8 => integer!(u8),
        ScalarType::I16 => integer!(i16),
        ScalarType::U16 => integer!(u16),
        ScalarType::I32 => integer!(i32),
        ScalarType::U32 => integer!(u32),
        ScalarType::I64 => integer!(i64),
        ScalarType::U64 => integer!(u64),
        #[cfg(feature = "f16")]
        ScalarType::F16 => finite(half::f16::from_ne_bytes(bytes.try_into().ok()?).to_f64()),
        #[cfg(feature = "f16")]
        ScalarType::BF16 => finite(half::bf16::from_ne_bytes(bytes.try_into().ok()?).to_f64()),
        // No argument has these types without the feature.
        #[cfg(not(feature = "f16"))]
        ScalarType::F16 | ScalarType::BF16 => None,
        ScalarType::F32 => finite(f32::from_ne_bytes(bytes.try_into().ok()?).into()),
        ScalarType::F64 => finite(f64::from_ne_bytes(bytes.try_into().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_numbers_are_json() {
        assert_eq!(quoted("a \"b\" \\ \n ü"), r#""a \"b\" \\ \u000a ü""#);
        assert_eq!(
            number(ScalarType::I16, &(-3_i16).to_ne_bytes()).unwrap(),
            "-3"
        );
        assert_eq!(
            number(ScalarType::F32, &0.5_f32.to_ne_bytes()).unwrap(),
            "0.5"
        );
        assert_eq!(number(ScalarType::F64, &f64::NAN.to_ne_bytes()), None);
        #[cfg(feature = "f16")]
        {
            let of = |value: half::bf16| number(ScalarType::BF16, &value.to_ne_bytes());
            assert_eq!(of(half::bf16::from_f32(-2.5)).unwrap(), "-2.5");
            assert_eq!(of(half::bf16::INFINITY), None);
        }
        assert_eq!(number(ScalarType::F32, &[0; 8]), None);
    }

    #[test]
    fn totals_always_have_the_same_length() {
        let none = totals(0, 0.0);
        assert_eq!(totals(u64::MAX, 1e13).len(), none.len());
        assert_eq!(totals(7, 1e-9).len(), none.len());
    }
}
