//! Requirements on an object of another part of the program.

use super::ForeignError;
use crate::buffer::{Buffer, byte_len};
use crate::context::Context;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::image::{Image, ImageSize, Pixel, described_pixel};
use crate::opencl::{
    ImageFacts, MemoryFacts, RawBuffer, RawContext, RawEvent, RawImage, RawQueue, Status,
};
use crate::queue::Queue;
use std::ffi::c_void;

pub(super) const CONTEXT: &str = "the context";
pub(super) const QUEUE: &str = "the command queue";
pub(super) const BUFFER: &str = "the buffer";
pub(super) const IMAGE: &str = "the image";
pub(super) const EVENT: &str = "the event";
pub(super) const DEVICE: &str = "the device";

/// A pointer that is not null.
pub(super) fn pointer(what: &'static str, handle: *mut c_void) -> Result<*mut c_void> {
    if handle.is_null() {
        return Err(refused(what, ForeignError::Null));
    }
    Ok(handle)
}

/// The device with a handle, which is compared with those of all devices and not used.
pub(super) fn device(what: &'static str, handle: *mut c_void) -> Result<Device> {
    let mut all = Device::all()?.into_iter();
    all.find(|device| device.raw().handle() == handle)
        .ok_or_else(|| refused(what, ForeignError::NoRootDevice))
}

/// A context, for one of its devices.
pub(super) fn context(raw: Result<RawContext, Status>, device: &Device) -> Result<Context> {
    let raw = raw.map_err(other_kind(CONTEXT))?;
    let devices = raw.devices().map_err(Error::call("clGetContextInfo"))?;
    if devices.contains(&device.raw().handle()) {
        return Ok(Context::of(raw, device));
    }
    let mut all = Device::all()?;
    all.retain(|device| devices.contains(&device.raw().handle()));
    let reason = ForeignError::WithoutDevice {
        device: device.to_string(),
        devices: all.iter().map(ToString::to_string).collect(),
    };
    Err(refused(CONTEXT, reason))
}

/// A queue. OpenCL knows its context and its device.
pub(super) fn queue(raw: Result<RawQueue, Status>) -> Result<Queue> {
    let raw = raw.map_err(other_kind(QUEUE))?;
    let facts = raw.facts();
    let facts = facts.map_err(Error::call("clGetCommandQueueInfo"))?;
    if facts.is_on_device {
        return Err(refused(QUEUE, ForeignError::OnDevice));
    }
    let device = device(QUEUE, facts.device)?;
    let context = context(raw.context(), &device)?;
    let (is_profiling, is_out_of_order) = (facts.is_profiling, facts.is_out_of_order);
    Ok(Queue::of(raw, context, is_profiling, is_out_of_order))
}

/// A buffer of so many elements; without a number, of as many as it has room for.
pub(super) fn buffer<T: Element>(
    raw: Result<(RawBuffer, MemoryFacts), Status>,
    context: &Context,
    len: Option<usize>,
) -> Result<Buffer<T>> {
    let (raw, facts) = raw.map_err(other_kind(BUFFER))?;
    if let Some(found) = facts.other_kind {
        return Err(refused(BUFFER, ForeignError::NoBuffer { found }));
    }
    if !context.has_handle(facts.context) {
        return Err(Error::OtherContext {
            what: BUFFER.to_string(),
        });
    }
    let len = len.unwrap_or(facts.bytes / size_of::<T>());
    let needed = byte_len::<T>(len)?;
    if needed > facts.bytes {
        let reason = ForeignError::TooSmall {
            bytes: facts.bytes,
            len,
            element: T::TYPE.rust_name(),
            needed,
        };
        return Err(refused(BUFFER, reason));
    }
    Ok(Buffer::of(raw, context, len))
}

/// An image.
pub(super) fn image<T: Pixel, S: ImageSize>(
    raw: Result<(RawImage, ImageFacts), Status>,
    context: &Context,
) -> Result<Image<T, S>> {
    let (raw, facts) = raw.map_err(other_kind(IMAGE))?;
    let size = S::of_pixels(facts.size);
    let shape = Image::<T, S>::shape(size);
    if let Some(found) = facts.other_kind {
        let expected = shape.kind.opencl_name();
        return Err(refused(IMAGE, ForeignError::NoImage { expected, found }));
    }
    if !context.has_handle(facts.context) {
        return Err(Error::OtherContext {
            what: IMAGE.to_string(),
        });
    }
    if facts.pixel != Some((shape.element, shape.normalized)) {
        let found = match facts.pixel {
            Some(_) => described_pixel(raw.shape()),
            None => "of a format that cltune does not have".to_owned(),
        };
        let expected = described_pixel(shape);
        return Err(refused(IMAGE, ForeignError::OtherPixel { expected, found }));
    }
    Ok(Image::of(raw, context, size))
}

/// An event of any context: a queue checks it when it is to wait for it.
pub(super) fn event(raw: Result<RawEvent, Status>) -> Result<Event> {
    raw.map(Event::new).map_err(other_kind(EVENT))
}

fn refused(what: &'static str, reason: ForeignError) -> Error {
    Error::Foreign { what, reason }
}

/// The error of an object that OpenCL does not take for one of its kind.
fn other_kind(what: &'static str) -> impl FnOnce(Status) -> Error {
    move |status| refused(what, ForeignError::OtherKind { status })
}
