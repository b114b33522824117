//! The times of launches, one after another.

use cltune::Queue;
use std::error::Error;
use std::time::{Duration, Instant};

/// Launches are timed in batches of about this length, so that starting and waiting does not count.
const BATCH: Duration = Duration::from_millis(10);

/// The median of this many batches counts.
const BATCHES: usize = 9;

/// The number of launches that make a batch; the first launches build the kernel and wake the
/// device.
pub(crate) fn batch(
    queue: &Queue,
    launch: &mut impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<u32, Box<dyn Error>> {
    timed(queue, 3, launch)?;
    let once = timed(queue, 1, launch)?;
    Ok((BATCH.as_secs_f64() / once.as_secs_f64()).clamp(1.0, 1000.0) as u32)
}

/// The time of each of a number of launches.
pub(crate) fn timed(
    queue: &Queue,
    launches: u32,
    launch: &mut impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<Duration, Box<dyn Error>> {
    queue.finish()?;
    let begin = Instant::now();
    for _ in 0..launches {
        launch()?;
    }
    queue.finish()?;
    Ok(begin.elapsed() / launches)
}

/// The median time of a launch.
pub(crate) fn median(
    queue: &Queue,
    mut launch: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<Duration, Box<dyn Error>> {
    let launches = batch(queue, &mut launch)?;
    let times: Result<Vec<Duration>, _> = (0..BATCHES)
        .map(|_| timed(queue, launches, &mut launch))
        .collect();
    Ok(middle(times?))
}

/// The middle one of some times.
pub(crate) fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
