//! The events of commands that were enqueued.

use crate::error::Error;
use crate::opencl::{RawEvent, RawQueue, Status};
#[cfg(feature = "tuning")]
use cltune_core::Text;
use std::sync::Arc;

/// The commands of a call that get an event.
#[derive(Clone, Debug)]
pub(crate) enum Events {
    /// Each, for their times, or where the queue does not keep their order.
    All,
    /// The last one, for which the caller may wait.
    Last,
    /// None; whoever waits does so for all that this queue was given.
    None(Arc<RawQueue>),
}

/// Commands that were enqueued.
#[derive(Debug)]
pub(crate) struct Enqueued {
    /// The first; `None` where there is only one.
    pub(crate) first: Option<RawEvent>,
    pub(crate) last: RawEvent,
    /// Each command of several with the name of its part, where that was asked for.
    #[cfg(feature = "tuning")]
    pub(crate) parts: Vec<(Text, RawEvent)>,
}

impl Enqueued {
    /// A single command.
    pub(crate) const fn single(command: RawEvent) -> Self {
        Self {
            first: None,
            last: command,
            #[cfg(feature = "tuning")]
            parts: Vec::new(),
        }
    }

    /// The start of the first and the end of the last command in nanoseconds of the device's
    /// clock. The queue must have been created with profiling and the commands must have ended.
    pub(crate) fn profile(&self) -> Result<(u64, u64), Status> {
        let (start, end) = self.last.profile()?;
        match &self.first {
            Some(first) => Ok((first.profile()?.0, end)),
            None => Ok((start, end)),
        }
    }

    /// The same events once more.
    #[cfg(feature = "tuning")]
    pub(crate) fn share(&self) -> Result<Self, Status> {
        Ok(Self {
            first: self.first.as_ref().map(RawEvent::share).transpose()?,
            last: self.last.share()?,
            parts: Vec::new(),
        })
    }
}

/// The error of a call without commands, which no declaration makes.
#[cold]
pub(crate) fn no_command() -> Error {
    Error::call("clEnqueueNDRangeKernel")(Status::NO_COMMAND)
}

/// The events of commands in order, of which the first and the last are kept.
#[derive(Default)]
pub(crate) struct Chain {
    first: Option<RawEvent>,
    last: Option<RawEvent>,
}

impl Chain {
    pub(crate) fn push(&mut self, event: RawEvent) {
        let earlier = self.last.replace(event);
        if self.first.is_none() {
            self.first = earlier;
        }
    }

    /// `None` where no command got an event.
    pub(crate) fn end(self) -> Option<Enqueued> {
        let first = self.first;
        self.last.map(|last| Enqueued {
            first,
            last,
            #[cfg(feature = "tuning")]
            parts: Vec::new(),
        })
    }
}
