//! Events of launches.

use crate::error::{Error, Result};
use crate::kernel::Enqueued;
use crate::opencl::RawEvent;
use std::time::Duration;

/// A call under way: a launch, a group of launches, or an event of another part of the program.
/// Dropping it does not wait.
#[derive(Debug)]
pub struct Event(Enqueued);

impl Event {
    pub(crate) fn of(enqueued: Enqueued) -> Self {
        Self(enqueued)
    }

    /// Of a single command.
    pub(crate) fn new(raw: RawEvent) -> Self {
        Self(Enqueued::single(raw))
    }

    /// The event of the last command.
    pub(crate) fn raw(&self) -> &RawEvent {
        &self.0.last
    }

    /// The first and the last command, once more.
    #[cfg(feature = "tuning")]
    pub(crate) fn share(&self) -> Result<Enqueued> {
        self.0.share().map_err(Error::call("clRetainEvent"))
    }

    /// The event of the last command.
    pub(crate) fn into_raw_event(self) -> RawEvent {
        self.0.last
    }

    /// Blocks until the call has ended.
    ///
    /// # Errors
    /// [`Error::OpenCl`] when a launch failed on the device.
    pub fn wait(&self) -> Result<()> {
        self.raw().wait().map_err(Error::call("clWaitForEvents"))
    }

    /// Waits, and returns how long the device worked on the call: of a group of launches, the time
    /// from the first start to the last end.
    ///
    /// # Errors
    /// [`Error::OpenCl`]; `CL_PROFILING_INFO_NOT_AVAILABLE` for a queue that was not created by
    /// [`crate::Queue::with_profiling`], or with `CL_QUEUE_PROFILING_ENABLE` by another part of the
    /// program.
    pub fn duration(&self) -> Result<Duration> {
        self.wait()?;
        let (start, end) = self
            .0
            .profile()
            .map_err(Error::call("clGetEventProfilingInfo"))?;
        Ok(Duration::from_nanos(end.saturating_sub(start)))
    }
}
