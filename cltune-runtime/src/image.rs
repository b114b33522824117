//! Typed images.

use crate::context::Context;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::opencl::{ImageUse, RawContext, RawImage};
use crate::queue::Queue;
use cltune_core::model::{Access, ArgumentKind, ImageKind, ImageShape, Memory, Model};
use std::fmt;
use std::marker::PhantomData;

mod pixel {
    pub trait Sealed {}
}

mod size {
    use cltune_core::model::ImageKind;

    /// What a size says of its image.
    pub trait Sealed {
        const KIND: ImageKind;

        /// From the pixels in each dimension.
        fn of_pixels(pixels: [usize; 3]) -> Self;
    }
}

/// A two-dimensional image: `image2d_t`. Its size is `[width, height]`.
pub type Image2d<T> = Image<T, [usize; 2]>;

/// A three-dimensional image: `image3d_t`. Its size is `[width, height, depth]`.
pub type Image3d<T> = Image<T, [usize; 3]>;

/// An array of two-dimensional images of one size: `image2d_array_t`. Its size is `([width,
/// height], images)`.
pub type Image2dArray<T> = Image<T, ([usize; 2], usize)>;

/// Pixels of type `T` in the memory of a context's device, which kernels see as an image.
///
/// As with a [`Buffer`](crate::Buffer), kernels of any queue of that context can use it; reading
/// and writing go through a queue, and block until the host's side may be used again.
///
/// The kind of image is the type of its size: see [`Image2d`], [`Image3d`] and [`Image2dArray`].
#[derive(Debug)]
pub struct Image<T: Pixel, S: ImageSize> {
    raw: RawImage,
    context: Context,
    size: S,
    pixel: PhantomData<T>,
}

/// The type of a pixel: 1, 2 or 4 channels of at most 32 bits (`f32`, `[f32; 4]`, `u8`), or
/// [`Normalized`] integers. Sealed.
///
/// A scalar is an image of the channel order `CL_R`, two are `CL_RG`, and four are `CL_RGBA`. All
/// devices with images have those of four channels; [`Image::new`] says which format a device
/// lacks.
pub trait Pixel: Send + Sync + pixel::Sealed + 'static {
    /// The pixel as the host has it.
    type Value: Element;
    /// Whether kernels see integers as numbers from 0 or -1 to 1.
    const NORMALIZED: bool;
}

/// A pixel of integers that kernels read and write as numbers from 0 to 1, or from -1 to 1 where
/// they are signed: `Image2d<Normalized<[u8; 4]>>` is an image of `CL_UNORM_INT8`. The host reads
/// and writes the integers.
#[derive(Debug)]
pub struct Normalized<T>(PhantomData<T>);

macro_rules! pixels {
    ($($ty:ty),+ $(,)?) => { $(
        pixels!(@ $ty);
        pixels!(@ [$ty; 2]);
        pixels!(@ [$ty; 4]);
    )+ };
    (@ $ty:ty) => {
        impl pixel::Sealed for $ty {}
        impl Pixel for $ty {
            type Value = Self;
            const NORMALIZED: bool = false;
        }
    };
}

macro_rules! normalized_pixels {
    ($($ty:ty),+ $(,)?) => { $(
        normalized_pixels!(@ $ty);
        normalized_pixels!(@ [$ty; 2]);
        normalized_pixels!(@ [$ty; 4]);
    )+ };
    (@ $ty:ty) => {
        impl pixel::Sealed for Normalized<$ty> {}
        impl Pixel for Normalized<$ty> {
            type Value = $ty;
            const NORMALIZED: bool = true;
        }
    };
}

pixels!(i8, u8, i16, u16, i32, u32, f32);
#[cfg(feature = "f16")]
pixels!(half::f16);
normalized_pixels!(i8, u8, i16, u16);

/// The size of an image, whose type says which kind of image it is. Sealed.
pub trait ImageSize: Copy + fmt::Debug + PartialEq + Send + Sync + size::Sealed + 'static {
    /// The pixels in each dimension, 1 where there is none; last of an array the number of images.
    fn pixels(self) -> [usize; 3];
}

impl size::Sealed for [usize; 2] {
    const KIND: ImageKind = ImageKind::Image2d;

    fn of_pixels([width, height, _]: [usize; 3]) -> Self {
        [width, height]
    }
}

impl ImageSize for [usize; 2] {
    fn pixels(self) -> [usize; 3] {
        [self[0], self[1], 1]
    }
}

impl size::Sealed for [usize; 3] {
    const KIND: ImageKind = ImageKind::Image3d;

    fn of_pixels(pixels: [usize; 3]) -> Self {
        pixels
    }
}

impl ImageSize for [usize; 3] {
    fn pixels(self) -> [usize; 3] {
        self
    }
}

impl size::Sealed for ([usize; 2], usize) {
    const KIND: ImageKind = ImageKind::Image2dArray;

    fn of_pixels([width, height, images]: [usize; 3]) -> Self {
        ([width, height], images)
    }
}

impl ImageSize for ([usize; 2], usize) {
    fn pixels(self) -> [usize; 3] {
        let ([width, height], images) = self;
        [width, height, images]
    }
}

impl<T: Pixel, S: ImageSize> Image<T, S> {
    /// An image with unspecified pixels.
    ///
    /// # Errors
    /// [`Error::ImageFormat`] where the device has no such images; [`Error::OpenCl`] where it
    /// refuses the size, which is at least 1 in each dimension.
    pub fn new(context: &Context, size: S) -> Result<Self> {
        let shape = Self::shape(size);
        check_format(
            context.raw(),
            context.device(),
            shape,
            ImageUse::ReadOrWrite,
        )?;
        let made = RawImage::new(context.raw(), shape, false);
        let raw = made.map_err(Error::call(format!(
            "clCreateImage of {} pixels of {}",
            described(shape.size),
            described_pixel(shape)
        )))?;
        Ok(Self::of(raw, context, size))
    }

    /// An image with the pixels of a slice: row by row, and image by image of a deep one or of an
    /// array.
    ///
    /// # Errors
    /// As [`Image::new`] and [`Image::write`].
    pub fn from_slice(queue: &Queue, size: S, pixels: &[T::Value]) -> Result<Self> {
        let mut image = Self::new(queue.context(), size)?;
        image.write(queue, pixels)?;
        Ok(image)
    }

    /// The size in pixels.
    pub fn size(&self) -> S {
        self.size
    }

    /// The image's context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Replaces every pixel; returns when the slice may be reused.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::OtherContext`], [`Error::OpenCl`].
    pub fn write(&mut self, queue: &Queue, pixels: &[T::Value]) -> Result<()> {
        self.check(queue, pixels.len())?;
        queue.wait_for_earlier()?;
        let written = queue
            .raw()
            .write_image(&self.raw, T::Value::as_bytes(pixels))
            .map_err(Error::call("clEnqueueWriteImage"))?;
        // Elsewhere nobody could wait for it.
        if queue.is_plain() {
            return Ok(());
        }
        written.wait().map_err(Error::call("clWaitForEvents"))
    }

    /// Reads every pixel into a slice, after the queue's earlier commands have ended.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::OtherContext`], [`Error::OpenCl`].
    pub fn read_into(&self, queue: &Queue, pixels: &mut [T::Value]) -> Result<()> {
        self.check(queue, pixels.len())?;
        queue.wait_for_earlier()?;
        queue
            .raw()
            .read_image(&self.raw, T::Value::as_bytes_mut(pixels))
            .map_err(Error::call("clEnqueueReadImage"))
    }

    /// Reads every pixel, after the queue's earlier commands have ended.
    ///
    /// # Errors
    /// [`Error::OtherContext`], [`Error::OpenCl`].
    pub fn read(&self, queue: &Queue) -> Result<Vec<T::Value>> {
        let mut pixels = vec![T::Value::default(); self.raw.shape().pixels()];
        self.read_into(queue, &mut pixels)?;
        Ok(pixels)
    }

    pub(crate) fn raw(&self) -> &RawImage {
        &self.raw
    }

    /// An image object of the context, which has such a format and size.
    pub(crate) fn of(raw: RawImage, context: &Context, size: S) -> Self {
        Self {
            raw,
            context: context.clone(),
            size,
            pixel: PhantomData,
        }
    }

    pub(crate) fn into_raw_image(self) -> RawImage {
        self.raw
    }

    pub(crate) fn shape(size: S) -> ImageShape {
        ImageShape {
            kind: S::KIND,
            element: T::Value::TYPE,
            normalized: T::NORMALIZED,
            size: size.pixels(),
        }
    }

    fn check(&self, queue: &Queue, slice: usize) -> Result<()> {
        if !queue.context().shares_objects_with(&self.context) {
            return Err(Error::OtherContext {
                what: "the image".to_string(),
            });
        }
        let pixels = self.raw.shape().pixels();
        if slice != pixels {
            return Err(Error::LengthMismatch {
                buffer: pixels,
                slice,
            });
        }
        Ok(())
    }
}

/// Whether a device has the images that a configuration's kernels get.
pub(crate) fn check_formats(
    context: &RawContext,
    device: &Device,
    model: &Model,
    images: &[(usize, ImageShape)],
) -> Result<()> {
    for (position, shape) in images {
        let argument = model.arguments.get(*position);
        let usage = match argument.map(|argument| &argument.kind) {
            Some(ArgumentKind::Buffer {
                access: Access::ReadWrite,
                ..
            }) => ImageUse::ReadAndWrite,
            Some(ArgumentKind::Buffer {
                memory: Memory::Image(_),
                ..
            }) => ImageUse::ReadOrWrite,
            _ => ImageUse::Read,
        };
        check_format(context, device, *shape, usage)?;
    }
    Ok(())
}

/// Whether a device has images of a kind and format.
fn check_format(
    context: &RawContext,
    device: &Device,
    shape: ImageShape,
    usage: ImageUse,
) -> Result<()> {
    if context.has_format(shape, usage) {
        return Ok(());
    }
    Err(Error::ImageFormat {
        kind: shape.kind.rust_name(),
        pixel: described_pixel(shape),
        device: device.info().name.clone(),
        usage: match usage {
            ImageUse::Read | ImageUse::ReadOrWrite => "",
            ImageUse::ReadAndWrite => " that a kernel both reads and writes",
        },
    })
}

/// A size for people: `640 x 480`.
pub(crate) fn described(size: [usize; 3]) -> String {
    match size {
        [width, height, 1] => format!("{width} x {height}"),
        [width, height, depth] => format!("{width} x {height} x {depth}"),
    }
}

pub(crate) fn described_pixel(shape: ImageShape) -> String {
    let element = shape.element.rust_name();
    if shape.normalized {
        format!("Normalized<{element}>")
    } else {
        element.into_owned()
    }
}
