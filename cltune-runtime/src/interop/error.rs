//! The reasons why an object that another part of the program made cannot be used.

use crate::opencl::Status;
use cltune_core::Text;

/// Why an object that another part of the program made cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// The pointer is null.
    #[error("the pointer is null")]
    Null,
    /// OpenCL does not know the handle as an object of this kind.
    #[error(
        "OpenCL does not take it for one: {status}; check which kind of object was passed, and that \
         it was not released"
    )]
    OtherKind {
        /// OpenCL's answer.
        status: Status,
    },
    /// The memory object is no buffer.
    #[error("it is {found}; a `Buffer` takes buffers and parts of buffers (sub-buffers) alone")]
    NoBuffer {
        /// The kind of object in words.
        found: &'static str,
    },
    /// The memory object is not an image of the kind.
    #[error("it is {found}, and {expected} was expected")]
    NoImage {
        /// The type of image that was expected.
        expected: &'static str,
        /// The kind of object in words.
        found: &'static str,
    },
    /// The pixels of an image are of another type.
    #[error("its pixels are {found}, and pixels of type {expected} were expected")]
    OtherPixel {
        /// The type of a pixel that was expected.
        expected: String,
        /// What they are.
        found: String,
    },
    /// The buffer is too small for the elements it is said to have.
    #[error(
        "it has {bytes} bytes, and {len} elements of type {element} take {needed}; pass the length \
         that it has, or make it larger"
    )]
    TooSmall {
        /// Bytes of the buffer.
        bytes: usize,
        /// Elements.
        len: usize,
        /// The type of an element.
        element: Text,
        /// Bytes of these elements.
        needed: usize,
    },
    /// The context does not have the device.
    #[error(
        "it does not have the device {device}; its devices: {}", devices.join(", ")
    )]
    WithoutDevice {
        /// The device.
        device: String,
        /// The names of the devices that it has.
        devices: Vec<String>,
    },
    /// The device is none that OpenCL lists.
    #[error(
        "its device is not one that OpenCL lists: cltune works on whole devices, not on \
         sub-devices; use the parent device"
    )]
    NoRootDevice,
    /// The queue takes commands of kernels.
    #[error(
        "it is a queue on the device, for commands of kernels; use one of the host, made without \
         CL_QUEUE_ON_DEVICE"
    )]
    OnDevice,
}
