//! A chain of operations: tunables of one's own with two results each, a product that is added to
//! what is there, and a result that nobody needs.

use crate::arguments::{self, Chain};
use cltune::schedule::{Matrix, Scheduler, SchedulerOptions};
use cltune::{Buffer, Event, Queue, Result, tunable};
use cltune_kernels::scheduled::gemm;
use std::error::Error;

/// The weighted sum of three by three elements, and by how much the one in the middle is above it.
/// `split` says what a part of the results needs of `x` when rows or columns are divided.
#[tunable(
    params(W = [8, 16, 32], H = [2, 4, 8]),
    global(n.next_multiple_of(W), m.next_multiple_of(H)), local(W, H),
    tune(m = 1024, n = 1024),
    defaults(W = 16, H = 4),
    split(m = H, n = W),
)]
pub(crate) fn smooth(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(len = (m + 2) * (n + 2), split(m, halo = 2 * (n + 2)), split(n, rows = m + 2, halo = 2))]
    x: &Buffer<f32>,
    #[arg(len = 9)] weights: &Buffer<f32>,
    #[arg(out, len = m * n, split(m), split(n, rows = m))] y: &mut Buffer<f32>,
    #[arg(out, len = m * n, split(m), split(n, rows = m))] rest: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void smooth(const uint m, const uint n, __global const float* x,
                          __constant float* weights, __global float* y, __global float* rest) {
        const uint i = get_global_id(1), j = get_global_id(0);
        if (i >= m || j >= n) return;
        float sum = 0.0f;
        for (uint b = 0; b < 3; b++)
            for (uint a = 0; a < 3; a++) sum += weights[3 * b + a] * x[(i + b) * (n + 2) + j + a];
        y[i * n + j] = sum;
        rest[i * n + j] = 16.0f * x[(i + 1) * (n + 2) + j + 1] - sum;
    }"
}

/// (x, y) ← (x + y, x − y), in place.
#[tunable(
    params(W = [8, 16, 32], H = [2, 4, 8]),
    global(n.next_multiple_of(W), m.next_multiple_of(H)), local(W, H),
    tune(m = 1024, n = 1024),
    defaults(W = 16, H = 4),
    split(m = H, n = W),
)]
pub(crate) fn turn(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(len = m * n, split(m), split(n, rows = m))] x: &mut Buffer<f32>,
    #[arg(len = m * n, split(m), split(n, rows = m))] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void turn(const uint m, const uint n, __global float* x, __global float* y) {
        const uint i = get_global_id(1), j = get_global_id(0);
        if (i >= m || j >= n) return;
        const float a = x[i * n + j], b = y[i * n + j];
        x[i * n + j] = a + b;
        y[i * n + j] = a - b;
    }"
}

/// The weights. All numbers here are small integers, so that sums are exact in any order.
const WEIGHTS: [f32; 9] = [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0];

/// The numbers of the picture, which has a frame of one element, and of the other matrices.
const fn number(at: usize, step: usize) -> f32 {
    (at * step % 7) as f32 - 3.0
}

pub(crate) fn run(chain: &Chain) -> std::result::Result<(), Box<dyn Error>> {
    let devices = arguments::devices(&chain.devices)?;
    let n = chain.size;
    for _ in 0..chain.rounds {
        let options = SchedulerOptions::new().device_memory(&[chain.limit.0]);
        let scheduler = Scheduler::with(&devices, &options)?;
        let mut picture = scheduler.matrix::<f32>(n + 2, n + 2)?;
        let mut weights = scheduler.vector::<f32>(9)?;
        weights.values_mut().copy_from_slice(&WEIGHTS);
        let [mut a, mut c] = [scheduler.matrix(n, n)?, scheduler.matrix(n, n)?];
        for (matrix, step) in [(&mut picture, 5), (&mut a, 3), (&mut c, 2)] {
            let mut values = matrix.values_mut();
            for (at, value) in values.iter_mut().enumerate() {
                *value = number(at, step);
            }
        }
        let [mut smoothed, mut rest] = [scheduler.matrix(n, n)?, scheduler.matrix(n, n)?];
        let size = u32::try_from(n)?;
        smooth::enqueue(
            &scheduler,
            size,
            size,
            &picture,
            &weights,
            &mut smoothed,
            &mut rest,
        )?;
        gemm(&scheduler, 1.0, &smoothed, &a, 1.0, &mut c)?;
        turn::enqueue(&scheduler, size, size, &mut c, &mut rest)?;
        // Dropped before it is there, so it is not computed further.
        let mut preview = scheduler.matrix::<f32>(n, n)?;
        gemm(&scheduler, 1.0, &a, &smoothed, 0.0, &mut preview)?;
        drop(preview);
        println!("{}", scheduler.finish()?);
        check(n, &c, &rest)?;
    }
    println!("the results are right");
    Ok(())
}

/// Compares the results with sums on the host.
fn check(n: usize, c: &Matrix<f32>, rest: &Matrix<f32>) -> std::result::Result<(), Box<dyn Error>> {
    const PLACES: usize = 64;
    let at = |row: usize, column: usize| number(row * (n + 2) + column, 5);
    let smoothed = |row: usize, column: usize| -> f32 {
        let weighted = |of: usize| WEIGHTS[of] * at(row + of / 3, column + of % 3);
        (0..9).map(weighted).sum()
    };
    let [of_c, of_rest] = [c.values()?, rest.values()?];
    for place in 0..PLACES {
        let (row, column) = (place * (n - 1) / (PLACES - 1), (place * 37 + n / 3) % n);
        let product = |k: usize| smoothed(row, k) * number(k * n + column, 3);
        let sum = number(row * n + column, 2) + (0..n).map(product).sum::<f32>();
        let above = 16.0 * at(row + 1, column + 1) - smoothed(row, column);
        for (name, values, expected) in [("C", &of_c, sum + above), ("D", &of_rest, sum - above)] {
            let found = values[row * n + column];
            if found != expected {
                let text = format!("{name} is {found} at {row}, {column}, and not {expected}");
                return Err(text.into());
            }
        }
    }
    Ok(())
}
