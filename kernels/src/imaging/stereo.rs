//! Disparities of two pictures.

use super::ImagingError;
use super::error::{LARGEST_DISPARITIES, picture_size, window_size};
use cltune::{Buffer, Event, Queue, Result, tunable};

/// How pixels of two pictures are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matching {
    /// Pixels in each direction of the window that is compared: odd, at most 127.
    pub window: u32,
    /// The disparities that are tried, from 0 on: at least 1, at most 65,536.
    pub disparities: u32,
}

/// Writes the disparity of each pixel of the left picture into the first `width * height` elements
/// of `disparity`: how many pixels farther to the left the right picture shows the same. Both
/// pictures are `width` x `height` gray values, row by row, taken side by side (rectified), so that
/// what is in a row of one is in the same row of the other. The distance of what a pixel shows is
/// the cameras' distance times their focal length in pixels, divided by the disparity.
///
/// The disparity is that for which the sum of the absolute differences in a window around the pixel
/// is least, the smallest of several; beyond the edges there is the nearest pixel. It uses the best
/// values known for the queue's device and the sizes. Pictures without pixels are matched without a
/// launch: `None`.
///
/// # Errors
/// A picture that is too large or has too few pixels, an even window, no disparities:
/// [`ImagingError`].
pub fn match_stereo(
    queue: &Queue,
    width: u32,
    height: u32,
    matching: Matching,
    left: &Buffer<u8>,
    right: &Buffer<u8>,
    disparity: &mut Buffer<u16>,
) -> Result<Option<Event>, ImagingError> {
    let window = window_size(matching.window)?;
    let count = matching.disparities;
    if !(1..=LARGEST_DISPARITIES).contains(&count) {
        return Err(ImagingError::Disparities { count });
    }
    let Some((width, height)) = picture_size(width, height)? else {
        return Ok(None);
    };
    Ok(Some(imaging_stereo(
        queue,
        width,
        height,
        window,
        count as i32,
        left,
        right,
        disparity,
    )?))
}

/// The disparity of each pixel of two pictures of `width` x `height` gray values, from 0 to
/// `disparities - 1`, by the sum of absolute differences in a window of `window` x `window` pixels,
/// `window` odd. [`match_stereo`](match_stereo()) is the checked way to call it.
///
/// The kernel is the stereo matching of Falch & Elster 2015, tables 1 and 2, with the parameters
/// and values of that paper: 2,359,296 configurations. docs/imaging.md says what each does.
///
/// # Errors
/// A buffer is too short, no configuration suits the sizes (as where one is 0), or OpenCL fails.
#[tunable(
    source = "src/imaging/stereo.cl",
    params(
        WGX = powers_of_two(1..=128), WGY = powers_of_two(1..=128),
        PPX = powers_of_two(1..=128), PPY = powers_of_two(1..=128),
        LEFT = ["buffer", "image"],
        RIGHT = ["buffer", "image"],
        LEFT_LOCAL = [false, true],
        RIGHT_LOCAL = [false, true],
        UNROLL_DISPARITY = [1, 2, 4, 8],
        UNROLL_X = [1, 2, 4],
        UNROLL_Y = [1, 2, 4],
    ),
    global(width.div_ceil(WGX * PPX) * WGX, height.div_ceil(WGY * PPY) * WGY),
    local(WGX, WGY),
    local_memory(
        (if LEFT_LOCAL { (WGX * PPX + window - 1) * (WGY * PPY + window - 1) } else { 0 })
            + if RIGHT_LOCAL {
                (WGX * PPX + window + disparities - 2) * (WGY * PPY + window - 1)
            } else {
                0
            }
    ),
    defaults(
        WGX = 16, WGY = 16, PPX = 1, PPY = 1, LEFT = "buffer", RIGHT = "buffer", LEFT_LOCAL = false,
        RIGHT_LOCAL = false, UNROLL_DISPARITY = 1, UNROLL_X = 1, UNROLL_Y = 1,
    ),
    // A processor takes seconds for the paper's size, and likes the values of a quarter of it in
    // each direction.
    tune(width = 1024, height = 1024, window = 9, disparities = 64),
    tune(width = 256, height = 256, window = 9, disparities = 64),
    tune_if(device.is_gpu == 1 || width <= 256),
    defines(WINDOW = window, DISPARITIES = disparities),
    reference(
        kernel = "imaging_stereo_reference", source = "src/imaging/stereo_reference.cl", global(width, height),
    ),
    bytes(4 * width * height),
    flops(2 * window * window * disparities * width * height),
)]
pub fn imaging_stereo(
    queue: &Queue,
    width: i32,
    height: i32,
    #[arg(host_only)] window: i32,
    #[arg(host_only)] disparities: i32,
    #[arg(len = width * height, memory = LEFT, image = [width, height], fill = uniform(0, 255))]
    left: &Buffer<u8>,
    #[arg(len = width * height, memory = RIGHT, image = [width, height], fill = uniform(0, 255))]
    right: &Buffer<u8>,
    #[arg(out, len = width * height)] disparity: &mut Buffer<u16>,
) -> Result<Event>;
