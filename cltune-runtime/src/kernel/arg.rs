//! Arguments of a call, borrowed for its length.

use crate::buffer::Buffer;
use crate::context::Context;
use crate::element::Element;
use crate::opencl::RawBuffer;

/// An argument of a call, in the order of the Rust function.
#[derive(Clone, Copy, Debug)]
pub struct Arg<'a>(pub(crate) Passed<'a>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed<'a> {
    Scalar(&'a [u8]),
    Buffer {
        raw: &'a RawBuffer,
        context: &'a Context,
        len: usize,
    },
}

impl<'a> Arg<'a> {
    /// A scalar.
    #[inline]
    pub fn scalar<T: Element>(value: &'a T) -> Self {
        Self(Passed::Scalar(T::as_bytes(std::slice::from_ref(value))))
    }

    /// A buffer that the kernel reads.
    #[inline]
    pub fn buffer<T: Element>(buffer: &'a Buffer<T>) -> Self {
        Self(Passed::Buffer {
            raw: buffer.raw(),
            context: buffer.context(),
            len: buffer.len(),
        })
    }

    /// A scalar of these bytes, in the device's order.
    pub(crate) fn bytes(bytes: &'a [u8]) -> Self {
        Self(Passed::Scalar(bytes))
    }

    /// The beginning of a buffer as `len` elements of any type.
    pub(crate) fn part(buffer: &'a Buffer<u8>, len: usize) -> Self {
        Self(Passed::Buffer {
            raw: buffer.raw(),
            context: buffer.context(),
            len,
        })
    }

    /// The bytes of a scalar.
    pub(crate) fn as_scalar(&self) -> Option<&[u8]> {
        match self.0 {
            Passed::Scalar(bytes) => Some(bytes),
            Passed::Buffer { .. } => None,
        }
    }

    /// A buffer with the number of its elements.
    pub(crate) fn as_buffer(&self) -> Option<(&RawBuffer, usize)> {
        match self.0 {
            Passed::Buffer { raw, len, .. } => Some((raw, len)),
            Passed::Scalar(_) => None,
        }
    }

    /// A buffer that the kernel writes.
    #[inline]
    pub fn buffer_mut<T: Element>(buffer: &'a mut Buffer<T>) -> Self {
        Self::buffer(buffer)
    }
}
