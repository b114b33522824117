//! Typed device buffers.

use crate::context::Context;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kept_images::KeptImages;
use crate::opencl::RawBuffer;
use crate::queue::Queue;
use crate::reclaim;
use std::marker::PhantomData;

/// `len` elements of type `T` in the memory of a context's device.
///
/// Kernels of any queue of that context can use it; reading and writing go through a queue, too,
/// and block until the host's side may be used again. Dropping it while a launch uses it is fine:
/// OpenCL frees it when the launch has ended.
#[derive(Debug)]
pub struct Buffer<T: Element> {
    raw: RawBuffer,
    context: Context,
    len: usize,
    /// What it is as an image, where a configuration wants it so.
    images: KeptImages,
    element: PhantomData<T>,
}

/// The size of so many elements, bytes.
///
/// # Errors
/// [`Error::TooLarge`].
pub(crate) fn byte_len<T: Element>(len: usize) -> Result<usize> {
    let size = size_of::<T>();
    let bytes = len.checked_mul(size);
    bytes
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or(Error::TooLarge { len, size })
}

impl<T: Element> Buffer<T> {
    /// A buffer of `len` elements with unspecified values: whatever the device's memory holds,
    /// which is always a number since any bits are one for every [`Element`]. Zero elements are
    /// allowed. Inputs that [`DeviceSet`](crate::DeviceSet)s keep on devices are freed where memory
    /// is short.
    ///
    /// # Errors
    /// [`Error::OpenCl`] when the device refuses the size, [`Error::LargerThanMemory`],
    /// [`Error::TooLarge`].
    pub fn new(context: &Context, len: usize) -> Result<Self> {
        let made = Self::allocate(context, len);
        match &made {
            // What split calls keep on devices may be in its way.
            Err(error) if error.is_of_memory() && reclaim::free_all() => {
                Self::allocate(context, len)
            }
            _ => made,
        }
    }

    /// As [`Buffer::new`], but nothing is freed where there is too little memory.
    pub(crate) fn allocate(context: &Context, len: usize) -> Result<Self> {
        let bytes = byte_len::<T>(len)?;
        let device = context.device().info();
        let memory = device.limits.global_mem_size;
        if memory > 0 && i64::try_from(bytes).is_ok_and(|bytes| bytes > memory) {
            return Err(Error::LargerThanMemory {
                bytes,
                device: device.name.clone(),
                memory,
            });
        }
        // OpenCL has no empty buffers; one element stands in for none.
        let raw = RawBuffer::new(context.raw(), bytes.max(size_of::<T>()))
            .map_err(Error::call(format!("clCreateBuffer of {bytes} bytes")))?;
        let images = KeptImages::new();
        Ok(Self {
            images,
            ..Self::of(raw, context, len)
        })
    }

    /// A buffer with the values of a slice, in the queue's context.
    ///
    /// # Errors
    /// As [`Buffer::new`] and [`Buffer::write`].
    pub fn from_slice(queue: &Queue, values: &[T]) -> Result<Self> {
        let mut buffer = Self::new(queue.context(), values.len())?;
        buffer.write(queue, values)?;
        Ok(buffer)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer's context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Replaces every element; returns when the slice may be reused.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::OtherContext`], [`Error::OpenCl`].
    pub fn write(&mut self, queue: &Queue, values: &[T]) -> Result<()> {
        self.check(queue, values.len())?;
        if values.is_empty() {
            return Ok(());
        }
        self.images.change();
        queue.wait_for_earlier()?;
        let written = queue
            .raw()
            .write_with_event(&self.raw, 0, T::as_bytes(values))
            .map_err(Error::call("clEnqueueWriteBuffer"))?;
        // Elsewhere nobody could wait for it.
        if queue.is_plain() {
            return Ok(());
        }
        written.wait().map_err(Error::call("clWaitForEvents"))
    }

    /// Reads every element into a slice, after the queue's earlier commands have ended.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::OtherContext`], [`Error::OpenCl`].
    pub fn read_into(&self, queue: &Queue, values: &mut [T]) -> Result<()> {
        self.check(queue, values.len())?;
        if values.is_empty() {
            return Ok(());
        }
        queue.wait_for_earlier()?;
        queue
            .raw()
            .read(&self.raw, 0, T::as_bytes_mut(values))
            .map_err(Error::call("clEnqueueReadBuffer"))
    }

    /// Reads every element, after the queue's earlier commands have ended.
    ///
    /// # Errors
    /// [`Error::OtherContext`], [`Error::OpenCl`].
    pub fn read(&self, queue: &Queue) -> Result<Vec<T>> {
        let mut values = vec![T::default(); self.len];
        self.read_into(queue, &mut values)?;
        Ok(values)
    }

    /// The elements `start..start + len`, at least one of them, as a buffer on the same memory.
    pub(crate) fn part(&self, start: usize, len: usize) -> Result<Self> {
        let size = size_of::<T>();
        let raw = self.raw.region(start * size, len * size);
        Ok(Self {
            raw: raw.map_err(Error::call("clCreateSubBuffer"))?,
            context: self.context.clone(),
            len,
            images: KeptImages::of_shared_memory(),
            element: PhantomData,
        })
    }

    /// The images that it is converted to.
    pub(crate) fn images(&self) -> &KeptImages {
        &self.images
    }

    /// Says that its elements change.
    #[inline]
    pub(crate) fn change(&mut self) {
        self.images.change();
    }

    pub(crate) fn raw(&self) -> &RawBuffer {
        &self.raw
    }

    /// The first `len` elements of a memory object of the context, which has them. Others may
    /// have the memory, too.
    pub(crate) fn of(raw: RawBuffer, context: &Context, len: usize) -> Self {
        Self {
            raw,
            context: context.clone(),
            len,
            images: KeptImages::of_shared_memory(),
            element: PhantomData,
        }
    }

    pub(crate) fn into_raw_buffer(self) -> RawBuffer {
        self.raw
    }

    fn check(&self, queue: &Queue, slice: usize) -> Result<()> {
        if !queue.context().shares_objects_with(&self.context) {
            return Err(Error::OtherContext {
                what: "the buffer".to_string(),
            });
        }
        if slice != self.len {
            return Err(Error::LengthMismatch {
                buffer: self.len,
                slice,
            });
        }
        Ok(())
    }
}
