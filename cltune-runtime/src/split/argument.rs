//! What the caller of a split call passes: scalars and slices of host memory.

use crate::element::Element;

/// An argument of a split call, in the order of the Rust function.
#[derive(Debug)]
pub struct SplitArg<'a>(pub(super) Given<'a>);

#[derive(Debug)]
pub(super) enum Given<'a> {
    Scalar(&'a [u8]),
    /// Bytes that the kernel reads.
    Read(&'a [u8]),
    /// Bytes that the kernel writes.
    Written(&'a mut [u8]),
}

impl<'a> SplitArg<'a> {
    /// A scalar.
    pub fn scalar<T: Element>(value: &'a T) -> Self {
        Self(Given::Scalar(T::as_bytes(std::slice::from_ref(value))))
    }

    /// A slice that the kernel reads.
    pub fn slice<T: Element>(values: &'a [T]) -> Self {
        Self(Given::Read(T::as_bytes(values)))
    }

    /// A slice that the kernel writes.
    pub fn slice_mut<T: Element>(values: &'a mut [T]) -> Self {
        Self(Given::Written(T::as_bytes_mut(values)))
    }
}
