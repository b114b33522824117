//! Slices of elements as bytes.

use crate::element::Element;
use cltune_core::model::StructType;

/// A struct that buffers hold and kernels take: `#[derive(KernelStruct)]` implements it, and
/// nothing else should.
///
/// # Safety
/// The type is `repr(C)` without padding, every bit pattern of its size is a value, and its layout
/// is `LAYOUT`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a buffer or an argument of a kernel",
    label = "a struct that does not derive `KernelStruct`",
    note = "derive it: `#[derive(Clone, Copy, Default, KernelStruct)] #[repr(C)]`"
)]
pub unsafe trait KernelStruct: Copy + Default + Send + Sync + 'static {
    /// The fields, as the host has them.
    const LAYOUT: &'static StructType;
}

/// The bytes of a slice.
pub(crate) fn bytes_of<T: Element>(slice: &[T]) -> &[u8] {
    // SAFETY: `Element` is sealed to numbers, arrays of them and `KernelStruct`s, all without
    // padding, so every byte is initialised; the length is the slice's own in bytes.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// The bytes of a slice, to be overwritten.
pub(crate) fn bytes_of_mut<T: Element>(slice: &mut [T]) -> &mut [u8] {
    // SAFETY: as above; and every bit pattern is a value of a sealed `Element`.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}
