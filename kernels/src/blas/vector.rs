//! Vectors in buffers.

use super::error::BlasError;
use super::real::{Operand, Target};
use cltune::{Buffer, Element};

/// Where the elements of a vector lie in a buffer.
#[derive(Clone, Copy, Debug)]
struct Layout {
    len: usize,
    offset: usize,
    stride: isize,
}

impl Layout {
    const fn first(len: usize) -> Self {
        Self {
            len,
            offset: 0,
            stride: 1,
        }
    }

    fn check(&self, name: &'static str, len: usize) -> Result<(), BlasError> {
        if self.stride == 0 {
            return Err(BlasError::ZeroStride { name });
        }
        if self.len == 0 {
            return Ok(());
        }
        let last = (self.len - 1).checked_mul(self.stride.unsigned_abs());
        let needed = last
            .and_then(|last| last.checked_add(self.offset)?.checked_add(1))
            .unwrap_or(usize::MAX);
        if needed > len {
            return Err(BlasError::TooShort { name, needed, len });
        }
        Ok(())
    }
}

/// A vector that is read.
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a, T: Element> {
    buffer: &'a Buffer<T>,
    layout: Layout,
}

impl<'a, T: Element> Vector<'a, T> {
    /// The first `len` elements of a buffer.
    pub const fn new(buffer: &'a Buffer<T>, len: usize) -> Self {
        Self {
            buffer,
            layout: Layout::first(len),
        }
    }

    /// The vector begins at this element of the buffer.
    #[must_use]
    pub const fn offset(mut self, elements: usize) -> Self {
        self.layout.offset = elements;
        self
    }

    /// Its elements lie so far apart. With a negative stride, as in BLAS, the vector lies backwards
    /// in the same elements: its last element is the one at the offset.
    #[must_use]
    pub const fn stride(mut self, elements: isize) -> Self {
        self.layout.stride = elements;
        self
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.layout.len
    }

    /// Whether it has no elements.
    pub const fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    pub(super) fn checked(self, name: &'static str) -> Result<Operand<'a, T>, BlasError> {
        self.layout.check(name, self.buffer.len())?;
        Ok(Operand {
            buffer: self.buffer,
            offset: self.layout.offset as u64,
            stride: self.layout.stride as i64,
        })
    }
}

/// A vector that is written.
#[derive(Debug)]
pub struct VectorMut<'a, T: Element> {
    buffer: &'a mut Buffer<T>,
    layout: Layout,
}

impl<'a, T: Element> VectorMut<'a, T> {
    /// The first `len` elements of a buffer.
    pub const fn new(buffer: &'a mut Buffer<T>, len: usize) -> Self {
        Self {
            buffer,
            layout: Layout::first(len),
        }
    }

    /// See [`Vector::offset`].
    #[must_use]
    pub const fn offset(mut self, elements: usize) -> Self {
        self.layout.offset = elements;
        self
    }

    /// See [`Vector::stride`].
    #[must_use]
    pub const fn stride(mut self, elements: isize) -> Self {
        self.layout.stride = elements;
        self
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.layout.len
    }

    /// Whether it has no elements.
    pub const fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    pub(super) fn checked(self, name: &'static str) -> Result<Target<'a, T>, BlasError> {
        self.layout.check(name, self.buffer.len())?;
        Ok(Target {
            buffer: self.buffer,
            offset: self.layout.offset as u64,
            stride: self.layout.stride as i64,
        })
    }
}
