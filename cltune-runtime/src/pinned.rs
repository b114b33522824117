//! Pinned host memory of the program's own.

use crate::buffer::byte_len;
use crate::context::Context;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::opencl::KnownPinned;
use crate::queue::Queue;
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Numbers in pinned (page-locked) host memory, which devices with memory of their own transfer
/// from and to at full speed, and beside launches.
///
/// It is used like a slice. Split calls recognise slices of it, see
/// [`DeviceSet::pinned`](crate::DeviceSet::pinned), and drivers recognise them in
/// [`Buffer::write`](crate::Buffer::write) and [`Buffer::read_into`](crate::Buffer::read_into).
///
/// Split calls also know whether it has changed: an argument that kernels only read stays on the
/// devices, and is sent again when it may have changed. It may have when it was borrowed to be
/// changed ([`DerefMut`]), written to or not. As long as that borrow goes on, every call is sent
/// what it is given of it: borrow it anew to read, as `&memory` does, for calls that read the same.
/// Whoever keeps a raw pointer to it and writes through that, against Rust's rules for references,
/// is not noticed.
///
/// Pinning takes time, 0.4 s for 1 GiB beside an H200, and the memory is taken from all programs:
/// keep it for as many calls as possible.
pub struct PinnedMemory<T> {
    memory: KnownPinned,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Drop for PinnedMemory<T> {
    /// Frees what devices have of it, too.
    fn drop(&mut self) {
        self.memory.get_mut();
        crate::reclaim::free_stale();
    }
}

impl<T: Element> PinnedMemory<T> {
    /// So many zeros, pinned for the devices of the context's platform. Zero elements are allowed.
    ///
    /// # Errors
    /// [`Error::OpenCl`] where the driver has no pinned memory left, or where it is more than the
    /// largest buffer of the device (`CL_DEVICE_MAX_MEM_ALLOC_SIZE`); [`Error::TooLarge`].
    pub fn zeros(context: &Context, len: usize) -> Result<Self> {
        let bytes = byte_len::<T>(len)?;
        // One more, so that there are as many wherever the first aligned one is.
        let size = bytes.saturating_add(size_of::<T>());
        let queue = Queue::new(context)?;
        let device = context.device().raw();
        let memory = KnownPinned::new(context.raw(), device, queue.raw(), size);
        let mut memory = memory.map_err(Error::call(format!("{bytes} bytes of pinned memory")))?;
        memory.get_mut().bytes().fill(0);
        Ok(Self {
            memory,
            len,
            element: PhantomData,
        })
    }
}

impl<T: Element> Deref for PinnedMemory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let elements = self.memory.get().elements();
        &elements[..self.len.min(elements.len())]
    }
}

impl<T: Element> DerefMut for PinnedMemory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let elements = self.memory.get_mut().elements_mut();
        let len = self.len.min(elements.len());
        &mut elements[..len]
    }
}

impl<T: Element + Debug> Debug for PinnedMemory<T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_tuple("PinnedMemory").field(&&**self).finish()
    }
}
