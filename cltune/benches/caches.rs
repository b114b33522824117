//! Reading a buffer with warm and with cold caches, measured as `cargo cltune tune --measure` does.
//!
//! Shows that what the tuner does between launches displaces what the caches hold: a buffer that
//! fits into them is read faster with warm ones, and one that fits into none is read alike.

use cltune::tuning::{MeasureOptions, Measurer, Outcome};
use cltune::{Buffer, Device, Event, Queue, Result, tunable};
use cltune_core::measure::Measure;
use cltune_formats::declaration::Declaration;
use std::time::Duration;

#[tunable(
    params(WG = [64]),
    global(n / 16), local(WG),
    tune(n = 1 << 16),
)]
fn read(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<[f32; 4]>,
    #[arg(out, len = n / 16)] sums: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void read(uint n, __global const float4* x, __global float* sums) {
        const uint i = get_global_id(0);
        float4 all = 0;
        for (uint k = 0; k < 16; k++) {
            all += x[k * (n / 16) + i];
        }
        sums[i] = all.x + all.y + all.z + all.w;
    }"
}

fn main() {
    if let Err(error) = table() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn table() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let device = Device::select()?;
    println!("{device}");
    println!(
        "{:>12} {:>12} {:>12} {:>8}",
        "bytes", "warm us", "cold us", "ratio"
    );
    let declared = read::TUNABLE.declaration()?;
    for shift in 12..=24 {
        let elements = 1_i64 << shift;
        let [warm, cold] = [Measure::WARM, Measure::COLD].map(|measure| {
            let declaration = Declaration {
                measure,
                ..declared.clone()
            };
            time(&device, &declaration, elements)
        });
        let (warm, cold) = (warm?, cold?);
        println!(
            "{:>12} {warm:>12.1} {cold:>12.1} {:>8.2}",
            elements * 16,
            cold / warm
        );
    }
    Ok(())
}

/// Microseconds.
fn time(
    device: &Device,
    declaration: &Declaration,
    elements: i64,
) -> std::result::Result<f64, Box<dyn std::error::Error>> {
    let options = MeasureOptions::default().with(|options| {
        options.repeat_time = Duration::from_secs(1);
        options.precision = 0.0;
    });
    let mut measurer = Measurer::new(device, declaration, &[elements], &options)?;
    let codes = measurer.default_codes().to_vec();
    match measurer.measure(&codes, None, None) {
        Outcome::Ok(measurement) => Ok(measurement.time_us),
        other => Err(format!("{other:?}").into()),
    }
}
