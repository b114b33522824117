//! Transfers between runs of host memory and a buffer in which they are packed.

use super::{RawBuffer, RawEvent, RawQueue, Region, Runs, Status};
use cl3::command_queue;
use cl3::types::{CL_FALSE, CL_TRUE, cl_bool};
use std::ptr;

impl RawQueue {
    /// Writes runs of `source` to a buffer, one after the other from byte `at`; blocks until the
    /// source may be reused.
    pub(crate) fn write_runs(
        &self,
        buffer: &RawBuffer,
        at: usize,
        source: &[u8],
        runs: Runs,
    ) -> Result<(), Status> {
        runs.check(source.len())?;
        if runs.is_empty() {
            return Ok(());
        }
        // SAFETY: the runs are in the source, and the call blocks until OpenCL has taken the bytes.
        unsafe { self.write_from(buffer, at, source, runs, CL_TRUE) }.map(drop)
    }

    /// Begins what [`RawQueue::write_runs`] does, of one run and one byte at least.
    ///
    /// # Safety
    /// The runs are in the source, which is borrowed until the transfer has ended.
    pub(super) unsafe fn begin_writing(
        &self,
        buffer: &RawBuffer,
        at: usize,
        source: &[u8],
        runs: Runs,
    ) -> Result<RawEvent, Status> {
        // SAFETY: as the caller promises.
        unsafe { self.write_from(buffer, at, source, runs, CL_FALSE) }
    }

    /// Reads into a region from rows in a buffer that are `pitch` bytes long, from byte `first` of
    /// each; blocks until the bytes are there.
    pub(crate) fn read_runs(
        &self,
        buffer: &RawBuffer,
        first: usize,
        pitch: usize,
        mut target: Region<'_>,
    ) -> Result<(), Status> {
        if target.runs().is_empty() {
            return Ok(());
        }
        // SAFETY: the region is borrowed, and the call blocks until the transfer has ended.
        unsafe { self.read_into(buffer, first, pitch, &mut target, CL_TRUE, None) }.map(drop)
    }

    /// Begins what [`RawQueue::read_runs`] does, of one byte at least and from these runs of the
    /// buffer, when a command of the same context has ended.
    ///
    /// # Safety
    /// The region's slice is borrowed until the transfer has ended.
    pub(super) unsafe fn begin_reading(
        &self,
        buffer: &RawBuffer,
        runs: Runs,
        target: &mut Region<'_>,
        after: &RawEvent,
    ) -> Result<RawEvent, Status> {
        let Runs { first, pitch, .. } = runs;
        // SAFETY: as the caller promises.
        unsafe { self.read_into(buffer, first, pitch, target, CL_FALSE, Some(after)) }
    }

    /// # Safety
    /// The runs are in the source, which is borrowed until the transfer has ended.
    unsafe fn write_from(
        &self,
        buffer: &RawBuffer,
        at: usize,
        source: &[u8],
        runs: Runs,
        blocking: cl_bool,
    ) -> Result<RawEvent, Status> {
        let source = source.as_ptr().wrapping_add(runs.first).cast();
        let (no_events, list) = (0, ptr::null());
        let (host_origin, buffer_origin) = ([0; 3], [at, 0, 0]);
        let region = [runs.width, runs.rows, 1];
        // SAFETY: the caller promises that all runs are in the source, from which nothing else is
        // read, as long as the transfer takes. OpenCL checks the buffer's bounds, and reads the
        // arrays during the call.
        let event = unsafe {
            if runs.rows == 1 {
                command_queue::enqueue_write_buffer(
                    self.0, buffer.mem, blocking, at, runs.width, source, no_events, list,
                )
            } else {
                command_queue::enqueue_write_buffer_rect(
                    self.0,
                    buffer.mem,
                    blocking,
                    buffer_origin.as_ptr(),
                    host_origin.as_ptr(),
                    region.as_ptr(),
                    runs.width,
                    0,
                    runs.pitch,
                    0,
                    source,
                    no_events,
                    list,
                )
            }
        };
        event.map(RawEvent).map_err(Status)
    }

    /// # Safety
    /// The region's slice is borrowed until the transfer has ended.
    unsafe fn read_into(
        &self,
        buffer: &RawBuffer,
        first: usize,
        pitch: usize,
        target: &mut Region<'_>,
        blocking: cl_bool,
        after: Option<&RawEvent>,
    ) -> Result<RawEvent, Status> {
        let runs = target.runs();
        let target = target.pointer().wrapping_add(runs.first).cast();
        let (events, list) = match after {
            Some(event) => (1, &raw const event.0),
            None => (0, ptr::null()),
        };
        let buffer_origin = [first, 0, 0];
        let host_origin = [0; 3];
        let region = [runs.width, runs.rows, 1];
        // SAFETY: a region's runs are bytes of a slice that is borrowed exclusively for it, and
        // nothing else is written; the caller promises that it is as long as the transfer takes.
        // OpenCL checks the buffer's bounds, and reads the arrays and the list of at most one live
        // event during the call.
        let event = unsafe {
            if runs.rows == 1 {
                command_queue::enqueue_read_buffer(
                    self.0, buffer.mem, blocking, first, runs.width, target, events, list,
                )
            } else {
                command_queue::enqueue_read_buffer_rect(
                    self.0,
                    buffer.mem,
                    blocking,
                    buffer_origin.as_ptr(),
                    host_origin.as_ptr(),
                    region.as_ptr(),
                    pitch,
                    0,
                    runs.pitch,
                    0,
                    target,
                    events,
                    list,
                )
            }
        };
        event.map(RawEvent).map_err(Status)
    }
}
