//! Host memory that devices transfer blocks from and to while the program does something else.
//!
//! The memory is shared by its owners, and is not freed before all transfers have ended. The
//! program borrows all of it, and only while no transfer could get in its way: at run time, because
//! transfers outlive every function that the borrow checker sees.

use super::{Pinned, RawBuffer, RawContext, RawEvent, RawQueue, Status};
use crate::element::Element;
use cl3::command_queue;
use cl3::types::CL_FALSE;
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of host memory.
#[derive(Debug)]
pub(crate) struct HostMemory {
    /// `None` once it is lost: then it is never freed.
    storage: Option<Storage>,
    start: *mut u8,
    len: usize,
    uses: Mutex<Uses>,
    changed: Condvar,
}

// SAFETY: the bytes are owned by this value. They are used through `HostGuard`s, which exclude each
// other as references do, and by the driver in transfers, which exclude guards.
unsafe impl Send for HostMemory {}
// SAFETY: as above; the uses are behind a mutex.
unsafe impl Sync for HostMemory {}

/// Owned for as long as the memory is; used through the pointer to its beginning alone.
#[derive(Debug)]
enum Storage {
    Pinned(#[expect(dead_code, reason = "freed with it")] Pinned),
    Plain(#[expect(dead_code, reason = "freed with it")] Vec<u64>),
}

#[derive(Debug, Default)]
struct Uses {
    /// Transfers under way that read the memory, and that write to it.
    sends: usize,
    receives: usize,
    /// Borrows of the program, to read and to write.
    readers: usize,
    has_writer: bool,
    /// Whether a device may still use it although nobody waits for that.
    is_lost: bool,
}

/// The alignment of every element.
const ALIGNMENT: usize = 8;

/// Where a block is in host memory and in a buffer, bytes: rows of `width`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockPlace {
    pub(crate) first: usize,
    pub(crate) pitch: usize,
    pub(crate) width: usize,
    pub(crate) rows: usize,
    /// The first byte in the buffer.
    pub(crate) buffer_first: usize,
    /// How far rows are apart in the buffer.
    pub(crate) buffer_pitch: usize,
}

impl BlockPlace {
    /// The first byte in the buffer: byte and row.
    const fn buffer_origin(&self) -> [usize; 3] {
        match self.buffer_first.checked_rem(self.buffer_pitch) {
            Some(byte) => [byte, self.buffer_first / self.buffer_pitch, 0],
            None => [self.buffer_first, 0, 0],
        }
    }

    /// Whether all rows are bytes of so many, at least one, and none twice.
    fn check(&self, len: usize) -> Result<(), Status> {
        let before = self.rows.checked_sub(1);
        let end = before
            .and_then(|before| before.checked_mul(self.pitch))
            .and_then(|before| self.first.checked_add(before)?.checked_add(self.width));
        let is_apart = self.rows <= 1 || self.width <= self.pitch.min(self.buffer_pitch);
        if self.width > 0 && is_apart && end.is_some_and(|end| end <= len) {
            Ok(())
        } else {
            Err(Status(cl3::error_codes::CL_INVALID_VALUE))
        }
    }
}

impl HostMemory {
    /// So many zeros, at least one byte, in pinned memory; the queue is one of the context.
    pub(crate) fn pinned(
        context: &RawContext,
        queue: &RawQueue,
        len: usize,
    ) -> Result<Arc<Self>, Status> {
        let mut pinned = Pinned::new(context, queue, len)?;
        pinned.bytes().fill(0);
        let start = pinned.bytes().as_mut_ptr();
        if !start.addr().is_multiple_of(ALIGNMENT) {
            // No driver is known that does this; elements would not begin where the memory does.
            return Err(Status(cl3::error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE));
        }
        Ok(Self::of(Storage::Pinned(pinned), start, len))
    }

    /// So many zeros in ordinary memory.
    ///
    /// # Errors
    /// The system's reason why there is none.
    pub(crate) fn plain(len: usize) -> Result<Arc<Self>, std::collections::TryReserveError> {
        let words = len.div_ceil(size_of::<u64>());
        let mut memory: Vec<u64> = Vec::new();
        memory.try_reserve_exact(words)?;
        memory.resize(words, 0);
        let start = memory.as_mut_ptr().cast();
        Ok(Self::of(Storage::Plain(memory), start, len))
    }

    fn of(storage: Storage, start: *mut u8, len: usize) -> Arc<Self> {
        Arc::new(Self {
            storage: Some(storage),
            start,
            len,
            uses: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Begins to send a block to a buffer. The event ends when it is there.
    pub(crate) fn send(
        self: &Arc<Self>,
        queue: &RawQueue,
        buffer: &RawBuffer,
        place: BlockPlace,
    ) -> Result<HostTransfer, Status> {
        place.check(self.len)?;
        self.enter(|uses| {
            uses.sends += 1;
            !uses.has_writer
        })?;
        let BlockPlace {
            first,
            pitch,
            width,
            rows,
            buffer_first,
            buffer_pitch,
        } = place;
        let origins = [place.buffer_origin(), [0; 3]];
        let region = [width, rows, 1];
        // SAFETY: `check` has shown that the rows are bytes of the memory. It lives, and nobody
        // writes to it, as long as the transfer that is made below, which waits for the event.
        // OpenCL checks the buffer's bounds and reads the arrays during the call.
        let event = unsafe {
            if rows == 1 {
                let source = self.start.wrapping_add(first).cast();
                command_queue::enqueue_write_buffer(
                    queue.0,
                    buffer.mem,
                    CL_FALSE,
                    buffer_first,
                    width,
                    source,
                    0,
                    ptr::null(),
                )
            } else {
                command_queue::enqueue_write_buffer_rect(
                    queue.0,
                    buffer.mem,
                    CL_FALSE,
                    origins[0].as_ptr(),
                    origins[1].as_ptr(),
                    region.as_ptr(),
                    buffer_pitch,
                    0,
                    pitch,
                    0,
                    self.start.wrapping_add(first).cast(),
                    0,
                    ptr::null(),
                )
            }
        };
        self.transfer(event, false)
    }

    /// Begins to read a block from a buffer, when a command of the same context has ended.
    pub(crate) fn receive(
        self: &Arc<Self>,
        queue: &RawQueue,
        buffer: &RawBuffer,
        place: BlockPlace,
        after: &RawEvent,
    ) -> Result<HostTransfer, Status> {
        place.check(self.len)?;
        self.enter(|uses| {
            uses.receives += 1;
            !uses.has_writer && uses.readers == 0
        })?;
        let BlockPlace {
            first,
            pitch,
            width,
            rows,
            buffer_first,
            buffer_pitch,
        } = place;
        let origins = [place.buffer_origin(), [0; 3]];
        let region = [width, rows, 1];
        let list = &raw const after.0;
        // SAFETY: as in `send`; nobody uses the memory but other transfers, which are the driver's.
        // The list of one live event is read during the call.
        let event = unsafe {
            let target = self.start.wrapping_add(first).cast();
            if rows == 1 {
                command_queue::enqueue_read_buffer(
                    queue.0,
                    buffer.mem,
                    CL_FALSE,
                    buffer_first,
                    width,
                    target,
                    1,
                    list,
                )
            } else {
                command_queue::enqueue_read_buffer_rect(
                    queue.0,
                    buffer.mem,
                    CL_FALSE,
                    origins[0].as_ptr(),
                    origins[1].as_ptr(),
                    region.as_ptr(),
                    buffer_pitch,
                    0,
                    pitch,
                    0,
                    target,
                    1,
                    list,
                )
            }
        };
        self.transfer(event, true)
    }

    /// Borrows the memory to read it, when transfers that write to it have ended.
    pub(crate) fn read(self: &Arc<Self>) -> HostGuard {
        self.borrow(false)
    }

    /// Borrows the memory to change it, when all transfers have ended.
    pub(crate) fn write(self: &Arc<Self>) -> HostGuard {
        self.borrow(true)
    }

    fn borrow(self: &Arc<Self>, is_exclusive: bool) -> HostGuard {
        let is_used = |uses: &mut Uses| {
            uses.has_writer
                || uses.receives > 0
                || is_exclusive && (uses.readers > 0 || uses.sends > 0)
        };
        let uses = self.changed.wait_while(self.uses(), is_used);
        let mut uses = uses.unwrap_or_else(PoisonError::into_inner);
        if is_exclusive {
            uses.has_writer = true;
        } else {
            uses.readers += 1;
        }
        drop(uses);
        HostGuard {
            memory: Arc::clone(self),
            is_exclusive,
        }
    }

    /// Counts a transfer, unless the program has borrowed the memory.
    fn enter(&self, count: impl FnOnce(&mut Uses) -> bool) -> Result<(), Status> {
        let mut uses = self.uses();
        let (sends, receives) = (uses.sends, uses.receives);
        if count(&mut uses) {
            return Ok(());
        }
        (uses.sends, uses.receives) = (sends, receives);
        Err(Status(cl3::error_codes::CL_INVALID_OPERATION))
    }

    fn transfer(
        self: &Arc<Self>,
        event: Result<cl3::types::cl_event, i32>,
        is_receive: bool,
    ) -> Result<HostTransfer, Status> {
        match event {
            Ok(event) => Ok(HostTransfer {
                event: RawEvent(event),
                memory: Arc::clone(self),
                is_receive,
                is_settled: false,
            }),
            Err(status) => {
                self.leave(is_receive, false);
                Err(Status(status))
            }
        }
    }

    fn leave(&self, is_receive: bool, is_lost: bool) {
        let mut uses = self.uses();
        if is_receive {
            uses.receives -= 1;
        } else {
            uses.sends -= 1;
        }
        uses.is_lost |= is_lost;
        self.changed.notify_all();
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if self.uses().is_lost {
            // A device may still write there.
            std::mem::forget(self.storage.take());
        }
    }
}

/// A transfer between host memory and a buffer. Dropping it waits for its end.
#[derive(Debug)]
#[must_use = "dropping it waits"]
pub(crate) struct HostTransfer {
    event: RawEvent,
    memory: Arc<HostMemory>,
    is_receive: bool,
    is_settled: bool,
}

impl HostTransfer {
    /// The event that ends when the block is there.
    pub(crate) fn event(&self) -> &RawEvent {
        &self.event
    }

    /// Blocks until it has ended.
    ///
    /// # Errors
    /// It failed.
    pub(crate) fn wait(mut self) -> Result<(), Status> {
        self.settle()
    }

    fn settle(&mut self) -> Result<(), Status> {
        self.is_settled = true;
        let (ended, is_over) = self.event.settle();
        self.memory.leave(self.is_receive, !is_over);
        ended
    }
}

impl Drop for HostTransfer {
    fn drop(&mut self) {
        if !self.is_settled {
            let _ = self.settle();
        }
    }
}

/// A borrow of host memory.
#[derive(Debug)]
pub(crate) struct HostGuard {
    memory: Arc<HostMemory>,
    is_exclusive: bool,
}

impl HostGuard {
    /// The bytes as numbers.
    pub(crate) fn elements<T: Element>(&self) -> &[T] {
        // SAFETY: any bits are a value of an `Element`.
        unsafe { self.bytes().align_to().1 }
    }

    /// The bytes as numbers, to be changed; none where the guard is one to read.
    pub(crate) fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        // SAFETY: any bits are a value of an `Element`, and the bits of each are bytes.
        unsafe { self.bytes_mut().align_to_mut().1 }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes are alive, and as long as this guard nobody writes to them but through
        // it, for which it would have to be borrowed exclusively.
        unsafe { std::slice::from_raw_parts(self.memory.start, self.memory.len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        if !self.is_exclusive {
            return &mut [];
        }
        // SAFETY: the bytes are alive, and as long as this guard nobody else uses them.
        unsafe { std::slice::from_raw_parts_mut(self.memory.start, self.memory.len) }
    }
}

impl Drop for HostGuard {
    fn drop(&mut self) {
        let mut uses = self.memory.uses();
        if self.is_exclusive {
            uses.has_writer = false;
        } else {
            uses.readers -= 1;
        }
        self.memory.changed.notify_all();
    }
}
