//! Contexts: what buffers, queues and built programs belong to.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::LaunchCache;
use crate::opencl::RawContext;
use std::sync::Arc;

/// An OpenCL context of one device, with the programs that were built in it. Cloning is cheap and
/// gives the same context.
#[derive(Clone, Debug)]
pub struct Context(Arc<Inner>);

/// A context that is not kept alive.
#[cfg(feature = "tuning")]
#[derive(Clone, Debug)]
pub(crate) struct WeakContext(std::sync::Weak<Inner>);

#[derive(Debug)]
struct Inner {
    // Declared before `raw`, so that programs and kernels are released before their context.
    launches: LaunchCache,
    raw: RawContext,
    device: Device,
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
            raw,
            device: device.clone(),
        })))
    }

    /// The context's device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The same, without keeping it alive.
    #[cfg(feature = "tuning")]
    pub(crate) fn downgrade(&self) -> WeakContext {
        WeakContext(Arc::downgrade(&self.0))
    }

    pub(crate) fn raw(&self) -> &RawContext {
        &self.0.raw
    }

    pub(crate) fn launches(&self) -> &LaunchCache {
        &self.0.launches
    }
}

#[cfg(feature = "tuning")]
impl WeakContext {
    /// The context, if it is still alive.
    pub(crate) fn upgrade(&self) -> Option<Context> {
        self.0.upgrade().map(Context)
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Context {}
