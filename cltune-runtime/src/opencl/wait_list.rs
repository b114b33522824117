//! The events that a command waits for.

use super::{RawEvent, Status};
use cl3::types::cl_event;
use std::ptr;

/// Lists up to this length are built and passed without an allocation.
const FEW: usize = 8;

/// Events that a command waits for, each with a reference of its own.
#[derive(Debug, Default)]
pub(crate) struct WaitList {
    few: [Option<RawEvent>; FEW],
    /// Those beyond [`FEW`].
    more: Vec<RawEvent>,
}

impl WaitList {
    /// A list of one event.
    pub(crate) fn of(event: RawEvent) -> Self {
        let mut list = Self::default();
        list.push(event);
        list
    }

    pub(crate) fn push(&mut self, event: RawEvent) {
        match self.few.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(event),
            None => self.more.push(event),
        }
    }

    /// The same events once more.
    pub(crate) fn share(&self) -> Result<Self, Status> {
        let mut list = Self::default();
        for event in self.events() {
            list.push(event.share()?);
        }
        Ok(list)
    }

    /// Blocks until all have ended.
    ///
    /// # Errors
    /// One of them failed, which NVIDIA's driver (580.159) only says when it is asked.
    pub(crate) fn wait(&self) -> Result<(), Status> {
        self.events().try_for_each(|event| {
            event.wait()?;
            event.has_ended().map(drop)
        })
    }

    fn events(&self) -> impl Iterator<Item = &RawEvent> {
        self.few.iter().flatten().chain(&self.more)
    }

    /// Passes the list as OpenCL takes one: its length, and a pointer that is valid during the
    /// call.
    pub(super) fn with<R>(list: Option<&Self>, call: impl FnOnce(u32, *const cl_event) -> R) -> R {
        let Some(list) = list else {
            return call(0, ptr::null());
        };
        let mut few = [ptr::null_mut(); FEW];
        let mut all = Vec::new();
        let handles = if list.more.is_empty() {
            let mut len = 0;
            for (place, event) in few.iter_mut().zip(list.events()) {
                *place = event.0;
                len += 1;
            }
            &few[..len]
        } else {
            all.extend(list.events().map(|event| event.0));
            &all[..]
        };
        match handles {
            // OpenCL refuses a pointer to an empty list.
            [] => call(0, ptr::null()),
            handles => call(handles.len() as u32, handles.as_ptr()),
        }
    }
}
