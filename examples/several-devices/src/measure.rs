//! Times of problems: on each device alone, and on all together.

use crate::Failure;
use crate::problem::Problem;
use cltune_runtime::{Device, DeviceSet, SplitReport};
use std::time::{Duration, Instant};

/// How often a time is taken, and how many of the shortest are averaged, as in the paper (section 4).
const RUNS: usize = 10;
const BEST: usize = 5;

/// A device for which the whole problem takes longer computes a part of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The parts that are tried on a device of unknown speed: the problem divided by these.
const PARTS: [u32; 4] = [64, 16, 4, 1];

/// After so many calls the split has settled.
const SETTLING: usize = 8;

/// Milliseconds of a problem on a device alone.
pub(crate) struct Alone {
    /// For the whole problem.
    pub(crate) time: f64,
    /// Whether only a part was computed, and the time was scaled.
    pub(crate) is_scaled: bool,
}

/// A problem on all devices.
pub(crate) struct Together {
    /// Milliseconds.
    pub(crate) time: f64,
    /// Of the last call.
    pub(crate) report: SplitReport,
}

/// The time of a problem on one device.
pub(crate) fn alone(device: &Device, problem: &mut dyn Problem) -> Result<Alone, Failure> {
    let mut set = DeviceSet::new(std::slice::from_ref(device))?;
    for part in PARTS {
        let positions = problem.positions() / part;
        // The first call builds and allocates.
        problem.compute(&mut set, positions)?;
        let begin = Instant::now();
        problem.compute(&mut set, positions)?;
        let is_last = part == 1 || begin.elapsed() * part > PATIENCE;
        if is_last {
            let (time, _) = best(|| problem.compute(&mut set, positions))?;
            return Ok(Alone {
                time: time * f64::from(part),
                is_scaled: part > 1,
            });
        }
    }
    Err(Failure::NoTime)
}

/// The time of a problem on all devices, when the split has settled.
pub(crate) fn together(
    devices: &mut DeviceSet,
    problem: &mut dyn Problem,
) -> Result<Together, Failure> {
    for _ in 0..SETTLING {
        problem.compute(devices, problem.positions())?;
    }
    let (time, report) = best(|| problem.compute(devices, problem.positions()))?;
    match problem.wrong() {
        0 => Ok(Together { time, report }),
        wrong => Err(Failure::Wrong(wrong)),
    }
}

/// The mean of the best times in milliseconds, and what the last call was.
pub(crate) fn best(
    mut call: impl FnMut() -> cltune_runtime::Result<SplitReport>,
) -> Result<(f64, SplitReport), Failure> {
    let mut times = Vec::with_capacity(RUNS);
    let mut last = None;
    for _ in 0..RUNS {
        let begin = Instant::now();
        last = Some(call()?);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let mean = times.iter().take(BEST).sum::<f64>() / BEST as f64;
    Ok((mean, last.ok_or(Failure::NoTime)?))
}
