//! Image objects.

use super::memory::KernelAccess;
use super::{RawBuffer, RawContext, RawEvent, RawQueue, Status, WaitList, number};
use cl3::command_queue;
use cl3::memory::{self, cl_image_desc, cl_image_format, cl_mem, cl_mem_flags, cl_mem_object_type};
use cl3::types::CL_TRUE;
use cltune_core::model::{ElementType, ImageKind, ImageShape, ScalarType};
use std::ptr;

/// An image object.
#[derive(Debug)]
pub(crate) struct RawImage {
    pub(super) mem: cl_mem,
    pub(super) shape: ImageShape,
    pub(super) access: KernelAccess,
}

// SAFETY: memory objects may be used from any thread (OpenCL 3.0 API specification, appendix
// A.2); the contents are only reached through commands of queues.
unsafe impl Send for RawImage {}
// SAFETY: as above.
unsafe impl Sync for RawImage {}

/// The use that kernels make of an image, by which OpenCL tells which formats there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageUse {
    /// Kernels only read it.
    Read,
    /// Some read it, and some write it.
    ReadOrWrite,
    /// One kernel reads and writes it.
    ReadAndWrite,
}

impl ImageUse {
    const fn flags(self) -> cl_mem_flags {
        match self {
            Self::Read => memory::CL_MEM_READ_ONLY,
            Self::ReadOrWrite => memory::CL_MEM_READ_WRITE,
            Self::ReadAndWrite => memory::CL_MEM_KERNEL_READ_AND_WRITE,
        }
    }
}

impl RawImage {
    /// An image that kernels only read, or that some read and some write.
    pub(crate) fn new(
        context: &RawContext,
        shape: ImageShape,
        is_read_only: bool,
    ) -> Result<Self, Status> {
        let (usage, access) = if is_read_only {
            (ImageUse::Read, KernelAccess::ReadOnly)
        } else {
            (ImageUse::ReadOrWrite, KernelAccess::ReadWrite)
        };
        let format = format(shape)?;
        let description = description(shape);
        // SAFETY: format and description are valid during the call, and no host pointer is passed,
        // so that nothing must outlive it.
        let mem = unsafe {
            memory::create_image(
                context.0,
                usage.flags(),
                &raw const format,
                &raw const description,
                ptr::null_mut(),
            )
        };
        Ok(Self {
            mem: mem.map_err(Status)?,
            shape,
            access,
        })
    }

    pub(crate) fn shape(&self) -> ImageShape {
        self.shape
    }

    /// What kernels may do with it.
    pub(crate) fn access(&self) -> KernelAccess {
        self.access
    }
}

impl Drop for RawImage {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own and is released once. Commands that still
        // use it hold their own reference.
        let _ = unsafe { memory::release_mem_object(self.mem) };
    }
}

impl RawContext {
    /// Whether the devices of the context have images of a kind and format. True where the driver
    /// does not tell.
    pub(crate) fn has_format(&self, shape: ImageShape, usage: ImageUse) -> bool {
        let Ok(format) = format(shape) else {
            return false;
        };
        let formats =
            memory::get_supported_image_formats(self.0, usage.flags(), object_type(shape.kind));
        formats.map_or(true, |formats| {
            formats.iter().any(|known| {
                known.image_channel_order == format.image_channel_order
                    && known.image_channel_data_type == format.image_channel_data_type
            })
        })
    }
}

impl RawQueue {
    /// Reads all pixels; blocks until they are there.
    pub(crate) fn read_image(&self, image: &RawImage, target: &mut [u8]) -> Result<(), Status> {
        check_bytes(image, target.len())?;
        let (origin, region) = ([0; 3], image.shape.size);
        // SAFETY: the target has as many bytes as the image, rows and slices without gaps, and the
        // call blocks until the transfer has ended. The arrays are read during the call.
        let event = unsafe {
            command_queue::enqueue_read_image(
                self.0,
                image.mem,
                CL_TRUE,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                target.as_mut_ptr().cast(),
                0,
                ptr::null(),
            )
        };
        event.map(|event| drop(RawEvent(event))).map_err(Status)
    }

    /// Writes all pixels; blocks until the source may be reused, and returns the event of the
    /// transfer, which may go on.
    pub(crate) fn write_image(&self, image: &RawImage, source: &[u8]) -> Result<RawEvent, Status> {
        check_bytes(image, source.len())?;
        let (origin, region) = ([0; 3], image.shape.size);
        // SAFETY: the source has as many bytes as the image, rows and slices without gaps, and the
        // call blocks until OpenCL has taken them. The arrays are read during the call.
        let event = unsafe {
            command_queue::enqueue_write_image(
                self.0,
                image.mem,
                CL_TRUE,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                source.as_ptr().cast_mut().cast(),
                0,
                ptr::null(),
            )
        };
        event.map(RawEvent).map_err(Status)
    }

    /// Copies the beginning of a buffer to all pixels of an image on the device, after events of
    /// the same context.
    pub(crate) fn copy_to_image(
        &self,
        source: &RawBuffer,
        target: &RawImage,
        after: Option<&WaitList>,
    ) -> Result<RawEvent, Status> {
        // PoCL 3.1 crashes where the buffer is a region of another.
        let (source, begin) = source.whole()?;
        let (origin, region) = ([0; 3], target.shape.size);
        // SAFETY: both handles are alive; OpenCL checks the bounds. The arrays and the list of live
        // events are read during the call.
        let event = WaitList::with(after, |events, list| unsafe {
            command_queue::enqueue_copy_buffer_to_image(
                self.0,
                source,
                target.mem,
                begin,
                origin.as_ptr(),
                region.as_ptr(),
                events,
                list,
            )
        });
        event.map(RawEvent).map_err(Status)
    }

    /// Copies all pixels of an image to the beginning of a buffer on the device.
    #[cfg(feature = "tuning")]
    pub(crate) fn copy_from_image(
        &self,
        source: &RawImage,
        target: &RawBuffer,
    ) -> Result<RawEvent, Status> {
        let (target, begin) = target.whole()?;
        let (origin, region) = ([0; 3], source.shape.size);
        // SAFETY: both handles are alive; OpenCL checks the bounds. The arrays are read during the
        // call.
        let event = unsafe {
            command_queue::enqueue_copy_image_to_buffer(
                self.0,
                source.mem,
                target,
                origin.as_ptr(),
                region.as_ptr(),
                begin,
                0,
                ptr::null(),
            )
        };
        event.map(RawEvent).map_err(Status)
    }
}

fn check_bytes(image: &RawImage, bytes: usize) -> Result<(), Status> {
    if image.shape.bytes() == bytes {
        Ok(())
    } else {
        Err(Status(cl3::error_codes::CL_INVALID_VALUE))
    }
}

const fn object_type(kind: ImageKind) -> cl_mem_object_type {
    match kind {
        ImageKind::Image2d => memory::CL_MEM_OBJECT_IMAGE2D,
        ImageKind::Image3d => memory::CL_MEM_OBJECT_IMAGE3D,
        ImageKind::Image2dArray => memory::CL_MEM_OBJECT_IMAGE2D_ARRAY,
    }
}

/// The kind of image of a memory object; `None` for others.
pub(super) fn kind_of(object: cl_mem_object_type) -> Option<ImageKind> {
    let mut kinds = ImageKind::ALL.into_iter();
    kinds.find(|kind| object_type(*kind) == object)
}

/// The pixel of an image, and whether it is of normalized integers; `None` for another format.
pub(super) fn format_of(image: cl_mem) -> Result<Option<(ElementType, bool)>, Status> {
    let found = memory::get_image_data(image, memory::CL_IMAGE_FORMAT).map_err(Status)?;
    let (order, data_type) = found.split_at(size_of::<u32>().min(found.len()));
    let (order, data_type) = (number(order) as u32, number(data_type) as u32);
    let lanes = [1, 2, 4].into_iter();
    let elements = lanes.flat_map(|lanes| {
        let scalars = ScalarType::ALL.iter();
        scalars.map(move |scalar| ElementType::vector(*scalar, lanes))
    });
    let mut pixels = elements.flat_map(|element| [(element, false), (element, true)]);
    Ok(pixels.find(|(element, normalized)| {
        let of = format(ImageShape {
            kind: ImageKind::Image2d,
            element: *element,
            normalized: *normalized,
            size: [1; 3],
        });
        of.is_ok_and(|of| {
            of.image_channel_order == order && of.image_channel_data_type == data_type
        })
    }))
}

/// The size of an image as that of its shape.
pub(super) fn sizes_of(image: cl_mem, kind: ImageKind) -> Result<[usize; 3], Status> {
    let ask = |what| {
        let size = memory::get_image_data(image, what).map_err(Status)?;
        Ok(usize::try_from(number(&size)).unwrap_or(usize::MAX))
    };
    let third = match kind {
        ImageKind::Image2d => 1,
        ImageKind::Image3d => ask(memory::CL_IMAGE_DEPTH)?,
        ImageKind::Image2dArray => ask(memory::CL_IMAGE_ARRAY_SIZE)?,
    };
    Ok([
        ask(memory::CL_IMAGE_WIDTH)?,
        ask(memory::CL_IMAGE_HEIGHT)?,
        third,
    ])
}

fn description(shape: ImageShape) -> cl_image_desc {
    let [width, height, depth] = shape.size;
    let (image_depth, image_array_size) = match shape.kind {
        ImageKind::Image2d => (0, 0),
        ImageKind::Image3d => (depth, 0),
        ImageKind::Image2dArray => (0, depth),
    };
    cl_image_desc {
        image_type: object_type(shape.kind),
        image_width: width,
        image_height: height,
        image_depth,
        image_array_size,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    }
}

/// The format of a pixel, if there is one.
fn format(shape: ImageShape) -> Result<cl_image_format, Status> {
    let ElementType::Vector { scalar, lanes } = shape.element else {
        return Err(no_format());
    };
    let order = match lanes {
        1 => memory::CL_R,
        2 => memory::CL_RG,
        4 => memory::CL_RGBA,
        _ => return Err(no_format()),
    };
    let data_type = match (scalar, shape.normalized) {
        (ScalarType::I8, true) => memory::CL_SNORM_INT8,
        (ScalarType::U8, true) => memory::CL_UNORM_INT8,
        (ScalarType::I16, true) => memory::CL_SNORM_INT16,
        (ScalarType::U16, true) => memory::CL_UNORM_INT16,
        (ScalarType::I8, false) => memory::CL_SIGNED_INT8,
        (ScalarType::U8, false) => memory::CL_UNSIGNED_INT8,
        (ScalarType::I16, false) => memory::CL_SIGNED_INT16,
        (ScalarType::U16, false) => memory::CL_UNSIGNED_INT16,
        (ScalarType::I32, false) => memory::CL_SIGNED_INT32,
        (ScalarType::U32, false) => memory::CL_UNSIGNED_INT32,
        (ScalarType::F16, false) => memory::CL_HALF_FLOAT,
        (ScalarType::F32, false) => memory::CL_FLOAT,
        _ => return Err(no_format()),
    };
    Ok(cl_image_format {
        image_channel_order: order,
        image_channel_data_type: data_type,
    })
}

const fn no_format() -> Status {
    Status(cl3::error_codes::CL_IMAGE_FORMAT_NOT_SUPPORTED)
}
