//! Times of problems: on each device alone, and on all together.

use crate::Failure;
use crate::problem::Problem;
use cltune::{DeviceSet, SplitReport};
use std::time::Instant;

/// How often a time is taken, and how many of the shortest are averaged, as in the paper (section
/// 4).
const RUNS: usize = 10;
const BEST: usize = 5;

/// A device for which the whole problem takes longer computes parts of it.
const PATIENCE: f64 = 2000.0;

/// The parts that tell what the whole would take: the problem divided by these.
const PARTS: [u32; 2] = [64, 16];

/// Positions of the smaller one, at least: a work-group of the multiplication covers so many rows.
const LEAST: u32 = 16;

/// After so many calls the split has settled.
const SETTLING: usize = 32;

/// Calls that take less, milliseconds, become faster in the course of as many.
const SHORT: f64 = 20.0;

/// Milliseconds of a problem on a device alone.
pub(crate) struct Alone {
    /// For the whole problem.
    pub(crate) time: f64,
    /// Whether only parts were computed, and the time follows from theirs.
    pub(crate) is_scaled: bool,
}

/// A problem on all devices.
pub(crate) struct Together {
    /// Milliseconds.
    pub(crate) time: f64,
    /// Of the last call.
    pub(crate) report: SplitReport,
}

/// The time of a problem on a set of one device. For a slow one it is the line through the times of
/// two parts, since what does not depend on the part (an argument that is transferred whole) counts
/// once.
pub(crate) fn alone(set: &mut DeviceSet, problem: &mut dyn Problem) -> Result<Alone, Failure> {
    let [small, large] = PARTS.map(|part| problem.positions() / part);
    let small = small.max(LEAST);
    let large = large.max(2 * small);
    let mut first = [0.0; 2];
    for (time, positions) in first.iter_mut().zip([small, large]) {
        // The first call builds and allocates.
        problem.compute(set, positions)?;
        let begin = Instant::now();
        problem.compute(set, positions)?;
        *time = milliseconds(begin);
    }
    let whole = |[of_small, of_large]: [f64; 2]| {
        let each = (of_large - of_small) / f64::from(large - small);
        of_large + each.max(0.0) * f64::from(problem.positions() - large)
    };
    let is_scaled = whole(first) > PATIENCE;
    if is_scaled {
        return Ok(Alone {
            time: whole(first),
            is_scaled,
        });
    }
    let all = problem.positions();
    let first = if whole(first) < SHORT { SETTLING } else { 1 };
    for _ in 0..first {
        problem.compute(set, all)?;
    }
    let (time, _) = best(|| problem.compute(set, all))?;
    Ok(Alone { time, is_scaled })
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
    mut call: impl FnMut() -> cltune::Result<SplitReport>,
) -> Result<(f64, SplitReport), Failure> {
    let mut times = Vec::with_capacity(RUNS);
    let mut last = None;
    for _ in 0..RUNS {
        let begin = Instant::now();
        last = Some(call()?);
        times.push(milliseconds(begin));
    }
    times.sort_by(f64::total_cmp);
    let mean = times.iter().take(BEST).sum::<f64>() / BEST as f64;
    Ok((mean, last.ok_or(Failure::NoTime)?))
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Changing, Data, Kind};
    use crate::problem::{Along, Convolution, Multiplication};
    use cltune::Device;

    /// Whatever the size, its parts, which need not be multiples of any work-group, are computed,
    /// too.
    fn measure(problem: &dyn Fn(&DeviceSet, Data) -> Box<dyn Problem>) {
        let device = Device::select().expect("these tests need an OpenCL device");
        let mut one = DeviceSet::new(std::slice::from_ref(&device)).unwrap();
        let mut two = DeviceSet::new(&[device.clone(), device]).unwrap();
        let data = Data {
            memory: Kind::Pageable,
            changing: Changing::None,
        };
        let mut problem = problem(&two, data);
        let title = problem.title();
        let of_one = alone(&mut one, problem.as_mut());
        let of_one = of_one.unwrap_or_else(|failure| panic!("{title}: {failure}"));
        let of_both = together(&mut two, problem.as_mut());
        let of_both = of_both.unwrap_or_else(|failure| panic!("{title}: {failure}"));
        assert!(of_one.time > 0.0 && of_both.time > 0.0, "{title}");
    }

    #[test]
    fn convolutions_of_any_size_are_measured() {
        for n in [64, 65, 100, 127, 992, 1000, 1200, 2016, 4097, 12000] {
            let mask = 5;
            measure(&|set, data| Box::new(Convolution::new(set, data, n, mask).unwrap()));
        }
    }

    #[test]
    fn multiplications_of_any_number_of_rows_are_measured() {
        for along in [Along::Rows, Along::Columns] {
            let rows = match along {
                Along::Rows => [64, 65, 100, 127],
                Along::Columns => [64, 72, 104, 128],
            };
            for rows in rows {
                let sizes = [rows, 72];
                measure(&|set, data| {
                    Box::new(Multiplication::new(set, data, sizes, along).unwrap())
                });
            }
        }
    }
}
