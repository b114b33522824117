//! Host memory for buffers of devices that compute in it, between pages that nobody may touch:
//! whatever a kernel accesses beyond is noticed, reads too.

use super::accesses::Watched;
use super::pages::{Access, Pages, page_size};
use super::{KernelAccess, RawBuffer, RawContext, RawQueue, Status};
use cl3::memory::{self, cl_mem};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// The length of the forbidden addresses on each side, bytes: as far as an index of 32
/// bits, also one below zero that was taken for a large one, leads with elements of 16 bytes. Less
/// where the system has not so many.
const ZONES: [u64; 3] = [64 << 30, 64 << 20, 64 << 10];

/// Memory between forbidden pages.
#[derive(Debug)]
pub(crate) struct Protected {
    // Nobody opens pages any more when they are given back.
    watched: Watched,
    pages: Pages,
    /// Where the memory is, in bytes from the first page.
    inside: Range<usize>,
}

impl Protected {
    /// At least so many bytes, zero. `None` where the system has none of these.
    pub(crate) fn new(bytes: usize) -> Option<Arc<Self>> {
        let page = page_size();
        let len = bytes.max(1).checked_next_multiple_of(page)?;
        let reserve = |zone: &u64| {
            let zone = usize::try_from(*zone).ok()?;
            let zone = zone.checked_next_multiple_of(page)?;
            let all = zone.checked_mul(2)?.checked_add(len)?;
            Some((Pages::reserve(all)?, zone..zone + len))
        };
        let (pages, inside) = ZONES.iter().find_map(reserve)?;
        if !pages.allow(inside.clone(), Access::ReadWrite) {
            return None;
        }
        let watched = Watched::new(pages.addresses())?;
        Some(Arc::new(Self {
            watched,
            pages,
            inside,
        }))
    }

    /// The number of bytes: whole pages.
    pub(crate) fn len(&self) -> usize {
        self.inside.len()
    }

    /// A buffer of a part of the memory, which must have one byte at least.
    pub(crate) fn buffer(
        self: &Arc<Self>,
        context: &RawContext,
        range: Range<usize>,
    ) -> Result<RawBuffer, Status> {
        if range.is_empty() || range.end > self.len() {
            return Err(Status(cl3::error_codes::CL_INVALID_VALUE));
        }
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_USE_HOST_PTR;
        let host = self.at(range.start).cast();
        // SAFETY: the range is in the memory. The callback below keeps that until the driver has
        // given the buffer up, which is after all commands that use it.
        let mem = unsafe { memory::create_buffer(context.0, flags, range.len(), host) };
        let buffer = RawBuffer {
            mem: mem.map_err(Status)?,
            access: KernelAccess::ReadWrite,
        };
        let kept = Arc::into_raw(Arc::clone(self));
        let data = kept.cast_mut().cast();
        // SAFETY: the handle is alive, and the callback takes what it is given.
        let done = unsafe { memory::set_mem_object_destructor_callback(buffer.mem, release, data) };
        if let Err(status) = done {
            // SAFETY: the pointer is of `into_raw`, and no callback will use it. Nothing was
            // enqueued yet.
            drop(unsafe { Arc::from_raw(kept) });
            return Err(Status(status));
        }
        Ok(buffer)
    }

    /// Repeats an element over a range that begins with one and is in no buffer that is used, when
    /// the queue's commands have ended.
    pub(crate) fn fill(
        &self,
        queue: &RawQueue,
        range: Range<usize>,
        element: &[u8],
    ) -> Result<(), Status> {
        queue.finish()?;
        let end = range.end.min(self.len());
        for (at, byte) in (range.start..end).zip(element.iter().cycle()) {
            // SAFETY: the byte is in the memory, of which nobody has a reference, and no command is
            // under way.
            unsafe { self.at(at).write_volatile(*byte) };
        }
        Ok(())
    }

    /// The contents of a range when the queue's commands have ended, as the host sees it.
    pub(crate) fn read(&self, queue: &RawQueue, range: Range<usize>) -> Result<Vec<u8>, Status> {
        queue.finish()?;
        let range = range.start..range.end.min(self.len());
        let mut bytes = vec![0; range.len()];
        // SAFETY: the range is in the memory, which is always readable, no command is under way,
        // and the target has as many bytes of its own.
        unsafe {
            let source = self.at(range.start);
            std::ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), range.len());
        }
        Ok(bytes)
    }

    /// Whether bytes are there when the queue's commands have ended, as the host sees it.
    pub(crate) fn has(&self, queue: &RawQueue, at: usize, bytes: &[u8]) -> Result<bool, Status> {
        queue.finish()?;
        let is_inside = at
            .checked_add(bytes.len())
            .is_some_and(|end| end <= self.len());
        // SAFETY: the range is in the memory, which is always readable, and no command is under
        // way.
        Ok(is_inside && unsafe { std::slice::from_raw_parts(self.at(at), bytes.len()) } == bytes)
    }

    /// The first access outside of the memory since this was last asked: bytes from
    /// its begin.
    pub(crate) fn take_access(&self) -> Option<i64> {
        let address = self.watched.take()?;
        let zones = [0..self.inside.start, self.inside.end..self.pages_len()];
        // Where they stay open, what is accessed there is not seen any more; nothing else is wrong
        // then.
        let _ = zones.map(|zone| self.pages.forbid(zone));
        Some(address as i64 - self.at(0).addr() as i64)
    }

    fn pages_len(&self) -> usize {
        self.pages.addresses().len()
    }

    /// The address of a byte.
    fn at(&self, offset: usize) -> *mut u8 {
        self.pages.base().wrapping_add(self.inside.start + offset)
    }
}

/// Gives up what a buffer needed.
extern "C" fn release(_: cl_mem, data: *mut c_void) {
    // SAFETY: the pointer is what `Arc::into_raw` gave, and OpenCL calls this once.
    drop(unsafe { Arc::from_raw(data.cast::<Protected>()) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::device::Device;
    use crate::queue::Queue;

    #[test]
    fn an_access_outside_is_noticed_and_the_next_one_too() {
        let memory = Protected::new(100).unwrap();
        for offset in [-1, memory.len() as i64, 5 << 20, -(5 << 30)] {
            for _ in 0..2 {
                assert_eq!(memory.take_access(), None);
                let at = memory.at(0).wrapping_offset(offset as isize);
                // SAFETY: nobody else has the address, and the handler opens it.
                let read = unsafe {
                    let before = at.read_volatile();
                    at.write_volatile(7);
                    (before, at.read_volatile())
                };
                assert_eq!(read, (0, 7), "{offset}");
                assert_eq!(memory.take_access(), Some(offset));
            }
        }
    }

    #[test]
    fn what_is_inside_may_be_used() {
        let queue = Queue::default_device().unwrap();
        let memory = Protected::new(5000).unwrap();
        let element = [1, 2, 3];
        memory.fill(queue.raw(), 3..memory.len(), &element).unwrap();
        let read = memory.read(queue.raw(), 0..8).unwrap();
        assert_eq!(read, [0, 0, 0, 1, 2, 3, 1, 2]);
        assert!(memory.has(queue.raw(), 2, &read[2..]).unwrap());
        assert!(!memory.has(queue.raw(), 3, &read[2..]).unwrap());
        assert!(!memory.has(queue.raw(), memory.len() - 1, &[1, 2]).unwrap());
        assert_eq!(memory.take_access(), None);
        assert!(memory.len() >= 5000);
    }

    #[test]
    fn memory_is_given_back_after_its_last_buffer() {
        let context = Context::new(&Device::select().unwrap()).unwrap();
        let queue = Queue::new(&context).unwrap();
        let memory = Protected::new(5000).unwrap();
        let buffers = [0..5000, 128..200].map(|of| memory.buffer(context.raw(), of).unwrap());
        let kept = Arc::downgrade(&memory);
        drop(memory);
        queue.raw().write(&buffers[1], 0, &[9; 72]).unwrap();
        let mut read = vec![0; 5000];
        queue.raw().read(&buffers[0], 0, &mut read).unwrap();
        assert_eq!((read[127], read[128], read[199], read[200]), (0, 9, 9, 0));
        let [first, second] = buffers;
        drop(first);
        assert!(kept.upgrade().is_some());
        drop(second);
        queue.finish().unwrap();
        assert!(kept.upgrade().is_none());
    }

    #[test]
    fn a_buffer_that_is_not_inside_is_an_error() {
        let context = Context::new(&Device::select().unwrap()).unwrap();
        let memory = Protected::new(1).unwrap();
        for range in [0..memory.len() + 1, 5..5] {
            assert!(memory.buffer(context.raw(), range).is_err());
        }
    }
}
