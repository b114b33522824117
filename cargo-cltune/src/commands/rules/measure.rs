//! The choices of one kernel, device and problem, timed in turns.

use super::choices::Choice;
use crate::plan::Job;
use crate::session::{IdleWorkers, MeasurementWorker, WorkerError};
use std::time::Duration;

/// The seed of the inputs. What is compared has the same inputs.
const SEED: u64 = 1;

/// The worth of a choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Worth {
    pub(super) choice: Choice,
    /// The median time of a launch, microseconds; `None` where it fails or is wrong.
    pub(super) time_us: Option<f64>,
}

/// Times all choices in one worker process, each configuration once.
///
/// # Errors
/// The device cannot be made ready.
pub(super) fn measure(
    job: &Job,
    choices: Vec<Choice>,
    limit: Duration,
) -> Result<Vec<Worth>, WorkerError> {
    let mut configurations: Vec<Vec<i64>> = Vec::new();
    for choice in &choices {
        if !configurations.contains(&choice.codes) {
            configurations.push(choice.codes.clone());
        }
    }
    let mut worker = MeasurementWorker::new(job, SEED, limit, None, &IdleWorkers::default())?;
    let mut right = Vec::new();
    for codes in configurations {
        if worker.verify(&codes)?.is_none() {
            right.push(codes);
        }
    }
    let times = worker.compare(&right)?;
    let time_of = |codes: &[i64]| {
        let position = right.iter().position(|of| of == codes)?;
        let compared = times[position].as_ref().ok()?;
        Some(compared.time_us)
    };
    let worth = choices.into_iter().map(|choice| Worth {
        time_us: time_of(&choice.codes),
        choice,
    });
    Ok(worth.collect())
}

/// The least time of all, microseconds.
pub(super) fn fastest(worth: &[Worth]) -> Option<f64> {
    let times = worth.iter().filter_map(|one| one.time_us);
    times.reduce(f64::min)
}
