//! What the first launch of a program takes: from source, and with what the user's cache kept of an
//! earlier run. Each first launch is in a process of its own, which runs this benchmark again.
//!
//! A driver may have a cache on disk of its own, which would hide the difference: PoCL's is emptied
//! before each launch, except where that is what is measured.
//!
//! `--rounds N` makes N of each instead of 15.

use cltune_runtime::{Buffer, Event, Queue, Result, tunable};
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const ROUNDS: usize = 15;

/// A kernel of a size that takes a compiler a while: 16 unrolled steps of an 8-point stencil.
#[tunable(
    params(WG = [64]),
    global(n), local(WG),
    tune(n = 4096),
)]
fn stencil(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void stencil(const uint n, __global const float* x, __global float* y) {
        const uint i = get_global_id(0);
        float sum = 0.0f;
        #pragma unroll
        for (int step = 1; step <= 16; step++) {
            #pragma unroll
            for (int k = 0; k < 8; k++) {
                const float value = x[(i + step * k) % n];
                sum += value > 0.5f ? native_sin(value) * step : sqrt(fabs(value)) - k;
            }
        }
        y[i] = sum;
    }"
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args();
    if arguments.any(|argument| argument == "--launch") {
        println!("{}", first_launch()?);
        return Ok(());
    }
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
    let rounds = rounds();
    println!(
        "protocol  {rounds} processes each, interleaved; milliseconds until the first launch has ended"
    );
    let folder = tempfile::tempdir()?;
    let (cltune, driver) = (folder.path().join("cltune"), folder.path().join("driver"));
    let mut times: [Vec<f64>; 5] = Default::default();
    for _ in 0..rounds {
        let _ = std::fs::remove_dir_all(&cltune);
        times[0].push(launch(Path::new("off"), &driver, true)?);
        times[1].push(launch(&cltune, &driver, true)?);
        times[2].push(launch(&cltune, &driver, true)?);
        times[3].push(launch(Path::new("off"), &driver, false)?);
        times[4].push(launch(&cltune, &driver, false)?);
    }
    let [off, cold, warm, drivers, both] = times.map(median);
    println!("no cache                  {off:7.1}");
    println!("cltune's cache, empty     {cold:7.1}");
    println!(
        "cltune's cache, filled    {warm:7.1}   {:.1} times as fast (target: 5)",
        off / warm
    );
    println!(
        "only the driver's, filled {drivers:7.1}   {:.1} times as fast",
        off / drivers
    );
    println!(
        "both, filled              {both:7.1}   {:.1} times as fast",
        off / both
    );
    Ok(())
}

/// How often each is done.
fn rounds() -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--rounds");
    let given = arguments.nth(1).and_then(|number| number.parse().ok());
    given.unwrap_or(ROUNDS)
}

/// Milliseconds of a first launch in another process, with the driver's cache emptied before or not.
fn launch(cltune: &Path, driver: &Path, empty: bool) -> Result<f64, Box<dyn Error>> {
    if empty {
        let _ = std::fs::remove_dir_all(driver);
        std::fs::create_dir(driver)?;
    }
    let output = Command::new(std::env::current_exe()?)
        .arg("--launch")
        .env("CLTUNE_CACHE", cltune)
        .env("POCL_CACHE_DIR", driver)
        // NVIDIA's, and Mesa's for rusticl.
        .env("CUDA_CACHE_PATH", driver)
        .env("MESA_SHADER_CACHE_DIR", driver)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.trim().parse()?)
}

/// Milliseconds from the call until its results are there; what comes before is no part of it.
fn first_launch() -> Result<f64> {
    let queue = Queue::default_device()?;
    let x = Buffer::from_slice(&queue, &[0.75_f32; 4096])?;
    let mut y = Buffer::new(queue.context(), 4096)?;
    let begin = Instant::now();
    stencil(&queue, 4096, &x, &mut y)?.wait()?;
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
