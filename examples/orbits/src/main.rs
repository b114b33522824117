//! Satellites on their orbits: eccentric anomalies by Kepler's equation. Each is computed, or looked
//! up in a table of all orbits, of 16 MiB: on a GPU the table is faster with warm caches, and with
//! cold ones it has to come from memory first. README.md has the commands that show it.

use cltune::{Buffer, Event, Queue, Result, tunable};
use std::f64::consts::TAU;

/// Of which there are 2,048 eccentricities, each with 2,048 places.
const ORBITS: u32 = 1 << 22;

/// The eccentric anomaly, in radians, of each of `n` satellites. The lowest bits of a satellite are
/// its orbit, of which there are `orbits`, a power of two: half of these bits are the eccentricity
/// and half the mean anomaly. A program that asks for one moment finds other data in the caches.
#[tunable(
    source = "kernels/anomaly.cl",
    params(LOOKUP = [false, true], WG = [16, 64, 256], WPT = [1, 4, 16]),
    constraints(n % (WG * WPT) == 0),
    global(n / WPT), local(WG),
    tune(n = [1 << 18, 1 << 20], orbits = 1 << 22),
    prepare(stage(tabulate(orbits, table), global(orbits))),
    tolerance(rel = 1e-5, abs = 1e-5),
    measure(cold),
)]
fn anomalies(
    queue: &Queue,
    n: u32,
    orbits: u32,
    #[arg(len = n, fill = uniform(0, 4194303))] satellites: &Buffer<u32>,
    #[arg(len = orbits, fill = prepared)] table: &Buffer<f32>,
    #[arg(out, len = n)] eccentric: &mut Buffer<f32>,
) -> Result<Event>;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let n = 1 << 18;
    let satellites: Vec<u32> = (0..n).map(|i| i * 40_503 % ORBITS).collect();
    let table: Vec<f32> = (0..ORBITS).map(|orbit| anomaly(orbit) as f32).collect();
    let on_device = Buffer::from_slice(&queue, &satellites)?;
    let table = Buffer::from_slice(&queue, &table)?;
    let mut eccentric = Buffer::new(queue.context(), n as usize)?;
    anomalies(&queue, n, ORBITS, &on_device, &table, &mut eccentric)?.wait()?;
    let eccentric = eccentric.read(&queue)?;
    let pairs = satellites.iter().zip(&eccentric);
    let error = pairs.map(|(orbit, found)| (f64::from(*found) - anomaly(*orbit)).abs());
    let largest = error.fold(0.0, f64::max);
    println!("{n} satellites, the largest error is {largest:.1e}");
    assert!(largest < 1e-4, "the error is too large");
    Ok(())
}

/// The same on the host, for [`ORBITS`].
fn anomaly(orbit: u32) -> f64 {
    let half = 1 << (ORBITS.ilog2() / 2);
    let e = 0.99 * f64::from(orbit / half) / f64::from(half);
    let mean = (f64::from(orbit % half) / f64::from(half) - 0.5) * TAU;
    let step = |eccentric: f64| {
        eccentric - (eccentric - e * eccentric.sin() - mean) / (1.0 - e * eccentric.cos())
    };
    (0..12).fold(mean + (0.85 * e).copysign(mean), |guess, _| step(guess))
}
