//! What a program pays while its calls tune a kernel, and what it gains: `Policy::Online` with an
//! overhead of 10 %, against the same calls with the default. Times are those of the clock on the wall, from
//! the call until its launch has ended, so that everything counts: trials, checks, bookkeeping.

use cltune_runtime::{Buffer, Event, Policy, Queue, Result, tunable, with_policy};
use std::time::Instant;

const CALLS: usize = 12_000;
/// What a call of the default takes at least, microseconds: as long as kernels that are worth tuning do.
const LEAST_US: f64 = 500.0;
/// 24 / 0.1 calls: the least window for which the overhead is kept.
const WINDOW: usize = 240;

/// The farther `A` is from 20 and `B` from 1, the slower; the default takes about six times as long as the
/// best, the slowest about twice as long as the default.
#[tunable(
    params(A = 0..=40, B = [1, 2]),
    global(n), local(16),
    tune(n = 1024),
    defaults(A = 0, B = 1),
)]
fn work(
    queue: &Queue,
    n: u32,
    #[arg(value = 1)] rounds: u32,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void work(const uint n, const uint rounds, __global float* y) {
        const int distance = A > 20 ? A - 20 : 20 - A;
        float waste = get_global_id(0);
        for (uint i = 0; i < rounds * (400 + 100 * distance) * B; i++) waste = waste * 0.75f + 0.125f * waste;
        y[get_global_id(0)] += waste > 1e30f ? 0 : 1;
    }"
}

fn main() -> Result<()> {
    // `cargo test` runs benches, too; there is nothing to check here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let queue = Queue::default_device()?;
    let info = queue.device().info();
    println!(
        "device    {} ({}), driver {}",
        info.name, info.platform, info.driver
    );
    let online: Policy = "online:10%".parse().unwrap_or_default();
    let quick = median(&microseconds(&queue, &Policy::Baked, 1, 100)?);
    let rounds = (LEAST_US / quick).ceil().max(1.0) as u32;
    let default = microseconds(&queue, &Policy::Baked, rounds, CALLS)?;
    let tuned = microseconds(&queue, &online, rounds, CALLS)?;
    let usual = median(&default);
    println!("protocol  {CALLS} calls, microseconds of each; windows of {WINDOW} calls");
    println!("default   {usual:.0} median of all");
    println!(
        "windows   the slowest takes {:.3} times the default's median, with the default itself {:.3}",
        slowest_window(&tuned) / usual,
        slowest_window(&default) / usual
    );
    let end = &tuned[CALLS - CALLS / 10..];
    let sum = |times: &[f64]| times.iter().sum::<f64>();
    println!(
        "in the end {:.0} median, {:.2} times as fast",
        median(end),
        usual / median(end)
    );
    println!(
        "all calls together {:.2} times as fast as with the default",
        sum(&default) / sum(&tuned)
    );
    let problem = work::Problem { n: 1024 };
    let explanation = with_policy(&online, || work::explain(&queue, problem))?;
    println!("{explanation}");
    Ok(())
}

/// What each of the calls takes.
fn microseconds(queue: &Queue, policy: &Policy, rounds: u32, calls: usize) -> Result<Vec<f64>> {
    let mut y = Buffer::from_slice(queue, &[0.0_f32; 1024])?;
    // The first builds the program.
    with_policy(policy, || work(queue, 1024, rounds, &mut y))?.wait()?;
    with_policy(policy, || {
        let mut call = || {
            let begin = Instant::now();
            work(queue, 1024, rounds, &mut y)?.wait()?;
            Ok(begin.elapsed().as_secs_f64() * 1e6)
        };
        (0..calls).map(|_| call()).collect()
    })
}

/// The mean of the slowest window.
fn slowest_window(times: &[f64]) -> f64 {
    let mean = |window: &[f64]| window.iter().sum::<f64>() / WINDOW as f64;
    times.windows(WINDOW).map(mean).fold(0.0, f64::max)
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
