//! Contexts: what buffers, queues and built programs belong to.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::opencl::{RawContext, RawDevice};
use std::any::Any;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// An OpenCL context and one of its devices, with the programs that were built for it. Cloning is
/// cheap and gives the same context.
#[derive(Clone, Debug)]
pub struct Context(Arc<Inner>);

/// Every context that is alive. An OpenCL context and a device are one [`Context`], however often
/// other parts of the program hand them in, so that programs are built once.
static ALL: Mutex<Vec<OpenContext>> = Mutex::new(Vec::new());

struct OpenContext {
    /// The address of the driver's context, which is alive as long as this one.
    address: usize,
    device: RawDevice,
    context: Weak<Inner>,
}

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
        Ok(Self::of(raw, device))
    }

    /// The one for a context of the driver and one of its devices.
    pub(crate) fn of(raw: RawContext, device: &Device) -> Self {
        let (address, raw_device) = (raw.handle().addr(), device.raw());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = all.iter();
        let known = known.find(|known| known.address == address && known.device == raw_device);
        if let Some(context) = known.and_then(|known| known.context.upgrade()) {
            return Self(context);
        }
        let device = device.clone();
        let inner = Arc::new(Inner {
            attachment: OnceLock::new(),
            core: Arc::new(ContextCore { raw, device }),
        });
        all.retain(|known| known.context.strong_count() > 0);
        all.push(OpenContext {
            address,
            device: raw_device,
            context: Arc::downgrade(&inner),
        });
        Self(inner)
    }

    /// Whether what belongs to the other one can be used with this one: both are the same context
    /// of the driver, perhaps with different devices.
    #[inline]
    pub(crate) fn shares_objects_with(&self, other: &Self) -> bool {
        self == other || self.has_handle(other.raw().handle())
    }

    /// Whether this is the driver's context with a handle.
    pub(crate) fn has_handle(&self, handle: *mut c_void) -> bool {
        self.raw().handle() == handle
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
