//! The tunable kernel.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// Convolves a one-channel picture with a `filter` x `filter` filter, row by row in `weights`.
/// Outside the picture, the nearest pixel counts.
///
/// The constraints say what makes no sense, and leave what may be slow to the tuner: a row of
/// pixels that does not consist of whole vectors, padding of a cache that is not there, more sums
/// than registers, and unrolled code that no instruction cache holds.
#[tunable(
    source = "kernels/convolve.cl",
    params(
        WGX = [4, 8, 16, 32, 64, 128],
        WGY = [1, 2, 4, 8, 16, 32],
        WPTX = [1, 2, 4, 8],
        WPTY = [1, 2, 4, 8],
        VW = [1, 2, 4, 8],
        CACHE = [false, true],
        PAD = [false, true],
        UNROLL = ["none", "columns", "all"],
    ),
    constraints(
        WPTX % VW == 0,
        CACHE || !PAD,
        WGX * WGY >= 16,
        WPTX * WPTY <= 32,
        UNROLL != "all" || filter * filter * WPTX * WPTY <= 1024 * VW,
    ),
    global(
        width.div_ceil(WPTX).next_multiple_of(WGX),
        height.div_ceil(WPTY).next_multiple_of(WGY),
    ),
    local(WGX, WGY),
    local_memory(
        if CACHE {
            4 * (WGX * WPTX + filter - 1 + if PAD { 1 } else { 0 }) * (WGY * WPTY + filter - 1)
        } else {
            0
        }
    ),
    tune(width = 2048, height = 2048, filter = [3, 7, 11]),
    defaults(
        WGX = 16, WGY = 16, WPTX = 1, WPTY = 1, VW = 1, CACHE = false, PAD = false, UNROLL = "columns",
    ),
    options("-cl-mad-enable"),
    defines(FILTER = filter),
    reference(kernel = "convolve_reference", global(width, height)),
    tolerance(rel = 1e-4, abs = 1e-4),
    bytes(8 * width * height),
    flops(2 * filter * filter * width * height),
)]
pub(crate) fn convolve(
    queue: &Queue,
    width: u32,
    height: u32,
    #[arg(host_only)] filter: u32,
    #[arg(len = filter * filter)] weights: &Buffer<f32>,
    #[arg(len = width * height)] input: &Buffer<f32>,
    #[arg(out, len = width * height)] output: &mut Buffer<f32>,
) -> Result<Event>;
