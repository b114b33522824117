//! Contexts: what buffers, queues and built programs belong to.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::{LaunchCache, Workshop};
use crate::opencl::RawContext;
use std::sync::Arc;

/// An OpenCL context of one device, with the programs that were built in it. Cloning is cheap and
/// gives the same context.
#[derive(Clone, Debug)]
pub struct Context(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    // Declared first, so that kernels are released before their context.
    launches: LaunchCache,
    workshop: Workshop,
}

impl Context {
    /// A context for a device.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn new(device: &Device) -> Result<Self> {
        let raw = RawContext::new(device.raw())
            .map_err(Error::call(format!("clCreateContext for {device}")))?;
        Ok(Self(Arc::new(Inner {
            launches: LaunchCache::default(),
            workshop: Workshop::new(raw, device.clone()),
        })))
    }

    /// The context's device.
    pub fn device(&self) -> &Device {
        self.0.workshop.device()
    }

    /// What building needs of it.
    pub(crate) fn workshop(&self) -> &Workshop {
        &self.0.workshop
    }

    pub(crate) fn raw(&self) -> &RawContext {
        self.0.workshop.raw()
    }

    pub(crate) fn launches(&self) -> &LaunchCache {
        &self.0.launches
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Context {}
