//! Measures what a device can do at most, which results are a fraction of:
//! `cargo run --release -p cltune-kernels --example peaks`.
//!
//! Prints `peak_gflops`, single-precision multiply-adds in registers counted as two, and
//! `peak_gbs`, bytes read and written by copying memory that no cache holds; the best of a few
//! configurations each. Both kernels are ordinary tunables: every configuration does the same work,
//! with the same result.

use cltune::{Buffer, Context, Device, Event, Queue, Result, tunable};
use std::time::Duration;

/// `adds` multiply-adds in each of `items` work-items, which are shared out among their sums.
/// Factor and summand pull each sum to 2, wherever it begins, so that every configuration has one
/// result.
#[tunable(
    source = "examples/peaks/peaks.cl",
    params(VW = [1, 4, 8, 16], CHAINS = [4, 8, 12, 16]),
    constraints(adds % (VW * CHAINS) == 0),
    global(items), local(128),
    options("-cl-mad-enable"),
    tune(items = 1 << 18, adds = 98304),
    flops(2 * items * adds),
)]
fn multiply_adds(
    queue: &Queue,
    items: i32,
    adds: i32,
    #[arg(value = 0.5)] factor: f32,
    #[arg(value = 1.0)] summand: f32,
    #[arg(out, len = items)] output: &mut Buffer<f32>,
) -> Result<Event>;

#[tunable(
    source = "examples/peaks/peaks.cl",
    params(VW = [1, 4, 8, 16], STREAM = [false, true]),
    global(n / VW), local(128),
    tune(n = 1 << 26),
    bytes(8 * n),
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
    // Enough rounds for the sums to settle where a work-item has most of them, which is 256.
    let (items, adds) = (1 << 18, 98304);
    let mut output = Buffer::new(queue.context(), items)?;
    let count = 2.0 * f64::from(adds) * items as f64;
    let mut best = 0.0_f64;
    for width in [16, 8, 4, 1] {
        for chains in [16, 12, 8, 4] {
            let params = multiply_adds::Params {
                VW: width,
                CHAINS: chains,
            };
            let time = fastest(of_best(best, count), || {
                let items = items as i32;
                multiply_adds::launch_with(&params, queue, items, adds, 0.5, 1.0, &mut output)
            })?;
            best = best.max(count / time.as_secs_f64() / 1e9);
        }
    }
    Ok(best)
}

fn gbs(queue: &Queue) -> Result<f64> {
    let n = 1 << 26;
    let input = Buffer::from_slice(queue, &vec![1.0; n])?;
    let mut output = Buffer::new(queue.context(), n)?;
    let mut best = 0.0_f64;
    let configurations = [1, 4, 8, 16].map(|width| [(width, false), (width, true)]);
    for (width, is_streaming) in configurations.into_iter().flatten() {
        let params = copy::Params {
            VW: width,
            STREAM: is_streaming,
        };
        let time = fastest(Duration::MAX, || {
            copy::launch_with(&params, queue, n as i32, &input, &mut output)
        })?;
        best = best.max(8.0 * n as f64 / time.as_secs_f64() / 1e9);
    }
    Ok(best)
}

/// How long `count` takes at `best` times a billion in a second; `MAX` where nothing is known.
fn of_best(best: f64, count: f64) -> Duration {
    Duration::try_from_secs_f64(count / best / 1e9).unwrap_or(Duration::MAX)
}

/// The shortest of a few launches, of fewer where one takes twice as long as the best time so far.
fn fastest(best: Duration, mut launch: impl FnMut() -> Result<Event>) -> Result<Duration> {
    let mut fastest = Duration::MAX;
    for number in 0..LAUNCHES {
        fastest = fastest.min(launch()?.duration()?);
        if number > 0 && fastest / 2 > best {
            break;
        }
    }
    Ok(fastest)
}
