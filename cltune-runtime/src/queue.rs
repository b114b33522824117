//! Command queues.

use crate::capture;
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::opencl::RawQueue;

/// An in-order command queue. Several queues of one context, and several threads on one queue,
/// are fine.
#[derive(Debug)]
pub struct Queue {
    // Declared before the context, so that it is released first.
    raw: RawQueue,
    context: Context,
    profiling: bool,
}

impl Queue {
    /// A queue in a context.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn new(context: &Context) -> Result<Self> {
        Self::create(context, false)
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

    pub(crate) fn raw(&self) -> &RawQueue {
        &self.raw
    }

    fn create(context: &Context, profiling: bool) -> Result<Self> {
        // A capture needs times of all launches.
        let with_times = profiling || capture::is_on();
        let raw = RawQueue::new(context.raw(), context.device().raw(), with_times)
            .map_err(Error::call("clCreateCommandQueue"))?;
        Ok(Self {
            raw,
            context: context.clone(),
            profiling,
        })
    }
}
