//! Means of the pixels around each pixel.

use super::ImagingError;
use super::error::{picture_size, window_size};
use crate::conv2d::Border;
use cltune::{Buffer, Event, Queue, Result, tunable};

/// A one-channel picture of floats on a device, with the margin that a box filter of one size
/// needs.
#[derive(Debug)]
pub struct Picture {
    width: u32,
    height: u32,
    size: u32,
    border: Border,
    /// With the margin, row by row; nothing where the picture has no pixels.
    pixels: Buffer<f32>,
}

impl Picture {
    /// The picture of `width` x `height` floats in the first elements of `pixels`, row by row, for
    /// means of `size` x `size` pixels: it is copied on the device, with a margin of `size / 2`
    /// pixels as `border` says.
    ///
    /// # Errors
    /// The size is even, 0 or above 127, the picture is too large, or `pixels` is too short:
    /// [`ImagingError`].
    pub fn new(
        queue: &Queue,
        width: u32,
        height: u32,
        pixels: &Buffer<f32>,
        size: u32,
        border: Border,
    ) -> Result<Self, ImagingError> {
        window_size(size)?;
        let padded = match picture_size(width, height)? {
            Some(_) => (width + size - 1) as usize * (height + size - 1) as usize,
            None => 0,
        };
        let mut picture = Self {
            width,
            height,
            size,
            border,
            pixels: Buffer::new(queue.context(), padded)?,
        };
        picture.set(queue, pixels)?;
        Ok(picture)
    }

    /// Takes other pixels, as many as before, with a margin of the same kind. A picture without
    /// pixels is set without a launch: `None`.
    ///
    /// # Errors
    /// `pixels` is too short, or OpenCL fails: [`ImagingError::Runtime`].
    pub fn set(
        &mut self,
        queue: &Queue,
        pixels: &Buffer<f32>,
    ) -> Result<Option<Event>, ImagingError> {
        let Some((width, height)) = picture_size(self.width, self.height)? else {
            return Ok(None);
        };
        let size = window_size(self.size)?;
        let border = self.border.code();
        Ok(Some(imaging_pad(
            queue,
            width,
            height,
            size,
            border,
            pixels,
            &mut self.pixels,
        )?))
    }

    /// Pixels in a row, without the margin.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The number of rows, without the margin.
    pub fn height(&self) -> u32 {
        self.height
    }
}

/// Writes the mean of the pixels around each pixel of a picture, in the window that the picture was
/// made for, into the first `width * height` elements of `output`, row by row.
///
/// It uses the best values known for the queue's device and the size. A picture without pixels is
/// filtered without a launch: `None`.
///
/// Sums are added up in single precision. A pixel that is NaN or infinite changes exactly the
/// pixels whose window it is in.
///
/// # Errors
/// `output` is too short, or OpenCL fails: [`ImagingError::Runtime`].
pub fn box_filter(
    queue: &Queue,
    picture: &Picture,
    output: &mut Buffer<f32>,
) -> Result<Option<Event>, ImagingError> {
    let Some((width, height)) = picture_size(picture.width, picture.height)? else {
        return Ok(None);
    };
    let size = window_size(picture.size)?;
    let scale = 1.0 / (size * size) as f32;
    let border = picture.border.code();
    Ok(Some(imaging_box(
        queue,
        width,
        height,
        size,
        border,
        scale,
        &picture.pixels,
        output,
    )?))
}

/// Copies a picture of `width` x `height` floats with a margin of `size / 2` pixels. `border` says
/// what is there: 0 zeros, 1 the nearest pixel, 2 the picture mirrored at its outermost pixels, 3
/// the picture again. [`Picture::new`] is the checked way to call it.
///
/// # Errors
/// A buffer is too short, or OpenCL fails.
#[tunable(
    source = "src/imaging/pad.cl",
    params(WG = powers_of_two(16..=256), ROWS = powers_of_two(1..=64)),
    global((width + size - 1).next_multiple_of(WG), (height + size - 1).div_ceil(ROWS)),
    local(WG, 1),
    defaults(WG = 64, ROWS = 8),
    tune(width = 2048, height = 2048, size = 5),
    defines(SIZE = size),
    tolerance(rel = 0, abs = 0),
    bytes(8 * width * height),
)]
pub fn imaging_pad(
    queue: &Queue,
    width: i32,
    height: i32,
    #[arg(host_only)] size: i32,
    #[arg(value = 1)] border: i32,
    #[arg(len = width * height)] plain: &Buffer<f32>,
    #[arg(out, len = (width + size - 1) * (height + size - 1))] picture: &mut Buffer<f32>,
) -> Result<Event>;

/// Sums the `size` x `size` pixels around each pixel of a picture of `width` x `height` floats,
/// `size` odd, and multiplies each sum by `scale`. The picture has a margin of `size / 2` pixels,
/// which [`imaging_pad()`] makes with the same `border`. [`box_filter`](box_filter()) is the
/// checked way to call it.
///
/// The kernel is the convolution of Falch & Elster 2015, tables 1 and 2, with the parameters and
/// values of that paper: 131,072 configurations. docs/imaging.md says what each does.
///
/// # Errors
/// A buffer is too short, no configuration suits the sizes (as where one is 0), or OpenCL fails.
#[tunable(
    source = "src/imaging/box.cl",
    params(
        WGX = powers_of_two(1..=128), WGY = powers_of_two(1..=128),
        PPX = powers_of_two(1..=128), PPY = powers_of_two(1..=128),
        PICTURE = ["buffer", "image"],
        LOCAL = [false, true],
        PAD = [false, true],
        INTERLEAVED = [false, true],
        UNROLL = [false, true],
    ),
    constraints(!UNROLL || size <= 15),
    global(width.div_ceil(WGX * PPX) * WGX, height.div_ceil(WGY * PPY) * WGY),
    local(WGX, WGY),
    local_memory(if LOCAL { 4 * (WGX * PPX + size - 1) * (WGY * PPY + size - 1) } else { 0 }),
    defaults(
        WGX = 16, WGY = 16, PPX = 1, PPY = 1, PICTURE = "buffer", LOCAL = false, PAD = true, INTERLEAVED = true,
        UNROLL = false,
    ),
    tune(width = 2048, height = 2048, size = 5),
    defines(SIZE = size),
    prepare(
        source = "src/imaging/box_reference.cl",
        stage(noise_with_margin(width, height, border, picture), global(width + size - 1, height + size - 1)),
    ),
    reference(kernel = "imaging_box_reference", source = "src/imaging/box_reference.cl", global(width, height)),
    tolerance(accumulates = size * size),
    bytes(8 * width * height),
    flops(size * size * width * height),
)]
pub fn imaging_box(
    queue: &Queue,
    width: i32,
    height: i32,
    #[arg(host_only)] size: i32,
    #[arg(value = 1)] border: i32,
    scale: f32,
    #[arg(
        len = (width + size - 1) * (height + size - 1),
        memory = PICTURE, image = [width + size - 1, height + size - 1],
        fill = prepared,
    )]
    picture: &Buffer<f32>,
    #[arg(out, len = width * height)] output: &mut Buffer<f32>,
) -> Result<Event>;
