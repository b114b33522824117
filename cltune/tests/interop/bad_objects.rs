//! Objects that cannot be used, each with an error that says why.

use super::{N, Program, affine, lent};
use cltune::{Buffer, Context, Device, Error, Event, ForeignError, Queue, Result};
use opencl3::memory::{CL_MEM_READ_WRITE, ClMem, Image, cl_image_desc, cl_image_format};
use std::ffi::c_void;
use std::ptr;

fn reason<T>(result: Result<T>) -> ForeignError {
    match result.err() {
        Some(Error::Foreign { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

fn context_of(pointer: *mut c_void, device: &Device) -> Result<Context> {
    // SAFETY: callers pass null, or objects that are alive.
    unsafe { Context::from_raw(pointer, device) }
}

fn queue_of(pointer: *mut c_void) -> Result<Queue> {
    // SAFETY: as above.
    unsafe { Queue::from_raw(pointer) }
}

fn buffer_of(context: &Context, pointer: *mut c_void, len: usize) -> Result<Buffer<f32>> {
    // SAFETY: as above.
    unsafe { Buffer::from_raw(context, pointer, len) }
}

fn event_of(pointer: *mut c_void) -> Result<Event> {
    // SAFETY: as above.
    unsafe { Event::from_raw(pointer) }
}

#[test]
fn null_is_refused() {
    let program = Program::new();
    let queue = program.tuned();
    let null = ptr::null_mut();
    assert_eq!(reason(Device::from_raw(null)), ForeignError::Null);
    assert_eq!(
        reason(context_of(null, &program.device)),
        ForeignError::Null
    );
    assert_eq!(reason(queue_of(null)), ForeignError::Null);
    assert_eq!(
        reason(buffer_of(queue.context(), null, 1)),
        ForeignError::Null
    );
    assert_eq!(reason(event_of(null)), ForeignError::Null);
    let error = queue_of(null).unwrap_err().to_string();
    assert_eq!(
        error,
        "the command queue cannot be used with cltune: the pointer is null"
    );
}

#[test]
fn a_device_that_opencl_does_not_list_is_refused() {
    let mut something = 0_u8;
    let device = Device::from_raw((&raw mut something).cast());
    assert_eq!(reason(device), ForeignError::NoRootDevice);
}

#[test]
fn a_context_without_the_device_is_refused_with_its_devices() {
    let program = Program::new();
    let devices = Device::all().unwrap();
    let Some(other) = devices.iter().find(|device| **device != program.device) else {
        return;
    };
    let error = context_of(program.context.get(), other)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("does not have the device {other}")),
        "{error}"
    );
    assert!(
        error.ends_with(&format!("its devices: {}", program.device)),
        "{error}"
    );
}

#[test]
fn an_image_is_no_buffer() {
    let program = Program::new();
    let format = cl_image_format {
        image_channel_order: opencl3::memory::CL_RGBA,
        image_channel_data_type: opencl3::memory::CL_FLOAT,
    };
    let description = cl_image_desc {
        image_type: opencl3::memory::CL_MEM_OBJECT_IMAGE2D,
        image_width: 16,
        image_height: 16,
        image_depth: 1,
        image_array_size: 1,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    // SAFETY: there is no host memory.
    let image = unsafe {
        Image::create(
            &program.context,
            CL_MEM_READ_WRITE,
            &raw const format,
            &raw const description,
            ptr::null_mut(),
        )
    };
    // A device without images has none that could be passed.
    let Ok(image) = image else { return };
    let error = buffer_of(program.tuned().context(), image.get(), 16).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the buffer cannot be used with cltune: it is an image; a `Buffer` takes buffers and parts \
         of buffers (sub-buffers) alone"
    );
}

#[test]
fn a_buffer_that_is_too_small_is_refused_with_both_sizes() {
    let program = Program::new();
    let queue = program.tuned();
    let theirs = program.buffer(&[0.0; 10]);
    let error = buffer_of(queue.context(), theirs.get(), 11).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the buffer cannot be used with cltune: it has 40 bytes, and 11 elements of type f32 take \
         44; pass the length that it has, or make it larger"
    );
    // SAFETY: the buffer is alive.
    let doubles = unsafe { Buffer::<f64>::from_raw(queue.context(), theirs.get(), 10) };
    assert!(matches!(
        reason(doubles),
        ForeignError::TooSmall {
            bytes: 40,
            needed: 80,
            ..
        }
    ));
    let endless = buffer_of(queue.context(), theirs.get(), usize::MAX).unwrap_err();
    assert!(matches!(endless, Error::TooLarge { .. }), "{endless}");
    // Fewer elements are fine, and a launch checks what it needs.
    let mut fewer = buffer_of(queue.context(), theirs.get(), 8).unwrap();
    let error = affine(&queue, N, 1.0, 1.0, &mut fewer).unwrap_err();
    assert!(
        matches!(error, Error::BufferTooShort { found: 8, .. }),
        "{error}"
    );
}

#[test]
fn objects_of_another_context_are_refused() {
    let (program, other) = (Program::new(), Program::new());
    let (queue, other_queue) = (program.tuned(), other.tuned());
    let theirs = other.buffer(&[1.0; N as usize]);
    let error = buffer_of(queue.context(), theirs.get(), N as usize).unwrap_err();
    assert!(matches!(error, Error::OtherContext { .. }), "{error}");

    let mut foreign = lent(&other_queue, &theirs);
    let error = affine(&queue, N, 1.0, 1.0, &mut foreign).unwrap_err();
    assert!(matches!(error, Error::OtherContext { .. }), "{error}");
    let error = foreign.read(&queue).unwrap_err();
    assert!(matches!(error, Error::OtherContext { .. }), "{error}");

    let own = program.buffer(&[1.0; N as usize]);
    let mut own = lent(&queue, &own);
    let event = affine(&queue, N, 1.0, 1.0, &mut own).unwrap();
    let foreign_event = affine(&other_queue, N, 1.0, 1.0, &mut foreign).unwrap();
    let error = queue.after(&[&event, &foreign_event]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("event 2 of 2 belongs to another context"),
        "{error}"
    );
}

/// Which drivers recognise an object of another kind is theirs to say; those of these tests do.
/// OpenCL has no way to recognise a handle that was released for the last time.
#[test]
fn objects_of_another_kind_are_refused_where_the_driver_recognises_them() {
    let program = Program::new();
    let queue = program.tuned();
    // PoCL 3.1 does not look, and reads the wrong fields.
    if !program.device.info().platform.starts_with("Intel") {
        return;
    }
    let theirs = program.buffer(&[1.0; N as usize]);
    let (context, command_queue) = (program.context.get(), program.queue.get());
    let of_kind = |reason| matches!(reason, ForeignError::OtherKind { .. });
    assert!(of_kind(reason(context_of(command_queue, &program.device))));
    assert!(of_kind(reason(queue_of(context))));
    assert!(of_kind(reason(buffer_of(
        queue.context(),
        command_queue,
        1
    ))));
    assert!(of_kind(reason(event_of(theirs.get()))));
    let error = queue_of(context).unwrap_err().to_string();
    assert!(error.contains("CL_INVALID_COMMAND_QUEUE"), "{error}");
}
