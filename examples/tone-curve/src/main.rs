//! The lightness of the samples of a camera. Each is computed, or looked up in a table of 256 KiB:
//! with warm caches the table is faster, with cold ones it has to come from memory first.
//! README.md has the commands that show it.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// The tones of samples. A program that develops one picture finds other data in the caches.
#[tunable(
    source = "kernels/tone.cl",
    params(LOOKUP = [false, true], WG = [16, 64, 256], WPT = [1, 4, 16]),
    constraints(n % (WG * WPT) == 0),
    global(n / WPT), local(WG),
    tune(n = [1 << 12, 1 << 16]),
    prepare(stage(tabulate(table), global(65536))),
    tolerance(rel = 1e-5),
    measure(cold),
)]
fn tone(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = uniform(0, 65535))] samples: &Buffer<u16>,
    #[arg(len = 65536, fill = prepared)] table: &Buffer<f32>,
    #[arg(out, len = n)] tones: &mut Buffer<f32>,
) -> Result<Event>;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let n = 1 << 16;
    let samples: Vec<u16> = (0..n).map(|i| (i * 40_503 % 65_536) as u16).collect();
    let table: Vec<f32> = (0..=u16::MAX).map(lightness).collect();
    let samples = Buffer::from_slice(&queue, &samples)?;
    let table = Buffer::from_slice(&queue, &table)?;
    let mut tones = Buffer::new(queue.context(), n as usize)?;
    tone(&queue, n, &samples, &table, &mut tones)?.wait()?;
    let tones = tones.read(&queue)?;
    let mean = tones.iter().sum::<f32>() / n as f32;
    println!("the mean of {n} tones is {mean:.3}");
    Ok(())
}

/// The same on the host: L* of CIE 1976.
fn lightness(sample: u16) -> f32 {
    let light = f32::from(sample) / 65535.0;
    if light > 216.0 / 24389.0 {
        116.0 * light.cbrt() - 16.0
    } else {
        light * (24389.0 / 27.0)
    }
}
