//! Slices of elements as bytes.

use crate::element::Element;

/// The bytes of a slice.
pub(crate) fn bytes_of<T: Element>(slice: &[T]) -> &[u8] {
    // SAFETY: `Element` is sealed to numbers and arrays of them, without padding, so every byte is
    // initialised; the length is the slice's own in bytes.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// The bytes of a slice, to be overwritten.
pub(crate) fn bytes_of_mut<T: Element>(slice: &mut [T]) -> &mut [u8] {
    // SAFETY: as above; and every bit pattern is a value of a sealed `Element`.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}
