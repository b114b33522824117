//! Transfers between runs of host memory and a buffer in which they are packed.

use super::{RawBuffer, RawEvent, RawQueue, Region, Runs, Status};
use cl3::command_queue;
use cl3::types::CL_TRUE;
use std::ptr;

impl RawQueue {
    /// Writes runs of `source` to the beginning of a buffer, one after the other; blocks until the
    /// source may be reused.
    pub(crate) fn write_runs(
        &self,
        buffer: &RawBuffer,
        source: &[u8],
        runs: Runs,
    ) -> Result<(), Status> {
        runs.check(source.len())?;
        if runs.width == 0 || runs.rows == 0 {
            return Ok(());
        }
        if runs.rows == 1 {
            return self.write(buffer, 0, &source[runs.first..][..runs.width]);
        }
        let origin = [0; 3];
        let region = [runs.width, runs.rows, 1];
        // SAFETY: `check` has shown that all runs are in the source, from which nothing else is
        // read; the call blocks until OpenCL has taken the bytes. OpenCL checks the buffer's bounds.
        let event = unsafe {
            command_queue::enqueue_write_buffer_rect(
                self.0,
                buffer.mem,
                CL_TRUE,
                origin.as_ptr(),
                origin.as_ptr(),
                region.as_ptr(),
                runs.width,
                0,
                runs.pitch,
                0,
                source.as_ptr().add(runs.first).cast(),
                0,
                ptr::null(),
            )
        };
        event.map(|event| drop(RawEvent(event))).map_err(Status)
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
        let runs = target.runs();
        if runs.width == 0 || runs.rows == 0 {
            return Ok(());
        }
        if let Some(row) = target.single_row() {
            return self.read(buffer, first, row);
        }
        let buffer_origin = [first, 0, 0];
        let host_origin = [0; 3];
        let region = [runs.width, runs.rows, 1];
        // SAFETY: a region's runs are bytes of a slice that is borrowed exclusively for it, and nothing
        // else is written; the call blocks until the transfer has ended. OpenCL checks the buffer's
        // bounds.
        let event = unsafe {
            command_queue::enqueue_read_buffer_rect(
                self.0,
                buffer.mem,
                CL_TRUE,
                buffer_origin.as_ptr(),
                host_origin.as_ptr(),
                region.as_ptr(),
                pitch,
                0,
                runs.pitch,
                0,
                target.pointer().add(runs.first).cast(),
                0,
                ptr::null(),
            )
        };
        event.map(|event| drop(RawEvent(event))).map_err(Status)
    }
}
