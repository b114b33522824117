//! Pinned host memory: what drivers transfer from and to at full speed, without copying it first.

use super::{RawBuffer, RawContext, RawEvent, RawQueue, Status};
use crate::element::Element;
use cl3::command_queue;
use cl3::memory::{self, cl_mem};
use cl3::types::{CL_FALSE, CL_TRUE};
use std::ops::Range;
use std::ptr;

/// Bytes of host memory that the driver has allocated, mapped as long as this lives.
#[derive(Debug)]
pub(crate) struct Pinned {
    mem: cl_mem,
    /// Of its own, because it is unmapped through it.
    queue: RawQueue,
    bytes: *mut u8,
    len: usize,
    /// Whether it is never to be freed.
    is_lost: bool,
}

// SAFETY: memory objects and queues may be used from any thread (OpenCL 3.0 API specification,
// appendix A.2), and the mapped bytes are owned by this value.
unsafe impl Send for Pinned {}
// SAFETY: as above; who shares it can only read the bytes.
unsafe impl Sync for Pinned {}

/// Pinned memory that a device reads or writes.
#[derive(Debug)]
#[must_use = "dropping it waits"]
pub(crate) struct Moving {
    /// Taken when it has ended.
    pinned: Option<Pinned>,
    event: RawEvent,
}

impl Pinned {
    /// So many bytes, at least 1; the queue is one of the context.
    pub(crate) fn new(context: &RawContext, queue: &RawQueue, len: usize) -> Result<Self, Status> {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: no host pointer is passed, so nothing must outlive the call.
        let mem = unsafe { memory::create_buffer(context.0, flags, len, ptr::null_mut()) };
        let mem = mem.map_err(Status)?;
        let mut bytes = ptr::null_mut();
        // SAFETY: both handles are alive, and the call blocks until the memory is mapped.
        let mapped = unsafe {
            let access = memory::CL_MAP_READ | memory::CL_MAP_WRITE;
            command_queue::retain_command_queue(queue.0).and_then(|()| {
                // Releases what was retained, whatever follows.
                let queue = RawQueue::of(queue.0);
                let (none, waits) = (ptr::null(), 0);
                let event = command_queue::enqueue_map_buffer(
                    queue.0, mem, CL_TRUE, access, 0, len, &mut bytes, waits, none,
                );
                event.map(|event| {
                    drop(RawEvent(event));
                    queue
                })
            })
        };
        match mapped {
            Ok(queue) => Ok(Self {
                mem,
                queue,
                bytes: bytes.cast(),
                len,
                is_lost: false,
            }),
            Err(status) => {
                // SAFETY: the handle was created above and is released once.
                let _ = unsafe { memory::release_mem_object(mem) };
                Err(Status(status))
            }
        }
    }

    /// The bytes.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes were mapped for reading and writing and stay so; a value that a
        // device uses is inside of a `Moving`. They are numbers, of which any bits are one.
        unsafe { std::slice::from_raw_parts_mut(self.bytes, self.len) }
    }

    /// The bytes as numbers; those before the first aligned one are left out, which there are none
    /// of in what drivers allocate.
    pub(crate) fn elements<T: Element>(&self) -> &[T] {
        // SAFETY: `len` bytes are mapped for reading and stay so, nobody writes to them while
        // `self` is borrowed, and any bits are a value of an `Element`.
        unsafe {
            std::slice::from_raw_parts(self.bytes, self.len)
                .align_to()
                .1
        }
    }

    /// The bytes as numbers, to be overwritten; as [`Pinned::elements`].
    pub(crate) fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        // SAFETY: any bits are a value of an `Element`, and the bits of each are bytes.
        unsafe { self.bytes().align_to_mut().1 }
    }

    /// The addresses of the bytes.
    pub(super) fn addresses(&self) -> Range<usize> {
        let first = self.bytes.addr();
        first..first + self.len
    }

    /// Sees to it that it is never freed, because a device may still use it.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Sends the first `len` bytes to a buffer.
    pub(crate) fn send(
        self,
        queue: &RawQueue,
        buffer: &RawBuffer,
        offset: usize,
        len: usize,
    ) -> Result<Moving, Status> {
        let len = len.min(self.len);
        // SAFETY: `len` bytes are mapped there, and `Moving` keeps them, unchanged, until the
        // transfer has ended. OpenCL checks the buffer's bounds.
        let event = unsafe {
            command_queue::enqueue_write_buffer(
                queue.0,
                buffer.mem,
                CL_FALSE,
                offset,
                len,
                self.bytes.cast(),
                0,
                ptr::null(),
            )
        };
        self.moving(event)
    }

    /// Fetches `len` bytes of a buffer to the beginning, after a command of the same context has
    /// ended.
    pub(crate) fn receive(
        self,
        queue: &RawQueue,
        buffer: &RawBuffer,
        offset: usize,
        len: usize,
        after: &RawEvent,
    ) -> Result<Moving, Status> {
        let len = len.min(self.len);
        // SAFETY: `len` bytes are mapped there, and `Moving` keeps them for nobody else until the
        // transfer has ended; the list of one live event is read during the call. OpenCL checks the
        // buffer's bounds.
        let event = unsafe {
            command_queue::enqueue_read_buffer(
                queue.0,
                buffer.mem,
                CL_FALSE,
                offset,
                len,
                self.bytes.cast(),
                1,
                &raw const after.0,
            )
        };
        self.moving(event)
    }

    fn moving(self, event: Result<cl3::types::cl_event, i32>) -> Result<Moving, Status> {
        Ok(Moving {
            event: RawEvent(event.map_err(Status)?),
            pinned: Some(self),
        })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.is_lost {
            return;
        }
        // SAFETY: the bytes were mapped by this value and are used by nobody any more; the handle
        // is released once. The queue is released after that.
        unsafe {
            let bytes = self.bytes.cast();
            let unmapped = command_queue::enqueue_unmap_mem_object(
                self.queue.0,
                self.mem,
                bytes,
                0,
                ptr::null(),
            );
            // Waited for, because Intel's CPU runtime crashes where the process ends meanwhile.
            let _ = unmapped.map(|event| RawEvent(event).settle());
            let _ = memory::release_mem_object(self.mem);
        }
    }
}

impl Moving {
    /// The memory, when the transfer has ended.
    ///
    /// # Errors
    /// It failed. Where nobody knows whether the device still uses the memory, it is never freed.
    pub(crate) fn wait(mut self) -> Result<Pinned, Status> {
        self.settle()
    }

    fn settle(&mut self) -> Result<Pinned, Status> {
        let (ended, is_over) = self.event.settle();
        // It is there until the transfer has ended, and nobody asks after that.
        let mut pinned = self
            .pinned
            .take()
            .ok_or(Status(cl3::error_codes::CL_INVALID_VALUE))?;
        if !is_over {
            pinned.lose();
        }
        ended.map(|()| pinned)
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        if self.pinned.is_some() {
            let _ = self.settle();
        }
    }
}
