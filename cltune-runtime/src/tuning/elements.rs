//! Elements of buffers: as numbers, as text, and as the bit patterns that outputs and the memory
//! around buffers hold before a run.

use cltune_core::model::{ElementType, ScalarType};
use half::{bf16, f16};
use std::borrow::Cow;

/// A floating-point element as a number, exactly; `None` for integers.
pub(super) fn real(scalar: ScalarType, bytes: &[u8]) -> Option<f64> {
    match scalar {
        ScalarType::F16 => Some(f16::from_le_bytes(first(bytes)).to_f64()),
        ScalarType::BF16 => Some(bf16::from_le_bytes(first(bytes)).to_f64()),
        ScalarType::F32 => Some(f64::from(f32::from_le_bytes(first(bytes)))),
        ScalarType::F64 => Some(f64::from_le_bytes(first(bytes))),
        _ => None,
    }
}

/// By how much two elements differ; infinite where one is no number, or infinite.
pub(super) fn distance(scalar: ScalarType, a: &[u8], b: &[u8]) -> f64 {
    if let (Some(a), Some(b)) = (real(scalar, a), real(scalar, b)) {
        let distance = (a - b).abs();
        return if distance.is_nan() {
            f64::INFINITY
        } else {
            distance
        };
    }
    // Wide enough for both 64-bit types.
    let whole = |bytes| text(scalar, bytes).parse::<i128>().unwrap_or(0);
    whole(a).abs_diff(whole(b)) as f64
}

/// An element as text: the shortest that reads back as the same value.
pub(super) fn text(scalar: ScalarType, bytes: &[u8]) -> String {
    match scalar {
        ScalarType::I8 => i8::from_le_bytes(first(bytes)).to_string(),
        ScalarType::U8 => u8::from_le_bytes(first(bytes)).to_string(),
        ScalarType::I16 => i16::from_le_bytes(first(bytes)).to_string(),
        ScalarType::U16 => u16::from_le_bytes(first(bytes)).to_string(),
        ScalarType::I32 => i32::from_le_bytes(first(bytes)).to_string(),
        ScalarType::U32 => u32::from_le_bytes(first(bytes)).to_string(),
        ScalarType::I64 => i64::from_le_bytes(first(bytes)).to_string(),
        ScalarType::U64 => u64::from_le_bytes(first(bytes)).to_string(),
        ScalarType::F16 => f16::from_le_bytes(first(bytes)).to_string(),
        ScalarType::BF16 => bf16::from_le_bytes(first(bytes)).to_string(),
        ScalarType::F32 => f32::from_le_bytes(first(bytes)).to_string(),
        ScalarType::F64 => f64::from_le_bytes(first(bytes)).to_string(),
    }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut first = [0; N];
    first.copy_from_slice(&bytes[..N]);
    first
}

/// One element that means "never written": for floating-point types a NaN with a payload that no
/// arithmetic produces, so that using it poisons the result; for integers a pattern.
pub(crate) fn pattern(scalar: ScalarType) -> &'static [u8] {
    match scalar {
        ScalarType::F16 => &[0x5A, 0x7E],
        ScalarType::BF16 => &[0xDA, 0x7F],
        ScalarType::F32 => &[0x5A, 0x5A, 0xDA, 0x7F],
        ScalarType::F64 => &[0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0xFA, 0x7F],
        integer => &[0x5A; 8][..integer.size()],
    }
}

/// One element that means "never written", each field of a struct for itself.
pub(crate) fn poison(element: ElementType) -> Cow<'static, [u8]> {
    if let ElementType::Vector { scalar, .. } = element {
        return Cow::Borrowed(pattern(scalar));
    }
    let leaves = element.leaves();
    let leaves = leaves.iter();
    let bytes = leaves.flat_map(|leaf| pattern(leaf.scalar).repeat(leaf.count));
    Cow::Owned(bytes.collect())
}

/// The scalar whose pattern lies around buffers of these elements, and in scratch memory of the
/// program's: of structs the first number with a fraction, where it fits.
pub(crate) fn filler(element: ElementType) -> ScalarType {
    let leaves = element.leaves();
    let mut scalars = leaves.iter().map(|leaf| leaf.scalar);
    match element {
        ElementType::Vector { scalar, .. } => scalar,
        ElementType::Struct(ty) => scalars
            .find(|scalar| !scalar.is_integer() && ty.size % scalar.size() == 0)
            .unwrap_or(ScalarType::U8),
    }
}

/// The index of the component that a byte of a buffer belongs to.
pub(super) fn component_at(element: ElementType, byte: usize) -> usize {
    let (size, leaves) = (element.size(), element.leaves());
    let (whole, byte) = (byte / size, byte % size);
    let of_element: usize = leaves.iter().map(|leaf| leaf.count).sum();
    let within: usize = leaves
        .iter()
        .take_while(|leaf| leaf.offset <= byte)
        .map(|leaf| leaf.count.min((byte - leaf.offset) / leaf.scalar.size()))
        .sum();
    whole * of_element + within
}

/// One element of what lies around buffers: not a number either, so that a read of it shows in the
/// result, and another one, so that it is not taken for an element that was never written.
pub(super) fn surroundings(scalar: ScalarType) -> &'static [u8] {
    match scalar {
        ScalarType::F16 => &[0x6B, 0x7E],
        ScalarType::BF16 => &[0xEB, 0x7F],
        ScalarType::F32 => &[0x6B, 0x6B, 0xEB, 0x7F],
        ScalarType::F64 => &[0x6B, 0x6B, 0x6B, 0x6B, 0x6B, 0x6B, 0xFB, 0x7F],
        integer => &[0x6B; 8][..integer.size()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_of_every_kind_read_back() {
        let i64_min = i64::MIN.to_le_bytes();
        assert_eq!(text(ScalarType::I64, &i64_min), "-9223372036854775808");
        assert_eq!(text(ScalarType::U64, &[0xFF; 8]), "18446744073709551615");
        assert_eq!(text(ScalarType::I8, &[0x80]), "-128");
        assert_eq!(text(ScalarType::F16, &f16::MAX.to_le_bytes()), "65504");
        assert_eq!(real(ScalarType::F16, &[1, 0]), Some(2.0_f64.powi(-24)));
        assert_eq!(text(ScalarType::BF16, &[0x80, 0x3F]), "1");
        assert_eq!(real(ScalarType::BF16, &[1, 0]), Some(2.0_f64.powi(-133)));
        assert_eq!(
            real(ScalarType::F32, &[1, 0, 0, 0]),
            Some(2.0_f64.powi(-149))
        );
        assert_eq!(real(ScalarType::U64, &[0; 8]), None);
    }

    #[test]
    fn distances_are_those_of_the_numbers() {
        assert_eq!(distance(ScalarType::U8, &[3], &[255]), 252.0);
        assert_eq!(distance(ScalarType::I8, &[3], &[255]), 4.0);
        assert_eq!(
            distance(ScalarType::U64, &[0; 8], &[255; 8]),
            2_f64.powi(64)
        );
        let of = |a: f32, b: f32| distance(ScalarType::F32, &a.to_le_bytes(), &b.to_le_bytes());
        assert_eq!(of(1.0, -2.5), 3.5);
        assert_eq!(of(f32::NAN, 1.0), f64::INFINITY);
        assert_eq!(of(f32::INFINITY, 1.0), f64::INFINITY);
    }

    #[test]
    fn floating_point_poison_is_nan() {
        for of in [pattern, surroundings] {
            let f32_bits: [u8; 4] = of(ScalarType::F32).try_into().unwrap();
            assert!(f32::from_le_bytes(f32_bits).is_nan());
            let f64_bits: [u8; 8] = of(ScalarType::F64).try_into().unwrap();
            assert!(f64::from_le_bytes(f64_bits).is_nan());
            let f16_bits: [u8; 2] = of(ScalarType::F16).try_into().unwrap();
            assert!(f16::from_le_bytes(f16_bits).is_nan());
            let bf16_bits: [u8; 2] = of(ScalarType::BF16).try_into().unwrap();
            assert!(bf16::from_le_bytes(bf16_bits).is_nan());
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
