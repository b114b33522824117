//! A worker that is ready to measure one job, replaced when it dies.

use super::plan::Job;
use crate::worker::{DeviceRecord, Prepare, Request, Response, Worker, WorkerFailure};
use cltune_core::record;
use cltune_runtime::tuning::Outcome;
use std::time::{Duration, Instant};

/// How long listing devices and preparing may take: reference kernels are naive and drivers slow.
const PATIENCE: Duration = Duration::from_mins(10);

/// What became of a configuration, the worker's own end included.
pub(crate) enum Measured {
    /// The worker's word.
    Outcome(Outcome),
    /// It did not end in time.
    TimedOut(String),
    /// It took the worker with it.
    Crashed(String),
}

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The worker says why.
    #[error("{0}")]
    Refused(String),
    /// The worker failed.
    #[error(transparent)]
    Worker(#[from] WorkerFailure),
}

/// The devices of this machine, as a worker sees them.
pub(crate) fn list_devices() -> Result<Vec<DeviceRecord>, BenchError> {
    match Worker::start()?.ask(&Request::Devices, PATIENCE)? {
        Response::Devices(devices) => Ok(devices),
        Response::Failed(reason) => Err(BenchError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}

/// A job ready to be measured.
pub(crate) struct Bench {
    worker: Worker,
    prepare: Prepare,
    default: Vec<i64>,
    /// The least time limit of one configuration.
    least_limit: Duration,
    /// The longest that a configuration which succeeded has taken, for scaling the limit.
    longest: Duration,
}

impl Bench {
    /// Starts a worker and lets it prepare: allocate, fill, compute the reference.
    pub(crate) fn new(job: &Job, seed: u64, least_limit: Duration) -> Result<Self, BenchError> {
        let prepare = Prepare {
            device: job.device.index,
            device_name: job.device.name.clone(),
            record: record::encode(&job.declaration),
            dims: job.dims.clone(),
            seed,
            folder: job.folder.clone(),
            draws: None,
            guards: true,
        };
        let (worker, default) = start(&prepare)?;
        Ok(Self {
            worker,
            prepare,
            default,
            least_limit,
            longest: Duration::ZERO,
        })
    }

    /// The default configuration.
    pub(crate) fn default_codes(&self) -> &[i64] {
        &self.default
    }

    /// Measures a configuration. A worker that dies is replaced.
    pub(crate) fn measure(
        &mut self,
        codes: &[i64],
        best_us: Option<f64>,
    ) -> Result<Measured, BenchError> {
        let request = Request::Measure {
            codes: codes.to_vec(),
            best_us,
        };
        let limit = self.least_limit.max(self.longest * 10);
        let begin = Instant::now();
        let failure = match self.worker.ask(&request, limit) {
            Ok(Response::Outcome { outcome, usable }) => {
                if !usable {
                    self.restart()?;
                }
                if outcome.time_us().is_some() {
                    self.longest = self.longest.max(begin.elapsed());
                }
                return Ok(Measured::Outcome(outcome));
            }
            Ok(Response::Failed(reason)) => return Err(BenchError::Refused(reason)),
            Ok(other) => WorkerFailure::Garbage(format!("{other:?}")),
            Err(failure) => failure,
        };
        self.restart()?;
        Ok(match failure {
            WorkerFailure::TimedOut { .. } => Measured::TimedOut(failure.to_string()),
            _ => Measured::Crashed(failure.to_string()),
        })
    }

    /// Times configurations in turns; `None` for those that fail.
    pub(crate) fn compare(
        &mut self,
        configurations: &[Vec<i64>],
        rounds: usize,
    ) -> Result<Vec<Option<f64>>, BenchError> {
        let configurations = configurations.to_vec();
        match self.worker.ask(
            &Request::Compare {
                configurations,
                rounds,
            },
            PATIENCE,
        )? {
            Response::Compared(times) => Ok(times),
            Response::Failed(reason) => Err(BenchError::Refused(reason)),
            other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
        }
    }

    fn restart(&mut self) -> Result<(), BenchError> {
        let (worker, _) = start(&self.prepare)?;
        self.worker = worker;
        Ok(())
    }
}

fn start(prepare: &Prepare) -> Result<(Worker, Vec<i64>), BenchError> {
    let mut worker = Worker::start()?;
    match worker.ask(&Request::Prepare(Box::new(prepare.clone())), PATIENCE)? {
        Response::Prepared { default } => Ok((worker, default)),
        Response::Failed(reason) => Err(BenchError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}
