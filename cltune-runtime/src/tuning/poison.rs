//! Bit patterns that outputs and what lies around buffers hold before a run.

use cltune_core::model::ScalarType;

/// One element that means «never written»: for floating-point types a NaN with a payload that no
/// arithmetic produces, so that using it poisons the result; for integers a pattern.
pub(crate) fn pattern(scalar: ScalarType) -> &'static [u8] {
    match scalar {
        ScalarType::F16 => &[0x5A, 0x7E],
        ScalarType::F32 => &[0x5A, 0x5A, 0xDA, 0x7F],
        ScalarType::F64 => &[0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0xFA, 0x7F],
        integer => &[0x5A; 8][..integer.size()],
    }
}

/// One element of what lies around buffers: not a number either, so that who reads it shows that in the result, and
/// another one, so that nobody takes it for an element that was never written.
pub(super) fn surroundings(scalar: ScalarType) -> &'static [u8] {
    match scalar {
        ScalarType::F16 => &[0x6B, 0x7E],
        ScalarType::F32 => &[0x6B, 0x6B, 0xEB, 0x7F],
        ScalarType::F64 => &[0x6B, 0x6B, 0x6B, 0x6B, 0x6B, 0x6B, 0xFB, 0x7F],
        integer => &[0x6B; 8][..integer.size()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floating_point_poison_is_nan() {
        for of in [pattern, surroundings] {
            let f32_bits: [u8; 4] = of(ScalarType::F32).try_into().unwrap();
            assert!(f32::from_le_bytes(f32_bits).is_nan());
            let f64_bits: [u8; 8] = of(ScalarType::F64).try_into().unwrap();
            assert!(f64::from_le_bytes(f64_bits).is_nan());
            let f16_bits: [u8; 2] = of(ScalarType::F16).try_into().unwrap();
            assert!(half::f16::from_le_bytes(f16_bits).is_nan());
        }
    }

    #[test]
    fn every_pattern_is_one_element() {
        for scalar in ScalarType::ALL {
            assert_eq!(pattern(*scalar).len(), scalar.size(), "{scalar:?}");
            assert_eq!(surroundings(*scalar).len(), scalar.size(), "{scalar:?}");
            assert_ne!(pattern(*scalar), surroundings(*scalar), "{scalar:?}");
        }
    }
}
