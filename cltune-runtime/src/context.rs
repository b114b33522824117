//! Contexts: what buffers, queues and built programs belong to.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::opencl::RawContext;
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// An OpenCL context of one device, with the programs that were built in it. Cloning is cheap and
/// gives the same context.
#[derive(Clone, Debug)]
pub struct Context(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    // Declared first, so that kernels are released before their context.
    attachment: OnceLock<Box<dyn Any + Send + Sync>>,
    core: Arc<ContextCore>,
}

/// The driver's context with its device, without what launching keeps with it.
#[derive(Debug)]
pub(crate) struct ContextCore {
    raw: RawContext,
    device: Device,
}

impl ContextCore {
    pub(crate) fn raw(&self) -> &RawContext {
        &self.raw
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }
}

impl Context {
    /// A context for a device.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn new(device: &Device) -> Result<Self> {
        let raw = RawContext::new(device.raw())
            .map_err(Error::call(format!("clCreateContext for {device}")))?;
        let device = device.clone();
        Ok(Self(Arc::new(Inner {
            attachment: OnceLock::new(),
            core: Arc::new(ContextCore { raw, device }),
        })))
    }

    /// The context's device.
    pub fn device(&self) -> &Device {
        &self.0.core.device
    }

    pub(crate) fn raw(&self) -> &RawContext {
        &self.0.core.raw
    }

    /// State that launching keeps with the context, made for the first call and dropped with the
    /// context. Its type is not named here, because launching is built on contexts. There is one
    /// such type.
    #[inline]
    pub(crate) fn attachment<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce(&Arc<ContextCore>) -> T,
    ) -> &T {
        let inner = &*self.0;
        let attachment = inner.attachment.get_or_init(|| Box::new(make(&inner.core)));
        attachment
            .downcast_ref()
            .expect("a context has attachments of one type")
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Context {}
