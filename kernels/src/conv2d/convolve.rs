//! The function that programs call.

use super::{Border, Filter, conv2d_direct, conv2d_separable};
use cltune::{Buffer, Event, Queue};
use std::fmt;

/// Why a picture is not filtered.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Conv2dError {
    /// The picture is too wide or too high.
    #[error(
        "a picture of {width} x {height}: at most {LARGEST} pixels in each direction are possible; \
         filter it in parts"
    )]
    Size {
        /// Pixels in a row.
        width: u32,
        /// The number of rows.
        height: u32,
    },
    /// A buffer is too short, or OpenCL fails.
    #[error(transparent)]
    Runtime(#[from] cltune::Error),
}

/// As its text, as [`cltune::Error`].
impl fmt::Debug for Conv2dError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The kernel's coordinates have 32 bits, and it looks a little beyond the picture.
const LARGEST: u32 = 1 << 30;
/// From this size of filter on GPUs are no slower with factors, by what an H200 took for each way
/// (docs/conv2d.md).
const LEAST_SEPARABLE: i32 = 7;

/// Filters a picture of `width` x `height` floats, row by row in the first elements of `input`,
/// into the same elements of `output`: each pixel becomes the sum of the pixels around it, times
/// the filter's weights, the first of which belongs to its upper left neighbour (a correlation, in
/// the terms of signal processing: rotate the weights by half a turn for the other one).
///
/// It uses the best values known for the queue's device and the size. A picture without pixels is
/// filtered without a launch: `None`.
///
/// Where the filter has [factors](Filter::factors()), rows are summed up first, and then columns of
/// these sums, by [`conv2d_separable`](super::conv2d_separable()). Otherwise each weight is applied
/// by itself, by [`conv2d_direct`](super::conv2d_direct()).
///
/// Sums are added up in single precision. A pixel that is NaN or infinite changes exactly the
/// pixels whose window it is in; beyond [`Border::Zero`] there are zeros, so that infinite weights
/// give NaN there.
///
/// # Errors
/// [`Conv2dError`].
pub fn convolve(
    queue: &Queue,
    width: u32,
    height: u32,
    filter: &Filter,
    border: Border,
    input: &Buffer<f32>,
    output: &mut Buffer<f32>,
) -> Result<Option<Event>, Conv2dError> {
    if width > LARGEST || height > LARGEST {
        return Err(Conv2dError::Size { width, height });
    }
    if width == 0 || height == 0 {
        return Ok(None);
    }
    let (width, height, size) = (width as i32, height as i32, filter.size() as i32);
    let border = border.code();
    let is_worth_it = size >= LEAST_SEPARABLE || queue.device().info().limits.is_cpu == 1;
    Ok(Some(match filter.factors().filter(|_| is_worth_it) {
        Some(factors) => {
            conv2d_separable(queue, width, height, size, border, factors, input, output)?
        }
        None => conv2d_direct(
            queue,
            width,
            height,
            size,
            border,
            filter.weights(),
            input,
            output,
        )?,
    }))
}
