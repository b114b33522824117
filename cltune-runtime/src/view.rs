//! Views: buffers on the memory of another owner, by the rules of references: parts of buffers, and
//! buffers of other packages.

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result};
use std::marker::PhantomData;
use std::ops::{Bound, Deref, DerefMut, RangeBounds};

/// A buffer on the memory of another owner, to read: a part of a buffer, from [`Buffer::slice`], or
/// a buffer that another package owns, from `Queue::lend`.
///
/// It is a buffer itself: pass `&view`, or `&*x.slice(range)?` in the call
/// itself, where a `&Buffer<T>` is taken.
#[derive(Debug)]
pub struct BufferView<'a, T: Element> {
    buffer: Buffer<T>,
    owner: PhantomData<&'a ()>,
}

/// A buffer on the memory of another owner, who cannot use it meanwhile, to read and write: from
/// [`Buffer::slice_mut`], or from `Queue::lend_mut`.
///
/// It is a buffer itself: pass `&mut view`, or `&mut *y.slice_mut(range)?` in
/// the call itself, where a `&mut Buffer<T>` is taken.
#[derive(Debug)]
pub struct BufferViewMut<'a, T: Element> {
    buffer: Buffer<T>,
    owner: PhantomData<&'a mut ()>,
}

impl<'a, T: Element> BufferView<'a, T> {
    /// As long as the owner is borrowed.
    pub(crate) fn new<O>(buffer: Buffer<T>, _owner: &'a O) -> Self {
        let owner = PhantomData;
        Self { buffer, owner }
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    /// As long as the owner is borrowed.
    pub(crate) fn new<O>(buffer: Buffer<T>, _owner: &'a mut O) -> Self {
        let owner = PhantomData;
        Self { buffer, owner }
    }
}

impl<T: Element> Buffer<T> {
    /// The elements of a range, to read.
    ///
    /// On a device a part begins at a multiple of
    /// [`mem_base_addr_align`](crate::DeviceLimits::mem_base_addr_align) bytes. Making a view costs
    /// an OpenCL call; a part that is used many times is best made once.
    ///
    /// # Errors
    /// [`Error::BeyondBuffer`], [`Error::MisalignedView`], [`Error::OpenCl`].
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<BufferView<'_, T>> {
        let (start, end) = bounds(range, self.len());
        Ok(BufferView::new(self.checked_part(start, end)?, self))
    }

    /// The elements of a range, to read and write. The whole buffer cannot be used meanwhile.
    ///
    /// # Errors
    /// As [`Buffer::slice`].
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferViewMut<'_, T>> {
        let (start, end) = bounds(range, self.len());
        self.change();
        Ok(BufferViewMut::new(self.checked_part(start, end)?, self))
    }

    /// The elements before `middle` and those from there on, to read and write both.
    ///
    /// # Errors
    /// As [`Buffer::slice`].
    pub fn split_at_mut(
        &mut self,
        middle: usize,
    ) -> Result<(BufferViewMut<'_, T>, BufferViewMut<'_, T>)> {
        self.change();
        let first = self.checked_part(0, middle)?;
        let second = self.checked_part(middle, self.len())?;
        let [first, second] = [first, second].map(|buffer| BufferViewMut {
            buffer,
            owner: PhantomData,
        });
        Ok((first, second))
    }

    fn checked_part(&self, start: usize, end: usize) -> Result<Self> {
        let len = self.len();
        if start > end || end > len {
            return Err(Error::BeyondBuffer { start, end, len });
        }
        if start == end {
            // OpenCL has no empty parts either.
            return Self::allocate(self.context(), 0);
        }
        let alignment = self.context().device().info().limits.mem_base_addr_align;
        let alignment = usize::try_from(alignment).unwrap_or(1).max(1);
        if !(start * size_of::<T>()).is_multiple_of(alignment) {
            return Err(Error::MisalignedView {
                start,
                elements: alignment.div_ceil(size_of::<T>()),
                bytes: alignment,
                device: self.context().device().info().name.clone(),
            });
        }
        self.part(start, end - start)
    }
}

/// The first element of a range and the one after its last.
fn bounds(range: impl RangeBounds<usize>, len: usize) -> (usize, usize) {
    // Where adding one overflows, the range is beyond every buffer all the same.
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => len,
    };
    (start, end)
}

impl<T: Element> Deref for BufferView<'_, T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: Element> Deref for BufferViewMut<'_, T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: Element> DerefMut for BufferViewMut<'_, T> {
    fn deref_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }
}
