//! Command queues.

use crate::capture;
use crate::context::Context;
use crate::device::Device;
use crate::enqueued::Events;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::opencl::{RawEvent, RawQueue, Status, WaitList};
use std::sync::{Arc, Mutex, PoisonError};

/// A command queue. Several queues of one context, and several threads on one queue, are fine.
///
/// Commands of cltune run in the order in which a queue was given them, and after all that other
/// parts of the program gave the same queue before; also where OpenCL's queue is out of order.
/// [`Queue::after`] has them wait for events, and, on a queue out of order, for nothing else.
#[derive(Debug)]
pub struct Queue {
    // Declared before the context, so that it is released first.
    raw: RawQueue,
    context: Context,
    profiling: bool,
    out_of_order: bool,
    events: Events,
    /// The events that commands wait for; `None` where the queue's order is all.
    after: Option<After>,
}

/// The events that the commands of a queue wait for.
#[derive(Debug)]
struct After {
    events: WaitList,
    /// The last launch, for which the next command waits where OpenCL's queue is out of order.
    last: Mutex<Option<RawEvent>>,
}

impl Queue {
    /// A queue in a context.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn new(context: &Context) -> Result<Self> {
        Self::create(context, false)
    }

    /// A queue for many short launches: the driver is spared an event for each of them, which is a
    /// quarter of what a launch costs on an NVIDIA GPU.
    ///
    /// The [`Event`] of a call then stands for all that the queue was given until something is first
    /// asked of it, so that waiting for one call waits for those after it as well, and its
    /// [`duration`](Event::duration) is not known. Everything else is as on any queue; a program that
    /// drops events and ends with [`finish`](Self::finish), or reads results, notices no difference.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn without_events(context: &Context) -> Result<Self> {
        let queue = Self::create(context, false)?;
        if matches!(queue.events, Events::All) {
            // A capture needs the time of each launch.
            return Ok(queue);
        }
        let raw = queue.raw.share();
        let raw = raw.map_err(Error::call("clRetainCommandQueue"))?;
        let events = Events::None(Arc::new(raw));
        Ok(Self { events, ..queue })
    }

    /// A queue whose events know their times: see [`crate::Event::duration`].
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn with_profiling(context: &Context) -> Result<Self> {
        Self::create(context, true)
    }

    /// A queue in a new context of a device.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn for_device(device: &Device) -> Result<Self> {
        Self::new(&Context::new(device)?)
    }

    /// A queue in a new context of the device that [`Device::select`] chooses.
    ///
    /// # Errors
    /// As [`Device::select`], and [`Error::OpenCl`].
    pub fn default_device() -> Result<Self> {
        Self::for_device(&Device::select()?)
    }

    /// The same queue, whose commands wait for these events (and for those that this one waits
    /// for). Commands that are given to it run in order among themselves, so that a function that
    /// launches several kernels does what it does on any queue.
    ///
    /// Where OpenCL's queue is in order, they also run after all that the queue was given before.
    /// Where it is out of order they wait for nothing but the events and each other: what another
    /// command writes is there only if its event is among them.
    ///
    /// ```no_run
    /// # use cltune::{Buffer, Event, Queue, Result};
    /// # type Scale = fn(&Queue, u32, &mut Buffer<f32>) -> Result<Event>;
    /// # fn example(
    /// #     scale: Scale, one: &Queue, other: &Queue, x: &mut Buffer<f32>,
    /// # ) -> Result<()> {
    /// let scaled = scale(one, 1 << 20, x)?;
    /// one.flush()?;
    /// let again = scale(&other.after(&[&scaled])?, 1 << 20, x)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Transfers wait for the events on the host. A queue that other queues wait for has to be
    /// flushed, see [`Queue::flush`]. Up to eight events are passed without an allocation.
    ///
    /// # Errors
    /// [`Error::OtherContext`], [`Error::OpenCl`].
    pub fn after(&self, events: &[&Event]) -> Result<Self> {
        let list = match &self.after {
            None => Ok(WaitList::default()),
            Some(after) => after.list(),
        };
        let mut list = list.map_err(Error::call("clRetainEvent"))?;
        for (position, event) in events.iter().enumerate() {
            let event = event.raw()?;
            let context = event.context();
            let context = context.map_err(Error::call("clGetEventInfo"))?;
            if !self.context.has_handle(context) {
                return Err(Error::OtherContext {
                    what: format!("event {} of {}", position + 1, events.len()),
                });
            }
            list.push(event.share().map_err(Error::call("clRetainEvent"))?);
        }
        let raw = self.raw.share();
        Ok(Self {
            raw: raw.map_err(Error::call("clRetainCommandQueue"))?,
            context: self.context.clone(),
            profiling: self.profiling,
            out_of_order: self.out_of_order,
            events: self.events.clone(),
            after: Some(After {
                events: list,
                last: Mutex::default(),
            }),
        })
    }

    /// The queue's context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The queue's device.
    pub fn device(&self) -> &Device {
        self.context.device()
    }

    /// Whether events of this queue know their times.
    pub fn is_profiling(&self) -> bool {
        self.profiling
    }

    /// Whether OpenCL may run commands of this queue at the same time and in any order: only a
    /// queue that another part of the program made.
    pub fn is_out_of_order(&self) -> bool {
        self.out_of_order
    }

    /// Blocks until every command of the queue has ended.
    ///
    /// # Errors
    /// [`Error::OpenCl`], also for a command that failed.
    pub fn finish(&self) -> Result<()> {
        self.raw.finish().map_err(Error::call("clFinish"))
    }

    /// Sends the commands enqueued so far to the device without waiting for them.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn flush(&self) -> Result<()> {
        self.raw.flush().map_err(Error::call("clFlush"))
    }

    /// A queue of the driver, which belongs to the context.
    pub(crate) fn of(raw: RawQueue, context: Context, profiling: bool, out_of_order: bool) -> Self {
        let events = if profiling || out_of_order {
            Events::All
        } else {
            Events::Last
        };
        Self {
            raw,
            context,
            profiling,
            out_of_order,
            events,
            after: None,
        }
    }

    pub(crate) fn raw(&self) -> &RawQueue {
        &self.raw
    }

    pub(crate) fn into_raw_queue(self) -> RawQueue {
        self.raw
    }

    /// The commands of a call that get an event.
    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    /// Whether OpenCL alone orders its commands.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.after.is_none() && !self.out_of_order
    }

    /// The events that the next command has to wait for; `None` where OpenCL orders it by itself.
    #[inline]
    pub(crate) fn wait_list(&self) -> Result<Option<WaitList>> {
        if self.is_plain() {
            return Ok(None);
        }
        self.ordered_wait_list().map(Some)
    }

    #[cold]
    fn ordered_wait_list(&self) -> Result<WaitList> {
        if let Some(after) = &self.after {
            return after.list().map_err(Error::call("clRetainEvent"));
        }
        let marker = self.raw.marker();
        let marker = marker.map_err(Error::call("clEnqueueMarker"))?;
        Ok(WaitList::of(marker))
    }

    /// Notes a launch for which later commands wait that were given the same events.
    #[inline]
    pub(crate) fn follow(&self, call: &Event) -> Result<()> {
        match &self.after {
            Some(after) if self.out_of_order => after.follow(call.raw()?),
            _ => Ok(()),
        }
    }

    /// Blocks until all has ended that a transfer has to wait for and OpenCL does not order by
    /// itself.
    #[inline]
    pub(crate) fn wait_for_earlier(&self) -> Result<()> {
        match self.wait_list()? {
            None => Ok(()),
            Some(list) => list.wait().map_err(Error::call("clWaitForEvents")),
        }
    }

    fn create(context: &Context, profiling: bool) -> Result<Self> {
        // A capture needs times of all launches.
        let with_times = profiling || capture::is_on();
        let raw = RawQueue::new(context.raw(), context.device().raw(), with_times)
            .map_err(Error::call("clCreateCommandQueue"))?;
        let queue = Self::of(raw, context.clone(), profiling, false);
        Ok(if with_times {
            Self {
                events: Events::All,
                ..queue
            }
        } else {
            queue
        })
    }
}

impl After {
    fn list(&self) -> Result<WaitList, Status> {
        let mut list = self.events.share()?;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last {
            list.push(last.share()?);
        }
        Ok(list)
    }

    #[cold]
    fn follow(&self, command: &RawEvent) -> Result<()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match command.share() {
            Ok(command) => *last = Some(command),
            // Then the order is kept by waiting here.
            Err(_) => command.wait().map_err(Error::call("clWaitForEvents"))?,
        }
        Ok(())
    }
}
