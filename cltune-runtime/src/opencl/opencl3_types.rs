//! References of cltune's own to the objects of the package opencl3. Its values own their handles,
//! which are alive as long as they: `new`, which takes any pointer, is for callers that give a
//! reference away, since dropping the value releases it.

use super::foreign::{ImageFacts, MemoryFacts};
use super::{RawBuffer, RawContext, RawEvent, RawImage, RawQueue, Status};
use cltune_core::model::ImageKind;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::event::Event;
use opencl3::memory::{Buffer, ClMem as _, Image};

impl RawContext {
    pub(crate) fn of_opencl3(context: &Context) -> Result<Self, Status> {
        // SAFETY: the borrowed value owns a reference.
        unsafe { Self::retain(context.get()) }
    }
}

impl RawQueue {
    pub(crate) fn of_opencl3(queue: &CommandQueue) -> Result<Self, Status> {
        // SAFETY: the borrowed value owns a reference.
        unsafe { Self::retain(queue.get()) }
    }
}

impl RawBuffer {
    /// Its conversion `From<Buffer> for cl_mem` drops the owner, so that the handle is gone.
    pub(crate) fn of_opencl3<T>(buffer: &Buffer<T>) -> Result<(Self, MemoryFacts), Status> {
        // SAFETY: the borrowed value owns a reference.
        unsafe { Self::retain(buffer.get()) }
    }
}

impl RawImage {
    pub(crate) fn of_opencl3(image: &Image, kind: ImageKind) -> Result<(Self, ImageFacts), Status> {
        // SAFETY: the borrowed value owns a reference.
        unsafe { Self::retain(image.get(), kind) }
    }
}

impl RawEvent {
    pub(crate) fn of_opencl3(event: &Event) -> Result<Self, Status> {
        // SAFETY: the borrowed value owns a reference.
        unsafe { Self::retain(event.get()) }
    }
}
