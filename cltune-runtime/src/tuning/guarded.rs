//! A buffer between two guard zones, which show writes out of bounds.

use super::poison::GUARD;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::RawBuffer;
use crate::queue::Queue;

/// The least size of a guard zone, bytes.
const LEAST_GUARD: usize = 16 << 10;

/// A region of a larger buffer; what lies before and after it is filled with a pattern.
#[derive(Debug)]
pub(super) struct Guarded {
    whole: RawBuffer,
    region: RawBuffer,
    guard: usize,
    bytes: usize,
    after: usize,
}

impl Guarded {
    /// A buffer of `bytes` bytes; zero bytes are allocated as one. Without `guards` the zones are
    /// empty, for tools that watch every access themselves and would take them for the buffer's.
    pub(super) fn new(
        context: &Context,
        queue: &Queue,
        bytes: usize,
        guards: bool,
    ) -> Result<Self> {
        // A region must begin at a multiple of the device's alignment.
        let alignment = context.device().info().limits.mem_base_addr_align.max(128) as usize;
        let (guard, after) = if guards {
            let guard = LEAST_GUARD.next_multiple_of(alignment);
            // Filling works in elements of up to 8 bytes.
            (guard, guard + (8 - bytes % 8) % 8)
        } else {
            (0, usize::from(bytes == 0))
        };
        let size = bytes.checked_add(guard + after).ok_or(Error::TooLarge {
            len: bytes,
            size: 1,
        })?;
        let whole = RawBuffer::new(context.raw(), size)
            .map_err(Error::call(format!("clCreateBuffer of {size} bytes")))?;
        let region = whole
            .region(guard, bytes.max(1))
            .map_err(Error::call("clCreateSubBuffer"))?;
        let guarded = Self {
            whole,
            region,
            guard,
            bytes,
            after,
        };
        guarded.restore_guards(queue)?;
        Ok(guarded)
    }

    /// The region that the kernel gets.
    pub(super) fn region(&self) -> &RawBuffer {
        &self.region
    }

    /// The region's size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads the region.
    pub(super) fn read(&self, queue: &Queue) -> Result<Vec<u8>> {
        self.read_at(queue, self.guard, self.bytes)
    }

    /// Reads the region into memory that is used again and again: fresh memory costs as much as the
    /// transfer. What is read is its beginning.
    pub(super) fn read_into<'a>(
        &self,
        queue: &Queue,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        if scratch.len() < self.bytes {
            scratch.resize(self.bytes, 0);
        }
        let target = &mut scratch[..self.bytes];
        queue
            .raw()
            .read(&self.whole, self.guard, target)
            .map_err(Error::call("clEnqueueReadBuffer"))?;
        Ok(target)
    }

    /// Fills the region with a repeated element.
    pub(super) fn fill(&self, queue: &Queue, element: &[u8]) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        queue
            .raw()
            .fill(&self.whole, element, self.guard, self.bytes)
            .map(drop)
            .map_err(Error::call("clEnqueueFillBuffer"))
    }

    /// Copies another buffer's region into this one's, on the device.
    pub(super) fn copy_from(&self, queue: &Queue, source: &RawBuffer) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        queue
            .raw()
            .copy(source, 0, &self.whole, self.guard, self.bytes)
            .map(drop)
            .map_err(Error::call("clEnqueueCopyBuffer"))
    }

    /// A buffer with the region's contents; `None` where the device has no memory for it.
    pub(super) fn duplicate(&self, queue: &Queue) -> Option<RawBuffer> {
        let copy = RawBuffer::new(queue.context().raw(), self.bytes.max(1)).ok()?;
        let copied = queue
            .raw()
            .copy(&self.whole, self.guard, &copy, 0, self.bytes);
        // Drivers that allocate late say only now that they cannot.
        copied.ok()?.wait().ok()?;
        Some(copy)
    }

    /// Where a guard zone was written, nearest to the region: negative before its begin, at least
    /// 0 from its end on.
    pub(super) fn damage(&self, queue: &Queue) -> Result<Option<i64>> {
        let before = self.read_at(queue, 0, self.guard)?;
        if let Some(position) = before.iter().rposition(|byte| *byte != GUARD) {
            return Ok(Some(position as i64 - self.guard as i64));
        }
        let after = self.read_at(queue, self.guard + self.bytes, self.after)?;
        Ok(after
            .iter()
            .position(|byte| *byte != GUARD)
            .map(|position| position as i64))
    }

    /// Fills the guard zones again.
    pub(super) fn restore_guards(&self, queue: &Queue) -> Result<()> {
        let ends = [(0, self.guard), (self.guard + self.bytes, self.after)];
        for (offset, bytes) in ends.into_iter().filter(|(_, bytes)| *bytes > 0) {
            queue
                .raw()
                .fill(&self.whole, &[GUARD], offset, bytes)
                .map_err(Error::call("clEnqueueFillBuffer"))?;
        }
        Ok(())
    }

    fn read_at(&self, queue: &Queue, offset: usize, bytes: usize) -> Result<Vec<u8>> {
        let mut target = vec![0; bytes];
        if bytes > 0 {
            queue
                .raw()
                .read(&self.whole, offset, &mut target)
                .map_err(Error::call("clEnqueueReadBuffer"))?;
        }
        Ok(target)
    }
}
