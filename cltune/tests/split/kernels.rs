//! Kernels that are divided: one for each way in which arguments are.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// `y` <- `a * x + y`, by work-groups that have to be full.
#[tunable(
    params(WG = [1, 8, 48]),
    constraints(n % WG == 0),
    global(n), local(WG),
    tune(n = 960),
    defaults(WG = 48),
    split(n = WG),
)]
pub fn saxpy(
    queue: &Queue,
    n: u32,
    a: f32,
    #[arg(len = n, split(n))] x: &Buffer<f32>,
    #[arg(len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void saxpy(const uint n, const float a, __global const float* x, __global float* y) {
        const uint i = get_global_id(0);
        if (i < n) y[i] += a * x[i];
    }"
}

/// `y` <- `3 * x + y`, by work-groups that have to be full, of which none has one work-item.
#[tunable(
    params(WG = [64, 8, 24]),
    constraints(n % WG == 0),
    global(n), local(WG),
    tune(n = 960),
    split(n = WG),
)]
pub fn blocks(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(len = n, split(n))] x: &Buffer<i32>,
    #[arg(len = n, split(n))] y: &mut Buffer<i32>,
) -> Result<Event> {
    "__kernel void blocks(__global const int* x, __global int* y) {
        const uint i = get_global_id(0);
        y[i] += 3 * x[i];
    }"
}

/// `y[i]` <- the sum of `w[k] * x[i + k]`.
#[tunable(
    params(WG = [16]),
    global(n.next_multiple_of(WG)), local(WG),
    defines(MASK = mask),
    tune(n = 256, mask = 5),
    split(n = WG),
)]
pub fn convolution(
    queue: &Queue,
    n: u32,
    #[arg(host_only)] mask: u32,
    #[arg(len = n + mask - 1, split(n, halo = mask - 1))] x: &Buffer<i32>,
    #[arg(len = mask)] w: &Buffer<i32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<i32>,
) -> Result<Event> {
    "__kernel void convolution(const uint n, __global const int* x, __global const int* w,
                               __global int* y) {
        const uint i = get_global_id(0);
        if (i >= n) return;
        int sum = 0;
        for (uint k = 0; k < MASK; k++) sum += w[k] * x[i + k];
        y[i] = sum;
    }"
}

/// `c` <- `a * b`, for m x k and k x n elements in row-major order.
#[tunable(
    params(TILE = [4]),
    global(n, m), local(TILE, TILE),
    tune(m = 64, n = 64, k = 8),
    split(m = TILE, n = TILE),
)]
pub fn product(
    queue: &Queue,
    #[arg(host_only)] m: u32,
    n: u32,
    k: u32,
    #[arg(len = m * k, split(m))] a: &Buffer<i64>,
    #[arg(len = k * n, split(n, rows = k))] b: &Buffer<i64>,
    #[arg(out, len = m * n, split(m), split(n, rows = m))] c: &mut Buffer<i64>,
) -> Result<Event> {
    "__kernel void product(const uint n, const uint k, __global const long* a,
                           __global const long* b, __global long* c) {
        const uint x = get_global_id(0), y = get_global_id(1);
        long sum = 0;
        for (uint i = 0; i < k; i++) sum += a[y * k + i] * b[i * n + x];
        c[y * n + x] = sum;
    }"
}

/// Where each element is: a kernel that has to know it.
#[tunable(
    params(WG = [4]), global(n), local(WG), tune(n = 64),
    split(n = WG),
)]
pub fn positions(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(value = 0, split(n))] first: i16,
    #[arg(out, len = n, split(n))] y: &mut Buffer<i32>,
) -> Result<Event> {
    "__kernel void positions(const short first, __global int* y) {
        y[get_global_id(0)] = first + (int)get_global_id(0);
    }"
}
