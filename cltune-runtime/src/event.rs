//! Events of launches.

use crate::error::{Error, Result};
use crate::opencl::RawEvent;
use std::time::Duration;

/// A launch under way, or an event of another part of the program. Dropping it does not wait.
#[derive(Debug)]
pub struct Event(RawEvent);

impl Event {
    pub(crate) fn new(raw: RawEvent) -> Self {
        Self(raw)
    }

    pub(crate) fn raw(&self) -> &RawEvent {
        &self.0
    }

    pub(crate) fn into_raw_event(self) -> RawEvent {
        self.0
    }

    /// Blocks until the launch has ended.
    ///
    /// # Errors
    /// [`Error::OpenCl`] when the launch failed on the device.
    pub fn wait(&self) -> Result<()> {
        self.0.wait().map_err(Error::call("clWaitForEvents"))
    }

    /// Waits, and returns how long the device worked on the launch.
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
