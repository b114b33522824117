//! OpenCL's own handles: from those of another part of the program, and to it.
//!
//! Ownership: `from_raw` takes a reference of its own (`clRetain…`) and leaves the caller's to
//! the caller; `as_raw` lends the handle as long as the value lives; `into_raw` gives the value's
//! reference to the caller, who releases it (`clRelease…`).

use super::checks;
use crate::buffer::Buffer;
use crate::context::Context;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::image::{Image, ImageSize, Pixel};
use crate::opencl::{RawBuffer, RawContext, RawEvent, RawImage, RawQueue};
use crate::queue::Queue;
use std::ffi::c_void;

impl Device {
    /// The device with a `cl_device_id`. It is compared with those of [`Device::all`] and not used
    /// otherwise, so that any pointer may be passed.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a sub-device and for whatever is not a device; as [`Device::all`].
    pub fn from_raw(device: *mut c_void) -> Result<Self> {
        checks::device(checks::DEVICE, checks::pointer(checks::DEVICE, device)?)
    }

    /// The device's `cl_device_id`. It is not counted, and valid as long as the process lives.
    pub fn as_raw(&self) -> *mut c_void {
        self.raw().handle()
    }
}

impl Context {
    /// A `cl_context` that another part of the program made, for one of its devices. For another
    /// device of the same context there is another `Context`; buffers of one can be used with the
    /// other. The same pair again gives an equal `Context`, with the same built programs.
    ///
    /// The value has a reference of its own; the caller keeps theirs. A program that has a queue
    /// does not need this: see [`Queue::from_raw`].
    ///
    /// # Safety
    /// `context` is null or a `cl_context` that has not been released for the last time. A pointer
    /// to another kind of object is refused where the driver recognises it.
    ///
    /// # Errors
    /// [`Error::Foreign`] for null, for what OpenCL does not know as a context, and for a context
    /// without the device.
    pub unsafe fn from_raw(context: *mut c_void, device: &Device) -> Result<Self> {
        let context = checks::pointer(checks::CONTEXT, context)?;
        // SAFETY: as the caller promises.
        checks::context(unsafe { RawContext::retain(context) }, device)
    }

    /// The `cl_context`, which is alive as long as this value; it is not retained for the caller.
    pub fn as_raw(&self) -> *mut c_void {
        self.raw().handle()
    }

    /// The `cl_context` with a reference of the caller's, who releases it with `clReleaseContext`.
    ///
    /// # Errors
    /// [`Error::OpenCl`] where the driver refuses a further reference: clones of this value, and
    /// its queues and buffers, keep theirs.
    pub fn into_raw(self) -> Result<*mut c_void> {
        let shared = self.raw().share();
        shared.map_err(Error::call("clRetainContext"))
    }
}

impl Queue {
    /// A `cl_command_queue` that another part of the program made, with its context and device. All
    /// queues of the same context and device that are alive have equal contexts, which share what
    /// was built. Keep the value as long as launches go on: the built programs live as long as
    /// the context, and making the value again takes microseconds.
    ///
    /// The value has a reference of its own; the caller keeps theirs. A queue without profiling
    /// and a queue out of order are fine: see [`Queue::is_profiling`] and [`Queue::after`].
    ///
    /// # Safety
    /// `queue` is null or a `cl_command_queue` that has not been released for the last time. A
    /// pointer to another kind of object is refused where the driver recognises it.
    ///
    /// # Errors
    /// [`Error::Foreign`] for null, for what OpenCL does not know as a command queue, for a queue
    /// of a sub-device, and for one that takes commands of kernels (`CL_QUEUE_ON_DEVICE`).
    pub unsafe fn from_raw(queue: *mut c_void) -> Result<Self> {
        let queue = checks::pointer(checks::QUEUE, queue)?;
        // SAFETY: as the caller promises.
        checks::queue(unsafe { RawQueue::retain(queue) })
    }

    /// The `cl_command_queue`, which is alive as long as this value; it is not retained for the
    /// caller.
    pub fn as_raw(&self) -> *mut c_void {
        self.raw().handle()
    }

    /// The `cl_command_queue` with this value's reference, which the caller releases with
    /// `clReleaseCommandQueue`.
    pub fn into_raw(self) -> *mut c_void {
        self.into_raw_queue().into_handle()
    }
}

impl<T: Element> Buffer<T> {
    /// The first `len` elements of a buffer that another part of the program made, or of a part of
    /// one (a sub-buffer). Nothing is copied: what either side writes, the other one sees.
    ///
    /// The value has a reference of its own; the caller keeps theirs. A `&mut Buffer` is not alone
    /// any more with memory that another part of the program uses, too: its commands and cltune's
    /// are ordered by queues and events alone. Commands that are not, and a kernel that is given
    /// the same memory twice, leave numbers that nobody can foretell, but are no undefined
    /// behaviour of Rust.
    ///
    /// A buffer that was made with `CL_MEM_READ_ONLY` can be passed to kernels that read it, one
    /// with `CL_MEM_WRITE_ONLY` as an `#[arg(out)]`; all else is [`Error::BufferAccess`].
    ///
    /// # Safety
    /// - `buffer` is null or a `cl_mem` that has not been released for the last time. A pointer to
    ///   another kind of object is refused where the driver recognises it.
    /// - Host memory that the buffer was made with (`CL_MEM_USE_HOST_PTR`), or that it is mapped
    ///   to, is not accessed by the host while a command may use the buffer, and is valid as long
    ///   as the buffer lives.
    ///
    /// # Errors
    /// [`Error::Foreign`] for null, for what OpenCL does not know as a memory object, for an image
    /// or a pipe, and for a buffer that is smaller than `len` elements; [`Error::OtherContext`];
    /// [`Error::TooLarge`].
    pub unsafe fn from_raw(context: &Context, buffer: *mut c_void, len: usize) -> Result<Self> {
        let buffer = checks::pointer(checks::BUFFER, buffer)?;
        // SAFETY: as the caller promises.
        checks::buffer(unsafe { RawBuffer::retain(buffer) }, context, Some(len))
    }

    /// The `cl_mem`, which is alive as long as this value; it is not retained for the caller. It
    /// has room for [`Buffer::len`] elements, and for one where that is 0. From now on others may
    /// write to it: where a configuration takes it as an image, it is converted for each call.
    pub fn as_raw(&self) -> *mut c_void {
        self.images().share();
        self.raw().handle()
    }

    /// The `cl_mem` with this value's reference, which the caller releases with
    /// `clReleaseMemObject`.
    pub fn into_raw(self) -> *mut c_void {
        self.into_raw_buffer().into_handle()
    }
}

impl<T: Pixel, S: ImageSize> Image<T, S> {
    /// An image that another part of the program made. Nothing is copied: what either side writes,
    /// the other one sees. Its size and format are asked for.
    ///
    /// The value has a reference of its own; the caller keeps theirs. What [`Buffer::from_raw`]
    /// says of memory that others have, too, and of flags, is so of images.
    ///
    /// # Safety
    /// As for [`Buffer::from_raw`].
    ///
    /// # Errors
    /// [`Error::Foreign`] for null, for what OpenCL does not know as a memory object, for an object
    /// of another kind, and for pixels of another type; [`Error::OtherContext`].
    pub unsafe fn from_raw(context: &Context, image: *mut c_void) -> Result<Self> {
        let image = checks::pointer(checks::IMAGE, image)?;
        // SAFETY: as the caller promises.
        checks::image(unsafe { RawImage::retain(image, S::KIND) }, context)
    }

    /// The `cl_mem`, which is alive as long as this value; it is not retained for the caller.
    pub fn as_raw(&self) -> *mut c_void {
        self.raw().handle()
    }

    /// The `cl_mem` with this value's reference, which the caller releases with
    /// `clReleaseMemObject`.
    pub fn into_raw(self) -> *mut c_void {
        self.into_raw_image().into_handle()
    }
}

impl Event {
    /// An event of a command of another part of the program, or a user event: for [`Event::wait`]
    /// and for [`Queue::after`].
    ///
    /// The value has a reference of its own; the caller keeps theirs.
    ///
    /// # Safety
    /// `event` is null or a `cl_event` that has not been released for the last time. A pointer to
    /// another kind of object is refused where the driver recognises it.
    ///
    /// # Errors
    /// [`Error::Foreign`] for null, and for what OpenCL does not know as an event.
    pub unsafe fn from_raw(event: *mut c_void) -> Result<Self> {
        let event = checks::pointer(checks::EVENT, event)?;
        // SAFETY: as the caller promises.
        checks::event(unsafe { RawEvent::retain(event) })
    }

    /// The `cl_event`, which is alive as long as this value; it is not retained for the caller.
    ///
    /// # Errors
    /// [`Error::OpenCl`] where a queue [without events](Queue::without_events) refuses a marker.
    pub fn as_raw(&self) -> Result<*mut c_void> {
        Ok(self.raw()?.handle())
    }

    /// The `cl_event` with a reference of the caller's, who releases it with `clReleaseEvent`.
    ///
    /// # Errors
    /// As [`as_raw`](Self::as_raw), and where the driver refuses a further reference.
    pub fn into_raw(self) -> Result<*mut c_void> {
        let event = self.raw()?.share();
        event
            .map(RawEvent::into_handle)
            .map_err(Error::call("clRetainEvent"))
    }
}
