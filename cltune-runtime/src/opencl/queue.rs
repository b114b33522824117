//! Command queues and the commands cltune enqueues.

use super::{RawBuffer, RawContext, RawDevice, RawEvent, RawKernel, ScratchPool, Status, WaitList};
use cl3::command_queue::{self, CL_QUEUE_PROFILING_ENABLE, cl_command_queue};
use cl3::error_codes;
use cl3::types::{CL_TRUE, cl_event};
use cltune_core::model::Geometry;
use std::ptr;
use std::sync::OnceLock;

/// A command queue, in order where cltune made it, with the scratch memory of its commands.
#[derive(Debug)]
pub(crate) struct RawQueue(pub(super) cl_command_queue, ScratchPool);

// SAFETY: command queues may be used from any thread (OpenCL 3.0 API specification, appendix
// A.2).
unsafe impl Send for RawQueue {}
// SAFETY: as above.
unsafe impl Sync for RawQueue {}

impl RawQueue {
    pub(crate) fn new(
        context: &RawContext,
        device: RawDevice,
        profiling: bool,
    ) -> Result<Self, Status> {
        let properties = if profiling {
            CL_QUEUE_PROFILING_ENABLE
        } else {
            0
        };
        // SAFETY: both handles are alive, and the device is the context's. The function is
        // deprecated since OpenCL 2.0 but present in every version, which its successor is not.
        let queue =
            unsafe { command_queue::create_command_queue(context.0, device.id, properties) };
        queue.map(Self::of).map_err(Status)
    }

    /// Of a handle that is released with this value.
    pub(super) fn of(handle: cl_command_queue) -> Self {
        Self(handle, ScratchPool::default())
    }

    /// The scratch memory of its commands.
    pub(crate) fn scratch(&self) -> &ScratchPool {
        &self.1
    }

    /// Blocks until every command has ended.
    pub(crate) fn finish(&self) -> Result<(), Status> {
        command_queue::finish(self.0).map_err(Status)
    }

    /// Sends what is enqueued to the device.
    pub(crate) fn flush(&self) -> Result<(), Status> {
        command_queue::flush(self.0).map_err(Status)
    }

    /// Reads `target.len()` bytes from `offset`; blocks until they are there.
    pub(crate) fn read(
        &self,
        buffer: &RawBuffer,
        offset: usize,
        target: &mut [u8],
    ) -> Result<(), Status> {
        // SAFETY: the target is valid for writes of its length, and the call blocks until the
        // transfer has ended. OpenCL checks the bounds of the buffer.
        let event = unsafe {
            command_queue::enqueue_read_buffer(
                self.0,
                buffer.mem,
                CL_TRUE,
                offset,
                target.len(),
                target.as_mut_ptr().cast(),
                0,
                ptr::null(),
            )
        };
        event.map(|event| drop(RawEvent(event))).map_err(Status)
    }

    /// Writes bytes at `offset`; blocks until the source may be reused.
    #[cfg(feature = "tuning")]
    pub(crate) fn write(
        &self,
        buffer: &RawBuffer,
        offset: usize,
        source: &[u8],
    ) -> Result<(), Status> {
        self.write_with_event(buffer, offset, source).map(drop)
    }

    /// As [`write`](Self::write), with the event of the transfer, which may go on.
    pub(crate) fn write_with_event(
        &self,
        buffer: &RawBuffer,
        offset: usize,
        source: &[u8],
    ) -> Result<RawEvent, Status> {
        // SAFETY: the source is valid for reads of its length, and the call blocks until OpenCL
        // has taken the bytes. OpenCL checks the bounds of the buffer.
        let event = unsafe {
            command_queue::enqueue_write_buffer(
                self.0,
                buffer.mem,
                CL_TRUE,
                offset,
                source.len(),
                source.as_ptr().cast(),
                0,
                ptr::null(),
            )
        };
        event.map(RawEvent).map_err(Status)
    }

    /// Repeats `pattern` (1, 2, 4, 8 or 16 bytes) over a region whose offset and size are
    /// multiples of its length.
    pub(crate) fn fill(
        &self,
        buffer: &RawBuffer,
        pattern: &[u8],
        offset: usize,
        bytes: usize,
    ) -> Result<RawEvent, Status> {
        if is_filled_by_writing() {
            let contents = pattern.repeat(bytes / pattern.len());
            return self.write_with_event(buffer, offset, &contents);
        }
        // SAFETY: OpenCL copies the pattern before the call returns and checks the bounds.
        let event = unsafe {
            command_queue::enqueue_fill_buffer(
                self.0,
                buffer.mem,
                pattern.as_ptr().cast(),
                pattern.len(),
                offset,
                bytes,
                0,
                ptr::null(),
            )
        };
        event.map(RawEvent).map_err(Status)
    }

    /// Copies bytes from one buffer to another on the device.
    pub(crate) fn copy(
        &self,
        source: &RawBuffer,
        source_offset: usize,
        target: &RawBuffer,
        target_offset: usize,
        bytes: usize,
    ) -> Result<RawEvent, Status> {
        // SAFETY: both handles are alive; OpenCL checks bounds and overlap.
        let event = unsafe {
            command_queue::enqueue_copy_buffer(
                self.0,
                source.mem,
                target.mem,
                source_offset,
                target_offset,
                bytes,
                0,
                ptr::null(),
            )
        };
        event.map(RawEvent).map_err(Status)
    }

    /// An event that ends when all commands so far have ended.
    pub(crate) fn marker(&self) -> Result<RawEvent, Status> {
        // SAFETY: the handle is alive, and no events are passed.
        let event = unsafe { command_queue::enqueue_marker_with_wait_list(self.0, 0, ptr::null()) };
        event.map(RawEvent).map_err(Status)
    }

    /// Lets later commands wait for an event of another queue of the same context.
    pub(crate) fn wait_for(&self, event: &RawEvent) -> Result<(), Status> {
        // SAFETY: the list is one live event, and is read during the call.
        let barrier =
            unsafe { command_queue::enqueue_barrier_with_wait_list(self.0, 1, &raw const event.0) };
        barrier
            .map(|barrier| drop(RawEvent(barrier)))
            .map_err(Status)
    }

    /// Lets later commands wait for events of the same context.
    pub(crate) fn wait_for_all(&self, events: &WaitList) -> Result<(), Status> {
        // SAFETY: the list is of live events, and is read during the call.
        let barrier = WaitList::with(Some(events), |events, list| unsafe {
            command_queue::enqueue_barrier_with_wait_list(self.0, events, list)
        });
        barrier
            .map(|barrier| drop(RawEvent(barrier)))
            .map_err(Status)
    }

    /// Enqueues a launch with the arguments set on `kernel`.
    #[cfg(feature = "tuning")]
    pub(crate) fn launch(
        &self,
        kernel: &RawKernel,
        geometry: &Geometry,
    ) -> Result<RawEvent, Status> {
        self.launch_after(kernel, geometry, None)
    }

    /// As [`launch`](Self::launch), after events of the same context.
    pub(crate) fn launch_after(
        &self,
        kernel: &RawKernel,
        geometry: &Geometry,
        after: Option<&WaitList>,
    ) -> Result<RawEvent, Status> {
        let mut event = ptr::null_mut();
        self.enqueue(kernel, geometry, after, &raw mut event)?;
        Ok(RawEvent(event))
    }

    /// As [`launch_after`](Self::launch_after), of a launch for which nobody waits by itself: the
    /// driver is spared its event.
    pub(crate) fn launch_without_event(
        &self,
        kernel: &RawKernel,
        geometry: &Geometry,
        after: Option<&WaitList>,
    ) -> Result<(), Status> {
        self.enqueue(kernel, geometry, after, ptr::null_mut())
    }

    /// Enqueues a launch, and writes its event to `event` where that is not null. (cl3's own
    /// function asks for an event always.)
    fn enqueue(
        &self,
        kernel: &RawKernel,
        geometry: &Geometry,
        after: Option<&WaitList>,
        event: *mut cl_event,
    ) -> Result<(), Status> {
        let pointer =
            |sizes: &Option<[usize; 3]>| sizes.as_ref().map_or(ptr::null(), |sizes| sizes.as_ptr());
        let library = cl3::load_library().as_ref();
        let library = library.map_err(|_| Status(error_codes::DLOPEN_RUNTIME_LOAD_FAILED))?;
        // Sound, although cl3 declares the function without `unsafe`: the sizes are arrays of three
        // and `work_dim` is at most three; they are read during the call, and so is the list of
        // live events; `event` is null or valid for writes. That the kernel stays inside its buffers
        // is the promise of its author; the tuner's guard zones check it.
        let status = WaitList::with(after, |events, list| {
            library.clEnqueueNDRangeKernel(
                self.0,
                kernel.0,
                geometry.work_dim.min(3),
                pointer(&geometry.offset),
                geometry.global.as_ptr(),
                pointer(&geometry.local),
                events,
                list,
                event,
            )
        });
        match status {
            Some(error_codes::CL_SUCCESS) => Ok(()),
            Some(status) => Err(Status(status)),
            None => Err(Status(error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE)),
        }
    }
}

impl Drop for RawQueue {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own and is released once; OpenCL finishes the
        // queue's commands first.
        let _ = unsafe { command_queue::release_command_queue(self.0) };
    }
}

/// Whether this process runs under Oclgrind, and that looks for values that were never written.
/// Oclgrind 21.10 forgets then that anything but the last pattern of a filled buffer was ever
/// written, whoever writes it later.
fn is_filled_by_writing() -> bool {
    static IS_WATCHED: OnceLock<bool> = OnceLock::new();
    *IS_WATCHED.get_or_init(|| std::env::var_os("OCLGRIND_UNINITIALIZED").is_some())
}
