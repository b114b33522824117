//! The time of a call's launch, measured without waiting for it.
//!
//! A queue with profiling has it. For a queue without, the launch goes to a queue of cltune's own
//! that has profiling: there it waits for all that the program's queue was given before, and what
//! the program's queue is given later waits for it. The order thus stays the same.

use crate::enqueued::Enqueued;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::kernel::{Arg, Prepared};
use crate::opencl::{RawQueue, WaitList};
use crate::queue::Queue;
use cltune_core::model::Model;

/// Times launches.
#[derive(Debug, Default)]
pub(super) struct LaunchTimer {
    /// With profiling; made when it is first needed.
    own: Option<RawQueue>,
}

/// A launch that is being timed.
#[derive(Debug)]
pub(super) struct Timing(Enqueued);

impl LaunchTimer {
    /// Launches on the program's queue, as far as the program can tell.
    pub(super) fn launch(
        &mut self,
        prepared: &Prepared,
        model: &Model,
        queue: &Queue,
        args: &[Arg<'_>],
    ) -> Result<(Event, Timing)> {
        let event = if queue.is_profiling() {
            prepared.launch(model, queue, args)?
        } else {
            let own = self.queue(queue)?;
            let before = queue
                .raw()
                .marker()
                .map_err(Error::call("clEnqueueMarker"))?;
            let before = WaitList::of(before);
            queue.flush()?;
            let event = prepared.launch_on(own, model, queue, args, Some(&before))?;
            let is_joined = own.flush().is_ok()
                && event
                    .raw()
                    .is_ok_and(|launch| queue.raw().wait_for(launch).is_ok());
            if !is_joined {
                // Then the order is kept by waiting here.
                event.wait()?;
            }
            event
        };
        let shared = event.share()?;
        Ok((event, Timing(shared)))
    }

    /// A queue with profiling in the context of the program's.
    pub(super) fn queue<'a>(&'a mut self, queue: &'a Queue) -> Result<&'a RawQueue> {
        if queue.is_profiling() {
            return Ok(queue.raw());
        }
        let own = match self.own.take() {
            Some(own) => own,
            None => RawQueue::new(queue.context().raw(), queue.device().raw(), true)
                .map_err(Error::call("clCreateCommandQueue"))?,
        };
        Ok(self.own.insert(own))
    }
}

impl Timing {
    /// The time in microseconds; `None` while the launch is under way.
    ///
    /// # Errors
    /// The launch failed, or the driver does not tell.
    pub(super) fn ended(&self) -> Result<Option<f64>> {
        if !self
            .0
            .last
            .has_ended()
            .map_err(Error::call("clGetEventInfo"))?
        {
            return Ok(None);
        }
        let profile = self.0.profile();
        let (start, end) = profile.map_err(Error::call("clGetEventProfilingInfo"))?;
        Ok(Some(end.saturating_sub(start).max(1) as f64 / 1e3))
    }

    /// Waits for the launch.
    ///
    /// # Errors
    /// It failed.
    pub(super) fn wait(&self) -> Result<()> {
        self.0.last.wait().map_err(Error::call("clWaitForEvents"))
    }
}
