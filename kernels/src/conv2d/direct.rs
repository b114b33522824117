//! The kernel of Nugteren & Codreanu 2015, section V.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// Convolves a picture of `width` x `height` floats with `filter` x `filter` weights, `filter` odd:
/// `output(x, y)` is the sum of `weights(i, j) * input(x + i - r, y + j - r)` over all `i`, `j`,
/// where `r = filter / 2`. [`convolve`](super::convolve()) is the checked way to call it.
///
/// `border` says what lies outside of the picture: 0 zeros, 1 the nearest pixel, 2 the picture
/// mirrored at its outermost pixels, 3 the picture again. Everything is in rows.
///
/// The parameters are those of the paper's table II; `CACHE` is its L$. So are their values, but for
/// 16 pixels beside each other, which are for processors. docs/conv2d.md says what each does, and how
/// the 3,424 configurations of the published space are those of this one.
///
/// # Errors
/// A buffer is too short, no configuration suits the sizes (as where one is 0), or OpenCL fails.
#[tunable(
    source = "src/conv2d/direct.cl",
    params(
        XWG = [8, 16, 32, 64], YWG = [8, 16, 32, 64],
        XWPT = [1, 2, 4, 8, 16], YWPT = [1, 2, 4, 8],
        CACHE = [0, 1, 2],
        VW = [1, 2, 4, 8, 16],
        PAD = [0, 1],
        UNR = [0, 1],
    ),
    constraints(
        XWPT % VW == 0,
        PAD == 0 || CACHE != 0,
        UNR == 0 || filter * filter * XWPT * YWPT <= 8192,
    ),
    global(
        width.div_ceil(XWG * XWPT)
            * (XWG + if CACHE == 2 { (2 * (filter / 2).next_multiple_of(VW)).div_ceil(XWPT) } else { 0 }),
        height.div_ceil(YWG * YWPT)
            * (YWG + if CACHE == 2 { (filter - 1).div_ceil(YWPT) } else { 0 }),
    ),
    local(
        XWG + if CACHE == 2 { (2 * (filter / 2).next_multiple_of(VW)).div_ceil(XWPT) } else { 0 },
        YWG + if CACHE == 2 { (filter - 1).div_ceil(YWPT) } else { 0 },
    ),
    local_memory(
        if CACHE == 0 {
            0
        } else {
            4 * (YWG * YWPT + filter - 1)
                * (XWG * XWPT + 2 * (filter / 2).next_multiple_of(VW) + PAD * VW)
        }
    ),
    tune(width = 2048, height = 2048, filter = [3, 7, 11]),
    defaults(
        XWG = 16, YWG = 16, XWPT = 1, YWPT = 1, CACHE = 0, VW = 1, PAD = 0, UNR = 1,
    ),
    options("-cl-mad-enable"),
    defines(
        FILTER = filter,
        ROW_ALIGNMENT =
            if width % 16 == 0 { 16 }
            else if width % 8 == 0 { 8 }
            else if width % 4 == 0 { 4 }
            else if width % 2 == 0 { 2 }
            else { 1 },
    ),
    reference(
        kernel = "conv2d_reference",
        source = "src/conv2d/reference.cl",
        global(width, height),
    ),
    tolerance(accumulates = filter * filter),
    bytes(8 * width * height),
    flops(2 * filter * filter * width * height),
)]
pub fn conv2d_direct(
    queue: &Queue,
    width: i32,
    height: i32,
    #[arg(host_only)] filter: i32,
    #[arg(value = 1)] border: i32,
    #[arg(len = filter * filter)] weights: &Buffer<f32>,
    #[arg(len = width * height)] input: &Buffer<f32>,
    #[arg(out, len = width * height)] output: &mut Buffer<f32>,
) -> Result<Event>;
