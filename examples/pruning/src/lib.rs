//! Two kernels with all work-group sizes as their space, of which the limits of a device leave few:
//! tiled matrix multiplication and 1-D convolution, as in the paper on device-derived design-space
//! pruning (section 3). docs/pruning.md has what is left on which device.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// `c` <- `a * b`, for square matrices of n rows in row-major order.
///
/// A work-group computes a tile of its own size, through two tiles in local memory (the paper's
/// equation 10, in elements there).
#[tunable(
    source = "kernels/matmul.cl",
    params(WGX = 1..=1024, WGY = 1..=1024),
    constraints(WGX == WGY),
    global(n, n), local(WGX, WGY),
    local_memory(2 * WGX * WGY * 4),
    tune(n = 1024),
    defaults(WGX = 8, WGY = 8),
    reference(kernel = "matmul_reference", global(n, n)),
    tolerance(accumulates = n),
    bytes(12 * n * n), flops(2 * n * n * n),
)]
pub fn matmul(
    queue: &Queue,
    n: u32,
    #[arg(len = n * n)] a: &Buffer<f32>,
    #[arg(len = n * n)] b: &Buffer<f32>,
    #[arg(out, len = n * n)] c: &mut Buffer<f32>,
) -> Result<Event>;

/// `y[i]` <- the sum over k of `w[k] * x[i + k]`.
///
/// A work-group shares what it reads of `x` through local memory (equation 11, in elements there).
#[tunable(
    source = "kernels/conv1d.cl",
    params(WG = 1..=8192),
    global(n), local(WG),
    local_memory((WG + mask - 1) * 4),
    defines(MASK = mask),
    tune(n = [1 << 16, 5 << 14], mask = 625),
    defaults(WG = 64),
    reference(kernel = "conv1d_reference", global(n)),
    tolerance(accumulates = mask),
    bytes(4 * (2 * n + 2 * mask - 1)), flops(2 * n * mask),
)]
pub fn conv1d(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(host_only)] mask: u32,
    #[arg(len = n + mask - 1)] x: &Buffer<f32>,
    #[arg(len = mask)] w: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event>;
