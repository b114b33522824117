//! Events of launches.

use crate::enqueued::Enqueued;
use crate::error::{Error, Result};
use crate::opencl::{RawEvent, RawQueue};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A call under way: a launch, a group of launches, or an event of another part of the program.
/// Dropping it does not wait.
#[derive(Debug)]
pub struct Event {
    call: Call,
    /// The conversions of buffers to images that it waited for.
    conversions: Vec<RawEvent>,
}

/// What tells that a call has ended.
#[derive(Debug)]
enum Call {
    /// Its commands.
    Enqueued(Enqueued),
    /// All that its queue was given until somebody asked, by a marker that is made then.
    Queue(Arc<RawQueue>, OnceLock<RawEvent>),
}

impl Event {
    pub(crate) fn of(enqueued: Enqueued) -> Self {
        Self {
            call: Call::Enqueued(enqueued),
            conversions: Vec::new(),
        }
    }

    /// Of a call whose commands have no events.
    pub(crate) fn of_queue(queue: Arc<RawQueue>) -> Self {
        Self {
            call: Call::Queue(queue, OnceLock::new()),
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
    ///
    /// # Errors
    /// [`Error::OpenCl`] where commands have no events and the queue refuses a marker.
    pub(crate) fn raw(&self) -> Result<&RawEvent> {
        let (queue, marker) = match &self.call {
            Call::Enqueued(enqueued) => return Ok(&enqueued.last),
            Call::Queue(queue, marker) => (queue, marker),
        };
        if let Some(made) = marker.get() {
            return Ok(made);
        }
        let made = queue.marker().map_err(Error::call("clEnqueueMarker"))?;
        // The program may have flushed the queue before it asks, so that another queue can wait.
        queue.flush().map_err(Error::call("clFlush"))?;
        Ok(marker.get_or_init(|| made))
    }

    /// The first and the last command, once more.
    #[cfg(feature = "tuning")]
    pub(crate) fn share(&self) -> Result<Enqueued> {
        let shared = match &self.call {
            Call::Enqueued(enqueued) => enqueued.share(),
            Call::Queue(..) => self.raw()?.share().map(Enqueued::single),
        };
        shared.map_err(Error::call("clRetainEvent"))
    }

    /// Blocks until the call has ended; of a queue [without events](crate::Queue::without_events),
    /// until all has ended that the queue was given before anything was first asked of this event.
    ///
    /// # Errors
    /// [`Error::OpenCl`] when a launch failed on the device.
    pub fn wait(&self) -> Result<()> {
        self.raw()?.wait().map_err(Error::call("clWaitForEvents"))
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
        let profile = match &self.call {
            Call::Enqueued(enqueued) => enqueued.profile(),
            Call::Queue(..) => self.raw()?.profile(),
        };
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
