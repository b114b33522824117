//! The kernels of a step, and statements to measure.

use cltune::{Buffer, Event, Queue, Result, fused, tunable};

/// q <- A p, for the five-point stencil on a grid of `side` by `side` points, which is 0 around it.
#[tunable(
    params(WX = [16, 32, 64, 128, 256], WY = [1, 2, 4, 8]),
    constraints(side % WX == 0, side % WY == 0),
    global(side, side), local(WX, WY),
    tune(side = [512, 4096]),
    defaults(WX = 16, WY = 1),
    bytes(8 * side * side), flops(5 * side * side),
)]
pub(crate) fn stencil(
    queue: &Queue,
    side: u32,
    #[arg(len = side * side)] p: &Buffer<f32>,
    #[arg(out, len = side * side)] q: &mut Buffer<f32>,
) -> Result<Event> {
    r#"
    __kernel void stencil(const uint side, __global const float* p, __global float* q) {
        const uint x = get_global_id(0), y = get_global_id(1), at = y * side + x;
        float sum = 4 * p[at];
        if (x > 0) sum -= p[at - 1];
        if (x + 1 < side) sum -= p[at + 1];
        if (y > 0) sum -= p[at - side];
        if (y + 1 < side) sum -= p[at + side];
        q[at] = sum;
    }
    "#
}

/// The rest of a step: `x` and the residual `r` move along `p`, of which `q` is the product with
/// the matrix, and `p` becomes the next direction. `rr` is the square of the residual.
#[fused(tune(n = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 24]))]
pub(crate) fn update(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(len = n)] r: &mut Buffer<f32>,
    #[arg(len = n)] p: &mut Buffer<f32>,
    #[arg(len = n)] q: &Buffer<f32>,
    #[arg(len = 1, fill = uniform(1, 2))] rr: &mut Buffer<f32>,
) -> Result<Event> {
    let alpha = rr / dot(p, q);
    x += alpha * p;
    r -= alpha * q;
    let next = dot(r, r);
    p = r + next / rr * p;
    rr = next;
}

/// s <- x^T (2 x + y), the paper's example of a reduction.
#[fused(tune(n = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]))]
pub(crate) fn product(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    s = dot(x, 2.0 * x + y);
}

/// u <- a + b and v <- a - b, the paper's example of two results.
#[fused(tune(n = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]))]
pub(crate) fn pair(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] a: &Buffer<f32>,
    #[arg(len = n)] b: &Buffer<f32>,
    #[arg(out, len = n)] u: &mut Buffer<f32>,
    #[arg(out, len = n)] v: &mut Buffer<f32>,
) -> Result<Event> {
    u = a + b;
    v = a - b;
}

/// y <- x, whose rate is the yardstick.
#[fused(tune(n = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]))]
pub(crate) fn copy(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = x;
}

/// y <- alpha x + y
#[fused(tune(n = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]))]
pub(crate) fn axpy(
    queue: &Queue,
    n: u32,
    alpha: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y += alpha * x;
}

/// s <- x^T y
#[fused(tune(n = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]))]
pub(crate) fn inner(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    s = dot(x, y);
}
