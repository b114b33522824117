//! The cost and the gain of a program whose calls tune a kernel: `Policy::Online` with an overhead
//! of 10 %, against the same calls with the default. Times are those of the clock on the wall, from
//! the call until its launch has ended, so that everything counts: builds, trials, checks,
//! bookkeeping.
//!
//! `--seconds N` tunes for N seconds instead of 60; the default has a half of that.

use cltune::{Buffer, Event, Policy, Queue, Result, tunable, with_policy};
use std::time::Instant;

/// What is asked for.
const POLICY: &str = "online:10%,window=10s";
const SECONDS: f64 = 60.0;
/// What a call of the default takes at least, microseconds: as long as kernels that are worth
/// tuning do.
const LEAST_US: f64 = 500.0;
/// 24 / 0.1 calls: what the policy's windows have at least.
const CALLS: usize = 240;
/// Windows of so many seconds are shown; the policy's are those of the last, and longer.
const WINDOWS: [f64; 4] = [0.3, 1.0, 3.0, 10.0];

/// The farther `A` is from 20 and `B` from 1, the slower; the default takes about six times as long
/// as the best, the slowest about twice as long as the default.
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
        for (uint i = 0; i < rounds * (400 + 100 * distance) * B; i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
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
    let online: Policy = POLICY.parse().unwrap_or_default();
    let quick = median(&microseconds(&queue, &Policy::Baked, 1, 0.2)?);
    let rounds = (LEAST_US / quick).ceil().max(1.0) as u32;
    let seconds = seconds();
    let default = microseconds(&queue, &Policy::Baked, rounds, seconds / 2.0)?;
    let tuned = microseconds(&queue, &online, rounds, seconds)?;
    let usual = median(&default);
    println!("policy    {POLICY}; {} calls in {seconds} s", tuned.len());
    println!("default   {usual:.0} us, median of {} calls", default.len());
    println!(
        "windows   the slowest in parts of the default's median; the same for the default itself"
    );
    let wide = WINDOWS.map(|seconds| (format!("{seconds} s"), (seconds * 1e6 / usual) as usize));
    for (name, calls) in [(format!("{CALLS} calls"), CALLS)].into_iter().chain(wide) {
        let [tuned, default] = [&tuned, &default].map(|times| slowest(times, calls) / usual);
        println!("  {name:10} {tuned:.3}   {default:.3}");
    }
    let end = &tuned[tuned.len() - tuned.len() / 10..];
    println!(
        "in the end {:.0} us median, {:.2} times as fast",
        median(end),
        usual / median(end)
    );
    println!(
        "all calls together {:.2} times as fast as with the default",
        mean(&default) / mean(&tuned)
    );
    let problem = work::Problem { n: 1024 };
    let explanation = with_policy(&online, || work::explain(&queue, problem))?;
    println!("{explanation}");
    Ok(())
}

/// For how long to tune.
fn seconds() -> f64 {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--seconds");
    let given = arguments.nth(1).and_then(|number| number.parse().ok());
    given.unwrap_or(SECONDS)
}

/// What each call takes, for so many seconds.
fn microseconds(queue: &Queue, policy: &Policy, rounds: u32, seconds: f64) -> Result<Vec<f64>> {
    let mut y = Buffer::from_slice(queue, &[0.0_f32; 1024])?;
    // The first builds the program.
    with_policy(policy, || work(queue, 1024, rounds, &mut y))?.wait()?;
    with_policy(policy, || {
        let start = Instant::now();
        let mut times = Vec::new();
        while start.elapsed().as_secs_f64() < seconds {
            let begin = Instant::now();
            work(queue, 1024, rounds, &mut y)?.wait()?;
            times.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        Ok(times)
    })
}

/// The mean of the slowest window of so many calls; of all where there are fewer.
fn slowest(times: &[f64], calls: usize) -> f64 {
    let calls = calls.clamp(1, times.len());
    let mut sum: f64 = times[..calls].iter().sum();
    let mut most = sum;
    for (new, old) in times[calls..].iter().zip(times) {
        sum += new - old;
        most = most.max(sum);
    }
    most / calls as f64
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
