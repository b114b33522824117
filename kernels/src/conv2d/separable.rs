//! The kernel for weights that are the products of a column and a row.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// Convolves a picture of `width` x `height` floats with `filter` x `filter` weights, `filter` odd,
/// of which the one in the column `i` and the row `j` is `factors(j) * factors(filter + i)`: first
/// the column, then the row. It sums up `2 * filter` products for each pixel, where
/// [`conv2d_direct`](super::conv2d_direct()) sums up `filter * filter`. `border` is the same there.
/// The factors have to be finite. [`convolve`](super::convolve()) is the checked way to call it.
///
/// docs/conv2d.md says what each parameter does.
///
/// # Errors
/// A buffer is too short, no configuration suits the sizes (as where one is 0), or OpenCL fails.
#[tunable(
    source = "src/conv2d/separable.cl",
    params(
        XWG = [8, 16, 32, 64], YWG = [1, 2, 4, 8, 16],
        XWPT = [1, 2, 4, 8, 16], YWPT = [1, 2, 4, 8, 16, 32, 64],
        VW = [1, 2, 4, 8, 16],
        LOCAL = [false, true],
        UNR = [0, 1, 2],
    ),
    constraints(
        XWPT % VW == 0,
        UNR == 0 || 2 * filter * (XWPT / VW) * if UNR == 2 { YWPT + filter - 1 } else { 1 } <= 1024,
    ),
    global(width.div_ceil(XWG * XWPT) * XWG, height.div_ceil(YWG * YWPT) * YWG),
    local(XWG, YWG),
    local_memory(if LOCAL { 4 * (YWG * YWPT + filter - 1) * XWG * XWPT } else { 0 }),
    tune(width = 2048, height = 2048, filter = [3, 7, 11]),
    defaults(XWG = 16, YWG = 16, XWPT = 1, YWPT = 4, VW = 1, LOCAL = false, UNR = 1),
    options("-cl-mad-enable"),
    defines(
        FILTER = filter,
        ROW_ALIGNMENT =
            if width % 16 == 0 { 16 } else if width % 8 == 0 { 8 } else if width % 4 == 0 { 4 }
            else if width % 2 == 0 { 2 } else { 1 },
    ),
    reference(
        kernel = "conv2d_separable_reference",
        source = "src/conv2d/separable_reference.cl",
        global(width, height),
    ),
    tolerance(accumulates = 2 * filter),
    bytes(8 * width * height),
    flops(4 * filter * width * height),
)]
pub fn conv2d_separable(
    queue: &Queue,
    width: i32,
    height: i32,
    #[arg(host_only)] filter: i32,
    #[arg(value = 1)] border: i32,
    #[arg(len = 2 * filter)] factors: &Buffer<f32>,
    #[arg(len = width * height)] input: &Buffer<f32>,
    #[arg(out, len = width * height)] output: &mut Buffer<f32>,
) -> Result<Event>;
