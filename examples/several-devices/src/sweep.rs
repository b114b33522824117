//! Times for other splits than the one that the method chooses: figures 6 and 7 of the paper.

use crate::Failure;
use crate::measure::{Alone, best};
use crate::problem::Problem;
use cltune::{DeviceSet, Sharing};

/// The time of a split of two devices.
pub(crate) struct Point {
    /// The first device's part, 0 to 1.
    pub(crate) factor: f64,
    /// What it takes, milliseconds.
    pub(crate) measured: f64,
    /// What it would take without overhead (algorithm 1), milliseconds.
    pub(crate) calculated: f64,
}

/// The times of splits from all for the second device to all for the first.
pub(crate) fn run(
    devices: &mut DeviceSet,
    problem: &mut dyn Problem,
    alone: [&Alone; 2],
    steps: u32,
) -> Result<Vec<Point>, Failure> {
    let mut points = Vec::new();
    for step in 0..=steps {
        let factor = f64::from(step) / f64::from(steps);
        devices.set_sharing(Sharing::Fixed(vec![factor, 1.0 - factor]));
        problem.compute(devices, problem.positions())?;
        let (measured, _) = best(|| problem.compute(devices, problem.positions()))?;
        let times = [factor * alone[0].time, (1.0 - factor) * alone[1].time];
        points.push(Point {
            factor,
            measured,
            calculated: times[0].max(times[1]),
        });
    }
    devices.set_sharing(Sharing::Balanced);
    Ok(points)
}
