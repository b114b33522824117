//! The time to make ready, and to run, verify and time a configuration once it is built: where the
//! host reads back and compares, where it does so with buffers between pages that nobody may touch
//! (as `cargo cltune` on CPUs), and where the device compares and looks at what is kept (as on
//! GPUs). In turns; medians, with the least and the most.

use cltune::tuning::{MeasureOptions, Measurer, Outcome};
use cltune::{Buffer, Device, Event, Queue, Result, tunable};
use std::time::Instant;

/// Elements of the result, four bytes each.
const SIZES: [i64; 3] = [1 << 20, 1 << 22, 1 << 24];
const ROUNDS: usize = 15;

/// `V` rounds in another way, so that results differ from the reference's as they do in earnest.
#[tunable(name = "verifying::copy", params(V = 1..=2), global(n), tune(n = 1 << 20))]
fn copy(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = uniform(1, 2))] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void copy(const uint n, __global const float* x, __global float* y) {
        const uint i = get_global_id(0);
        y[i] = x[i] * (1.0f + V * 2e-7f);
    }"
}

fn main() {
    // `cargo bench` passes --bench; a smoke run by `cargo test` passes nothing and measures little.
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let device = match Device::select() {
        Ok(device) => device,
        Err(error) => return println!("{error}"),
    };
    let declaration = match copy::TUNABLE.declaration() {
        Ok(declaration) => declaration,
        Err(error) => return println!("{error}"),
    };
    let info = device.info();
    println!(
        "device    {} ({}), driver {}",
        info.name, info.platform, info.driver
    );
    println!("milliseconds, {ROUNDS} times each, in turns: preparing, then a configuration");
    let ways = WAYS.map(|way| format!("{way:>26}"));
    println!("{:>6}  {:>9}  {}", "MiB", "", ways.join("  "));
    let sizes = if is_measuring { &SIZES } else { &SIZES[..1] };
    let rounds = if is_measuring { ROUNDS } else { 1 };
    for size in sizes {
        let mut preparing = WAYS.map(|_| Vec::new());
        let mut measuring = WAYS.map(|_| Vec::new());
        for _ in 0..rounds {
            for way in 0..WAYS.len() {
                let begin = Instant::now();
                let made = Measurer::new(&device, &declaration, &[*size], &options(way));
                preparing[way].push(begin.elapsed().as_secs_f64() * 1e3);
                match made {
                    // The first one compiles the comparison, and touches memory.
                    Ok(mut measurer) => {
                        configuration_ms(&mut measurer);
                        measuring[way].push(configuration_ms(&mut measurer));
                    }
                    Err(error) => return println!("{error}"),
                }
            }
        }
        for (what, times) in [("preparing", preparing), ("measuring", measuring)] {
            let times = times.map(|times| format!("{:>26}", summary(times)));
            println!("{:>6}  {what:>9}  {}", (size * 4) >> 20, times.join("  "));
        }
    }
}

/// Who compares, and what buffers lie between.
const WAYS: [&str; 3] = [
    "the host compares",
    "between forbidden pages",
    "the device compares",
];

fn options(way: usize) -> MeasureOptions {
    MeasureOptions::default().with(|options| {
        options.protect = way == 1;
        options.compare_on_device = Some(way == 2);
        options.draws = Some(2);
        options.least_repeats = 1;
        options.most_repeats = 1;
    })
}

/// # Panics
/// When the configuration is wrong: no time would mean anything.
fn configuration_ms(measurer: &mut Measurer) -> f64 {
    measurer.load(&[2], None);
    let begin = Instant::now();
    let outcome = measurer.measure(&[2], None, None);
    let taken = begin.elapsed();
    assert!(matches!(outcome, Outcome::Ok(_)), "{outcome:?}");
    taken.as_secs_f64() * 1e3
}

fn summary(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let [least, median, most] = [0, times.len() / 2, times.len() - 1].map(|at| times[at]);
    format!("{median:.2} ({least:.2} to {most:.2})")
}
