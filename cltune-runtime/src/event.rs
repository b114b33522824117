//! Events of launches.

use crate::error::{Error, Result};
use crate::kernel::Enqueued;
use crate::opencl::RawEvent;
use std::time::Duration;

/// A call under way: a launch, a group of launches, or an event of another part of the program.
/// Dropping it does not wait.
#[derive(Debug)]
pub struct Event {
    enqueued: Enqueued,
    /// The conversions of buffers to images that it waited for.
    conversions: Vec<RawEvent>,
}

impl Event {
    pub(crate) fn of(enqueued: Enqueued) -> Self {
        Self {
            enqueued,
            conversions: Vec::new(),
        }
    }

    /// Of a single command.
    pub(crate) fn new(raw: RawEvent) -> Self {
        Self::of(Enqueued::single(raw))
    }

    /// With the conversions of buffers to images that the call began with.
    pub(crate) fn after_conversions(self, conversions: Vec<RawEvent>) -> Self {
        Self {
            conversions,
            ..self
        }
    }

    /// The event of the last command.
    pub(crate) fn raw(&self) -> &RawEvent {
        &self.enqueued.last
    }

    /// The first and the last command, once more.
    #[cfg(feature = "tuning")]
    pub(crate) fn share(&self) -> Result<Enqueued> {
        self.enqueued.share().map_err(Error::call("clRetainEvent"))
    }

    /// The event of the last command.
    pub(crate) fn into_raw_event(self) -> RawEvent {
        self.enqueued.last
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
        let profile = self.enqueued.profile();
        let (start, end) = profile.map_err(Error::call("clGetEventProfilingInfo"))?;
        Ok(Duration::from_nanos(end.saturating_sub(start)))
    }

    /// Waits, and returns how long the device took to convert buffers to images for this call: zero
    /// where the configuration takes none as an image, or where the images of earlier calls were
    /// still right. [`duration`](Self::duration) does not include it.
    ///
    /// # Errors
    /// As [`duration`](Self::duration).
    pub fn conversion_time(&self) -> Result<Duration> {
        self.wait()?;
        let mut total = Duration::ZERO;
        for conversion in &self.conversions {
            let profile = conversion.profile();
            let (start, end) = profile.map_err(Error::call("clGetEventProfilingInfo"))?;
            total += Duration::from_nanos(end.saturating_sub(start));
        }
        Ok(total)
    }
}
