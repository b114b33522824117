//! Arguments of a call, borrowed for its length.

use crate::buffer::Buffer;
use crate::context::Context;
use crate::element::Element;
use crate::image::{Image, ImageSize, Pixel};
use crate::kept_images::KeptImages;
use crate::opencl::{RawBuffer, RawImage};

/// An argument of a call, in the order of the Rust function.
#[derive(Clone, Copy, Debug)]
pub struct Arg<'a>(pub(crate) Passed<'a>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed<'a> {
    Scalar(&'a [u8]),
    Buffer {
        raw: &'a RawBuffer,
        context: &'a Context,
        len: usize,
        /// The element at which the kernel's vector begins.
        offset: u64,
        /// How many elements apart those of the vector are; negative from its end on.
        stride: i64,
        /// The images that it is converted to; `None` where it is never an image.
        images: Option<&'a KeptImages>,
    },
    Image {
        raw: &'a RawImage,
        context: &'a Context,
    },
}

impl<'a> Arg<'a> {
    /// A scalar.
    #[inline]
    pub fn scalar<T: Element>(value: &'a T) -> Self {
        Self(Passed::Scalar(T::as_bytes(std::slice::from_ref(value))))
    }

    /// A buffer that the kernel reads.
    #[inline]
    pub fn buffer<T: Element>(buffer: &'a Buffer<T>) -> Self {
        Self(Passed::Buffer {
            raw: buffer.raw(),
            context: buffer.context(),
            len: buffer.len(),
            offset: 0,
            stride: 1,
            images: Some(buffer.images()),
        })
    }

    /// A buffer of which the kernel uses elements that begin at `offset` and lie `stride` apart.
    #[inline]
    #[must_use]
    pub fn strided(self, offset: u64, stride: i64) -> Self {
        match self.0 {
            Passed::Buffer {
                raw,
                context,
                len,
                images,
                ..
            } => Self(Passed::Buffer {
                raw,
                context,
                len,
                offset,
                stride,
                images,
            }),
            Passed::Scalar(_) | Passed::Image { .. } => self,
        }
    }

    /// A scalar of these bytes, in the device's order.
    pub(crate) fn bytes(bytes: &'a [u8]) -> Self {
        Self(Passed::Scalar(bytes))
    }

    /// The beginning of a buffer as `len` elements of any type.
    pub(crate) fn part(buffer: &'a Buffer<u8>, len: usize) -> Self {
        Self(Passed::Buffer {
            raw: buffer.raw(),
            context: buffer.context(),
            len,
            offset: 0,
            stride: 1,
            images: None,
        })
    }

    /// The bytes of a scalar.
    pub(crate) fn as_scalar(&self) -> Option<&[u8]> {
        match self.0 {
            Passed::Scalar(bytes) => Some(bytes),
            Passed::Buffer { .. } | Passed::Image { .. } => None,
        }
    }

    /// A buffer with the number of its elements.
    pub(crate) fn as_buffer(&self) -> Option<(&RawBuffer, usize)> {
        match self.0 {
            Passed::Buffer { raw, len, .. } => Some((raw, len)),
            Passed::Scalar(_) | Passed::Image { .. } => None,
        }
    }

    /// An image.
    pub(crate) fn as_image(&self) -> Option<&RawImage> {
        match self.0 {
            Passed::Image { raw, .. } => Some(raw),
            Passed::Scalar(_) | Passed::Buffer { .. } => None,
        }
    }

    /// A buffer that the kernel writes.
    #[inline]
    pub fn buffer_mut<T: Element>(buffer: &'a mut Buffer<T>) -> Self {
        buffer.change();
        Self::buffer(buffer)
    }

    /// An image that the kernel reads.
    #[inline]
    pub fn image<T: Pixel, S: ImageSize>(image: &'a Image<T, S>) -> Self {
        Self(Passed::Image {
            raw: image.raw(),
            context: image.context(),
        })
    }

    /// An image that the kernel writes.
    #[inline]
    pub fn image_mut<T: Pixel, S: ImageSize>(image: &'a mut Image<T, S>) -> Self {
        Self::image(image)
    }
}
