//! Starting workers, and their time limit.

use crate::plan::Job;
use crate::session::memory::draws_at_once;
use crate::worker::{DeviceRecord, Prepare, Request, Response, Worker, WorkerFailure};
use cltune_formats::record;
use cltune_runtime::tuning::IdlePower;
use std::time::Duration;

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerError {
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

impl WorkerError {
    /// The error for a worker that failed in the middle of a task.
    pub(super) fn of(failure: WorkerFailure, task: impl FnOnce(WorkerFailure) -> Self) -> Self {
        match failure {
            WorkerFailure::Interrupted => Self::Interrupted,
            failure => task(failure),
        }
    }
}

/// The devices of this machine, as a worker sees them.
pub(crate) fn list_devices() -> Result<Vec<DeviceRecord>, WorkerError> {
    list_in_worker().map(|(devices, _)| devices)
}

/// The same, with the worker: its drivers have started.
pub(super) fn list_in_worker() -> Result<(Vec<DeviceRecord>, Worker), WorkerError> {
    let (worker, answer) = ask_new(&Request::Devices, Duration::ZERO, &[])?;
    match answer.map_err(|failure| WorkerError::of(failure, WorkerError::Listing))? {
        Response::Devices(devices) => Ok((devices, worker)),
        Response::Failed(reason) => Err(WorkerError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}

/// The power of a device while nothing runs on it.
///
/// # Errors
/// Nothing measures its energy, or it may not be read.
pub(crate) fn idle_power(device: &DeviceRecord) -> Result<IdlePower, WorkerError> {
    let request = Request::IdlePower {
        device: device.index,
        device_name: device.name.clone(),
    };
    let (_, answer) = ask_new(&request, Duration::ZERO, &[])?;
    match answer.map_err(|failure| WorkerError::of(failure, WorkerError::Worker))? {
        Response::IdlePower(power) => Ok(power),
        Response::Failed(reason) => Err(WorkerError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}

/// Asks a new worker, started with these variables. One that ends before it has answered is
/// replaced, once: somebody may have killed it.
pub(super) fn ask_new(
    request: &Request,
    limit: Duration,
    variables: &[(&str, &str)],
) -> Result<(Worker, Result<Response, WorkerFailure>), WorkerError> {
    let ask = || -> Result<_, WorkerError> {
        let mut worker = Worker::start_with(variables)?;
        let answer = worker.ask(request, limit);
        Ok((worker, answer))
    };
    match ask()? {
        (_, Err(WorkerFailure::Ended(_) | WorkerFailure::Killed(_))) => ask(),
        asked => Ok(asked),
    }
}

/// The request to a worker for a job on its first device.
pub(crate) fn prepare(job: &Job, seed: u64) -> Prepare {
    let (model, declared) = (&job.declaration.model, job.declaration.draws);
    let limits = job.device.info().limits;
    Prepare {
        device: job.device.index,
        device_name: job.device.name.clone(),
        record: record::to_text(&job.declaration),
        dims: job.dims.clone(),
        seed,
        folder: job.folder.clone(),
        draws: declared.map(|draws| draws_at_once(model, &job.dims, &limits, draws as usize)),
        kinds: true,
        guards: true,
        metering: None,
    }
}

/// The time limit of one configuration: a multiple of the longest evaluation that succeeded.
pub(super) struct TimeLimit {
    least: Duration,
    longest: Duration,
}

impl TimeLimit {
    const FACTOR: u32 = 10;

    pub(super) fn new(least: Duration) -> Self {
        Self {
            least,
            longest: Duration::ZERO,
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.least.max(self.longest * Self::FACTOR)
    }

    pub(super) fn note(&mut self, took: Duration) {
        // What took longer may have been a session that was stopped meanwhile.
        self.longest = self.longest.max(took.min(self.least));
    }
}
