//! The tunables: the two problems of the paper on splitting (section 3), for any sizes.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// `y[i]` <- the sum over k of `w[k] * x[i + k]`.
#[tunable(
    source = "kernels/conv1d.cl",
    params(WG = powers_of_two(16..=1024), WPT = powers_of_two(1..=16)),
    constraints(n % (WG * WPT) == 0, WG * WPT <= 4096),
    global(n / WPT), local(WG),
    local_memory((WG * WPT + mask - 1) * 4),
    defines(MASK = mask),
    tune(n = [1 << 16, 1 << 24], mask = 625),
    defaults(WG = 64, WPT = 1),
    tolerance(accumulates = mask),
    bytes(4 * (2 * n + 2 * mask - 1)), flops(2 * n * mask),
    split(n = WG * WPT),
)]
pub(crate) fn conv1d(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(host_only)] mask: u32,
    #[arg(len = n + mask - 1, split(n, halo = mask - 1))] x: &Buffer<f32>,
    #[arg(len = mask)] w: &Buffer<f32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event>;

/// `c` <- `a * b`, for m x k and k x n elements in row-major order.
#[tunable(
    source = "kernels/matmul.cl",
    params(TILE = [8, 16, 32], WPT = [1, 2, 4, 8]),
    constraints(m % TILE == 0, n % TILE == 0, k % TILE == 0),
    global(n, m / WPT), local(TILE, TILE / WPT),
    local_memory(2 * TILE * TILE * 4),
    tune(m = 1024, n = 1024, k = 1024),
    defaults(TILE = 8, WPT = 1),
    tolerance(accumulates = k),
    bytes(4 * (m * k + k * n + m * n)), flops(2 * m * n * k),
    split(m = TILE, n = TILE),
)]
pub(crate) fn matmul(
    queue: &Queue,
    #[arg(host_only)] m: u32,
    n: u32,
    k: u32,
    #[arg(len = m * k, split(m))] a: &Buffer<f32>,
    #[arg(len = k * n, split(n, rows = k))] b: &Buffer<f32>,
    #[arg(out, len = m * n, split(m), split(n, rows = m))] c: &mut Buffer<f32>,
) -> Result<Event>;
