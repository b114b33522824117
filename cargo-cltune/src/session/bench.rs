//! Measuring configurations in workers, which are replaced when they die.
//!
//! | file | owns |
//! |---|---|
//! | `measuring` | a worker that measures |
//! | `compiling` | a worker that builds ahead |
//! | `gate` | how many of those start at a time |
//! | `spare` | workers with nothing to do, for the next search |
//! | `stopwatch` | where a search's time goes |
//! | `lane` | the way of configurations from the search to their results |
//! | `alternating` | on CPUs: building and measuring in turns |
//! | `ahead` | elsewhere: building while measuring |
//! | `pipeline` | which of them a job gets, and with how many workers |
//! | `supply` | how what was built gets to the one who measures |
//! | `blame` | whether a failure is the configuration's |
//! | `steadiness` | whether the device was the same all the time |

mod ahead;
mod alternating;
mod blame;
mod compiling;
mod gate;
mod lane;
mod measuring;
mod pipeline;
mod spare;
mod steadiness;
mod stopwatch;
mod supply;

pub(crate) use lane::{Announce, Lane};
pub(crate) use measuring::Bench;
pub(crate) use pipeline::{Pipeline, PipelineOptions};
pub(crate) use spare::Spare;
pub(crate) use steadiness::Steadiness;
pub(crate) use stopwatch::{Spent, Stopwatch};

use super::memory::draws_at_once;
use super::plan::Job;
use crate::worker::{DeviceRecord, Prepare, Request, Response, Worker, WorkerFailure};
use cltune_core::record;
use cltune_runtime::tuning::Outcome;
use std::time::Duration;

/// What became of a configuration, the worker's own end included.
#[derive(Debug)]
pub(crate) enum Measured {
    /// The worker's word.
    Outcome(Outcome),
    /// It did not end in time.
    TimedOut(String),
    /// It took the worker with it.
    Crashed(String),
    /// Another process killed the worker meanwhile.
    Killed(String),
    /// It is right and fast, and does what it must not.
    Unsound(String),
    /// The session itself ended more than once while it was being measured.
    Interrupted(String),
    /// Ctrl-C was pressed, and it did not end soon: nothing is known of it.
    Abandoned,
}

impl Measured {
    /// The median time, microseconds.
    pub(crate) fn time_us(&self) -> Option<f64> {
        match self {
            Self::Outcome(outcome) => outcome.time_us(),
            Self::TimedOut(_)
            | Self::Crashed(_)
            | Self::Killed(_)
            | Self::Unsound(_)
            | Self::Interrupted(_)
            | Self::Abandoned => None,
        }
    }

    /// Of a configuration that cost a worker.
    fn lost(failure: &WorkerFailure) -> Self {
        match failure {
            WorkerFailure::TimedOut { .. } => Self::TimedOut(failure.to_string()),
            WorkerFailure::Interrupted => Self::Abandoned,
            WorkerFailure::Killed(_) => Self::Killed(failure.to_string()),
            _ => Self::Crashed(failure.to_string()),
        }
    }
}

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// Ctrl-C was pressed before a device was ready.
    #[error("interrupted")]
    Interrupted,
    /// The worker says why.
    #[error("{0}")]
    Refused(String),
    /// The worker failed.
    #[error(transparent)]
    Worker(#[from] WorkerFailure),
    /// No worker could list the devices.
    #[error(
        "listing the OpenCL devices: {0}. One of the installed drivers does this; OCL_ICD_VENDORS can \
         name a folder with the .icd files of the others"
    )]
    Listing(WorkerFailure),
    /// No worker got ready to measure.
    #[error(
        "making ready to measure (buffers, inputs, the reference): {0}. Either the driver fails at this \
         size, or the reference (the default configuration, unless `reference(…)` names another kernel) \
         accesses memory far out of bounds or does not end; a slow one needs a larger --time-limit"
    )]
    Preparing(WorkerFailure),
}

/// The devices of this machine, as a worker sees them.
pub(crate) fn list_devices() -> Result<Vec<DeviceRecord>, BenchError> {
    list_and_keep().map(|(devices, _)| devices)
}

/// The same, with the worker: its drivers have started.
pub(crate) fn list_and_keep() -> Result<(Vec<DeviceRecord>, Spare), BenchError> {
    let (worker, answer) = ask_new(&Request::Devices, Duration::ZERO, &[])?;
    match answer.map_err(|failure| BenchError::of(failure, BenchError::Listing))? {
        Response::Devices(devices) => Ok((devices, Spare::new(worker))),
        Response::Failed(reason) => Err(BenchError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}

/// Asks a new worker, started with these variables. One that ends before it has answered is replaced, once:
/// somebody may have killed it.
fn ask_new(
    request: &Request,
    limit: Duration,
    variables: &[(&str, &str)],
) -> Result<(Worker, Result<Response, WorkerFailure>), BenchError> {
    let ask = || -> Result<_, BenchError> {
        let mut worker = Worker::start_with(variables)?;
        let answer = worker.ask(request, limit);
        Ok((worker, answer))
    };
    match ask()? {
        (_, Err(WorkerFailure::Ended(_) | WorkerFailure::Killed(_))) => ask(),
        asked => Ok(asked),
    }
}

impl BenchError {
    /// What a worker's failure means that was doing something.
    fn of(failure: WorkerFailure, doing: impl FnOnce(WorkerFailure) -> Self) -> Self {
        match failure {
            WorkerFailure::Interrupted => Self::Interrupted,
            failure => doing(failure),
        }
    }
}

/// What a worker needs for a job on its first device.
fn prepare(job: &Job, seed: u64) -> Prepare {
    let (model, declared) = (&job.declaration.model, job.declaration.draws);
    let limits = job.device.info().limits;
    Prepare {
        device: job.device.index,
        device_name: job.device.name.clone(),
        record: record::encode(&job.declaration),
        dims: job.dims.clone(),
        seed,
        folder: job.folder.clone(),
        draws: declared.map(|draws| draws_at_once(model, &job.dims, &limits, draws as usize)),
        kinds: true,
        guards: true,
    }
}
