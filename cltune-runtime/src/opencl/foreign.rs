//! Objects of OpenCL that another part of the program made: references of cltune's own, and what
//! OpenCL says of them.
//!
//! An object is asked something that only its kind can answer before it is retained, so that a
//! driver that checks handles refuses an object of another kind while nothing has changed yet.

use super::image::{format_of, kind_of, sizes_of};
use super::{KernelAccess, RawBuffer, RawContext, RawDevice, RawEvent, RawImage, RawQueue, Status};
use cl3::{command_queue, context, event, memory};
use cltune_core::model::{ElementType, ImageKind, ImageShape};
use std::ffi::c_void;
use std::mem::ManuallyDrop;

/// The facts of a command queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueFacts {
    pub(crate) device: *mut c_void,
    pub(crate) is_profiling: bool,
    pub(crate) is_out_of_order: bool,
    /// Whether it takes commands of kernels instead of the host's.
    pub(crate) is_on_device: bool,
}

/// The facts of a memory object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryFacts {
    /// The kind in words, where it is no buffer.
    pub(crate) other_kind: Option<&'static str>,
    pub(crate) context: *mut c_void,
    pub(crate) bytes: usize,
}

/// The facts of a memory object that is to be an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageFacts {
    /// The kind in words, where it is no image that kernels can get.
    pub(crate) other_kind: Option<&'static str>,
    pub(crate) context: *mut c_void,
    /// The pixel, and whether it is of normalized integers; `None` for a format that `Pixel` does
    /// not have.
    pub(crate) pixel: Option<(ElementType, bool)>,
    pub(crate) size: [usize; 3],
}

impl RawDevice {
    /// The handle, a `cl_device_id`.
    pub(crate) fn handle(self) -> *mut c_void {
        self.id
    }
}

impl RawContext {
    /// A context with a reference of its own.
    ///
    /// # Safety
    /// The handle is a `cl_context` that is alive.
    pub(crate) unsafe fn retain(handle: *mut c_void) -> Result<Self, Status> {
        context::get_context_info(handle, context::CL_CONTEXT_NUM_DEVICES).map_err(Status)?;
        // SAFETY: the caller promises that it is alive; the new value releases what is retained.
        unsafe { context::retain_context(handle) }.map_err(Status)?;
        Ok(Self(handle))
    }

    /// The handle, a `cl_context`.
    pub(crate) fn handle(&self) -> *mut c_void {
        self.0
    }

    /// The handles of its devices.
    pub(crate) fn devices(&self) -> Result<Vec<*mut c_void>, Status> {
        let devices = context::get_context_info(self.0, context::CL_CONTEXT_DEVICES);
        let devices = Vec::<isize>::from(devices.map_err(Status)?);
        Ok(devices.into_iter().map(pointer).collect())
    }

    /// Gives the reference to the caller.
    pub(crate) fn share(&self) -> Result<*mut c_void, Status> {
        // SAFETY: the handle is alive; the caller is told to release it.
        unsafe { context::retain_context(self.0) }.map_err(Status)?;
        Ok(self.0)
    }
}

impl RawQueue {
    /// A queue with a reference of its own.
    ///
    /// # Safety
    /// The handle is a `cl_command_queue` that is alive.
    pub(crate) unsafe fn retain(handle: *mut c_void) -> Result<Self, Status> {
        command_queue::get_command_queue_info(handle, command_queue::CL_QUEUE_CONTEXT)
            .map_err(Status)?;
        // SAFETY: the caller promises that it is alive; the new value releases what is retained.
        unsafe { command_queue::retain_command_queue(handle) }.map_err(Status)?;
        Ok(Self::of(handle))
    }

    /// The same queue once more.
    pub(crate) fn share(&self) -> Result<Self, Status> {
        // SAFETY: the handle is alive; the new value releases what is retained here.
        unsafe { command_queue::retain_command_queue(self.0) }.map_err(Status)?;
        Ok(Self::of(self.0))
    }

    /// The handle, a `cl_command_queue`.
    pub(crate) fn handle(&self) -> *mut c_void {
        self.0
    }

    /// Gives the reference to the caller.
    pub(crate) fn into_handle(self) -> *mut c_void {
        ManuallyDrop::new(self).0
    }

    /// Its context, with a reference of its own.
    pub(crate) fn context(&self) -> Result<RawContext, Status> {
        let context =
            command_queue::get_command_queue_info(self.0, command_queue::CL_QUEUE_CONTEXT);
        let context = pointer(context.map_err(Status)?.into());
        // SAFETY: a queue keeps its context alive.
        unsafe { RawContext::retain(context) }
    }

    pub(crate) fn facts(&self) -> Result<QueueFacts, Status> {
        let ask = |what| command_queue::get_command_queue_info(self.0, what).map_err(Status);
        let properties = u64::from(ask(command_queue::CL_QUEUE_PROPERTIES)?);
        let has = |property| properties & property != 0;
        Ok(QueueFacts {
            device: pointer(ask(command_queue::CL_QUEUE_DEVICE)?.into()),
            is_profiling: has(command_queue::CL_QUEUE_PROFILING_ENABLE),
            is_out_of_order: has(command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE),
            is_on_device: has(command_queue::CL_QUEUE_ON_DEVICE),
        })
    }
}

impl RawBuffer {
    /// A memory object with a reference of its own, and what it is.
    ///
    /// # Safety
    /// The handle is a `cl_mem` that is alive.
    pub(crate) unsafe fn retain(handle: *mut c_void) -> Result<(Self, MemoryFacts), Status> {
        let ask = |what| memory::get_mem_object_info(handle, what).map_err(Status);
        let flags = u64::from(ask(memory::CL_MEM_FLAGS)?);
        let facts = MemoryFacts {
            other_kind: other_kind(ask(memory::CL_MEM_TYPE)?.into()),
            context: pointer(ask(memory::CL_MEM_CONTEXT)?.into()),
            bytes: ask(memory::CL_MEM_SIZE)?.into(),
        };
        // SAFETY: the caller promises that it is alive; the new value releases what is retained.
        unsafe { memory::retain_mem_object(handle) }.map_err(Status)?;
        let buffer = Self {
            mem: handle,
            access: KernelAccess::of(flags),
        };
        Ok((buffer, facts))
    }

    /// The handle, a `cl_mem`.
    pub(crate) fn handle(&self) -> *mut c_void {
        self.mem
    }

    /// Gives the reference to the caller.
    pub(crate) fn into_handle(self) -> *mut c_void {
        ManuallyDrop::new(self).mem
    }
}

impl RawImage {
    /// A memory object with a reference of its own, as an image of a kind, and what it is. Where
    /// its facts say that it is another object, it is good for nothing.
    ///
    /// # Safety
    /// The handle is a `cl_mem` that is alive.
    pub(crate) unsafe fn retain(
        handle: *mut c_void,
        kind: ImageKind,
    ) -> Result<(Self, ImageFacts), Status> {
        let ask = |what| memory::get_mem_object_info(handle, what).map_err(Status);
        let flags = u64::from(ask(memory::CL_MEM_FLAGS)?);
        let found: u32 = ask(memory::CL_MEM_TYPE)?.into();
        let is_image = kind_of(found) == Some(kind);
        let mut facts = ImageFacts {
            other_kind: (!is_image).then(|| described_kind(found)),
            context: pointer(ask(memory::CL_MEM_CONTEXT)?.into()),
            pixel: None,
            size: [1; 3],
        };
        if is_image {
            facts.pixel = format_of(handle)?;
            facts.size = sizes_of(handle, kind)?;
        }
        // SAFETY: the caller promises that it is alive; the new value releases what is retained.
        unsafe { memory::retain_mem_object(handle) }.map_err(Status)?;
        let nothing = ElementType::scalar(cltune_core::model::ScalarType::U8);
        let (element, normalized) = facts.pixel.unwrap_or((nothing, false));
        let image = Self {
            mem: handle,
            shape: ImageShape {
                kind,
                element,
                normalized,
                size: facts.size,
            },
            access: KernelAccess::of(flags),
        };
        Ok((image, facts))
    }

    /// The handle, a `cl_mem`.
    pub(crate) fn handle(&self) -> *mut c_void {
        self.mem
    }

    /// Gives the reference to the caller.
    pub(crate) fn into_handle(self) -> *mut c_void {
        ManuallyDrop::new(self).mem
    }
}

impl RawEvent {
    /// An event with a reference of its own.
    ///
    /// # Safety
    /// The handle is a `cl_event` that is alive.
    pub(crate) unsafe fn retain(handle: *mut c_void) -> Result<Self, Status> {
        event::get_event_info(handle, event::CL_EVENT_COMMAND_TYPE).map_err(Status)?;
        // SAFETY: the caller promises that it is alive; the new value releases what is retained.
        unsafe { event::retain_event(handle) }.map_err(Status)?;
        Ok(Self(handle))
    }

    /// The handle, a `cl_event`.
    pub(crate) fn handle(&self) -> *mut c_void {
        self.0
    }

    /// Gives the reference to the caller.
    pub(crate) fn into_handle(self) -> *mut c_void {
        ManuallyDrop::new(self).0
    }

    /// The handle of its context. Does not allocate.
    pub(crate) fn context(&self) -> Result<*mut c_void, Status> {
        let context = event::get_event_info(self.0, event::CL_EVENT_CONTEXT).map_err(Status)?;
        Ok(pointer(context.into()))
    }
}

/// A handle as `cl3` answers it.
fn pointer(handle: isize) -> *mut c_void {
    handle as *mut c_void
}

/// The kind of a memory object in words, where it is another than was expected.
fn described_kind(kind: u32) -> &'static str {
    match kind {
        memory::CL_MEM_OBJECT_BUFFER => "a buffer",
        memory::CL_MEM_OBJECT_IMAGE2D => "a two-dimensional image",
        memory::CL_MEM_OBJECT_IMAGE3D => "a three-dimensional image",
        memory::CL_MEM_OBJECT_IMAGE2D_ARRAY => "an array of images",
        memory::CL_MEM_OBJECT_IMAGE1D
        | memory::CL_MEM_OBJECT_IMAGE1D_ARRAY
        | memory::CL_MEM_OBJECT_IMAGE1D_BUFFER => "a one-dimensional image",
        other => other_kind(other).unwrap_or("a buffer"),
    }
}

/// The kind of a memory object in words; `None` for a buffer.
fn other_kind(kind: u32) -> Option<&'static str> {
    Some(match kind {
        memory::CL_MEM_OBJECT_BUFFER => return None,
        memory::CL_MEM_OBJECT_IMAGE1D
        | memory::CL_MEM_OBJECT_IMAGE1D_ARRAY
        | memory::CL_MEM_OBJECT_IMAGE1D_BUFFER
        | memory::CL_MEM_OBJECT_IMAGE2D
        | memory::CL_MEM_OBJECT_IMAGE2D_ARRAY
        | memory::CL_MEM_OBJECT_IMAGE3D => "an image",
        memory::CL_MEM_OBJECT_PIPE => "a pipe",
        _ => "a memory object of a kind that cltune does not know",
    })
}
