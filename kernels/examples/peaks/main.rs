//! Measures what a device can do at most, which results are a fraction of:
//! `cargo run --release -p cltune-kernels --example peaks`.
//!
//! Prints `peak_gflops`, single-precision multiply-adds in registers counted as two, and `peak_gbs`, bytes
//! read and written by copying memory that no cache holds; the best of a few configurations each.

use cltune_runtime::{Buffer, Context, Device, Event, Queue, Result, tunable};
use std::time::Duration;

#[tunable(
    source = "examples/peaks/peaks.cl",
    params(VW = [1, 4, 8, 16], CHAINS = [4, 8, 12, 16]),
    global(items), local(128),
    options("-cl-mad-enable"),
    tune(items = 1 << 18, rounds = 512),
)]
fn multiply_adds(
    queue: &Queue,
    items: i32,
    rounds: i32,
    factor: f32,
    summand: f32,
    #[arg(out, len = items)] output: &mut Buffer<f32>,
) -> Result<Event>;

#[tunable(
    source = "examples/peaks/peaks.cl",
    params(VW = [1, 4, 8, 16]),
    global(n / VW), local(128),
    tune(n = 1 << 26),
)]
fn copy(
    queue: &Queue,
    n: i32,
    #[arg(len = n)] input: &Buffer<f32>,
    #[arg(out, len = n)] output: &mut Buffer<f32>,
) -> Result<Event>;

/// The best of this many launches counts; the first one builds the kernel.
const LAUNCHES: usize = 6;

fn main() -> Result<()> {
    let queue = Queue::with_profiling(&Context::new(&Device::select()?)?)?;
    eprintln!("{}", queue.device());
    println!("peak_gflops {:.1}", gflops(&queue)?);
    println!("peak_gbs {:.1}", gbs(&queue)?);
    Ok(())
}

fn gflops(queue: &Queue) -> Result<f64> {
    let (items, rounds) = (1 << 18, 512);
    let mut output = Buffer::new(queue.context(), items)?;
    let mut best = 0.0_f64;
    for width in [1, 4, 8, 16] {
        for chains in [4, 8, 12, 16] {
            let params = multiply_adds::Params {
                VW: width,
                CHAINS: chains,
            };
            let time = fastest(|| {
                let items = items as i32;
                multiply_adds::launch_with(&params, queue, items, rounds, 0.5, 1.0, &mut output)
            })?;
            let count = 2 * width * chains * i64::from(rounds) * items as i64;
            best = best.max(count as f64 / time.as_secs_f64() / 1e9);
        }
    }
    Ok(best)
}

fn gbs(queue: &Queue) -> Result<f64> {
    let n = 1 << 26;
    let input = Buffer::from_slice(queue, &vec![1.0; n])?;
    let mut output = Buffer::new(queue.context(), n)?;
    let mut best = 0.0_f64;
    for width in [1, 4, 8, 16] {
        let params = copy::Params { VW: width };
        let time = fastest(|| copy::launch_with(&params, queue, n as i32, &input, &mut output))?;
        best = best.max(8.0 * n as f64 / time.as_secs_f64() / 1e9);
    }
    Ok(best)
}

fn fastest(mut launch: impl FnMut() -> Result<Event>) -> Result<Duration> {
    let mut fastest = Duration::MAX;
    for _ in 0..LAUNCHES {
        fastest = fastest.min(launch()?.duration()?);
    }
    Ok(fastest)
}
