//! Events.

use super::{Status, number};
use cl3::event::{self, cl_event};

/// An event of an enqueued command.
#[derive(Debug)]
pub(crate) struct RawEvent(pub(super) cl_event);

// SAFETY: events may be used from any thread (OpenCL 3.0 API specification, appendix A.2).
unsafe impl Send for RawEvent {}
// SAFETY: as above.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    /// The same event once more.
    pub(crate) fn share(&self) -> Result<Self, Status> {
        // SAFETY: the handle is alive; the new value releases what is retained here.
        unsafe { event::retain_event(self.0) }.map_err(Status)?;
        Ok(Self(self.0))
    }

    /// Whether the command has ended.
    ///
    /// # Errors
    /// It failed.
    pub(crate) fn has_ended(&self) -> Result<bool, Status> {
        let status = event::get_event_data(self.0, event::CL_EVENT_COMMAND_EXECUTION_STATUS);
        let status = number(&status.map_err(Status)?) as i32;
        if status < 0 {
            return Err(Status(status));
        }
        Ok(status == event::CL_COMPLETE)
    }

    /// Whether the command uses nothing any more: it has ended, or failed. False also where the
    /// driver does not tell.
    fn is_over(&self) -> bool {
        let status = event::get_event_data(self.0, event::CL_EVENT_COMMAND_EXECUTION_STATUS);
        status.is_ok_and(|status| number(&status) as i32 <= event::CL_COMPLETE)
    }

    /// Blocks until the command has ended.
    pub(crate) fn wait(&self) -> Result<(), Status> {
        event::wait_for_events(&[self.0]).map_err(Status)
    }

    /// Blocks until the command uses nothing any more: what came of waiting, and whether it does
    /// not. Where waiting fails, the command itself may go on, and is asked, and waited for once
    /// more.
    pub(super) fn settle(&self) -> (Result<(), Status>, bool) {
        let ended = self.wait();
        let is_over = ended.is_ok() || self.is_over() || self.wait().is_ok();
        (ended, is_over)
    }

    /// Start and end of the command in nanoseconds of the device's clock. The queue must have
    /// been created with profiling and the command must have ended.
    pub(crate) fn profile(&self) -> Result<(u64, u64), Status> {
        let read = |param| {
            event::get_event_profiling_data(self.0, param)
                .map(|bytes| number(&bytes))
                .map_err(Status)
        };
        Ok((
            read(event::CL_PROFILING_COMMAND_START)?,
            read(event::CL_PROFILING_COMMAND_END)?,
        ))
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own and is released once.
        let _ = unsafe { event::release_event(self.0) };
    }
}
