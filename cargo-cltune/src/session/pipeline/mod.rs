//! The build pipeline of a search: configurations go in, and results come out.
//!
//! Its kind depends on the device, and on how many processes may run.
//!
//! | file | owns |
//! |---|---|
//! | `concurrent` | building ahead beside measuring |
//! | `batched` | building and measuring in turns |
//! | `shared` | the steps of both |
//! | `transfer` | how a built program reaches the process that measures |

mod batched;
mod concurrent;
mod shared;
mod transfer;

pub(super) use shared::{Announce, EvaluationQueue};

use super::evaluation::Evaluation;
use super::stopwatch::Stopwatch;
use super::workers::{
    CompileWorker, EarlyWorkers, Gate, IdleWorkers, MeasurementWorker, WorkerError, prepare,
};
use crate::plan::Job;
use crate::worker::DeviceRecord;
use batched::Batched;
use concurrent::Concurrent;
use shared::{Shared, StartMeasuring};
use std::sync::Arc;
use std::time::Duration;

/// Compile workers beyond this number only wait for each other: what a GPU driver does for each
/// process, it does one after another.
const MOST_COMPILERS: usize = 16;
/// A compile worker is worth its start when it builds about so many configurations.
const WORTH_A_WORKER: u64 = 4;

/// How many compile workers start at a time for a GPU: its driver makes contexts one after another,
/// and when all wait for theirs together, all are ready late.
const STARTING: usize = 8;

/// How many configurations each compile worker builds before they are measured: where the search
/// learns from results, and where it does not. Workers wait for the last one of a batch.
const BATCH: (usize, usize) = (2, 16);
/// How many configurations for each compile worker are under way where the search does not learn.
const FAR_AHEAD: usize = 4;

/// The options of a pipeline.
pub(crate) struct PipelineOptions {
    pub(crate) seed: u64,
    /// The least time limit of one configuration.
    pub(crate) limit: Duration,
    /// How many processes may build at the same time.
    pub(crate) jobs: usize,
    /// How many configurations are to be measured, where that is known.
    pub(crate) total: Option<u64>,
    /// Whether the search learns from results, and so should not be far ahead of them.
    pub(crate) learns: bool,
    /// The idle worker pool.
    pub(crate) idle: IdleWorkers,
    /// Whether energy is measured, and how often its counter advances.
    pub(crate) metering: Option<Duration>,
    pub(crate) stopwatch: Arc<Stopwatch>,
}

/// How many processes that build are worth their start for so many configurations.
fn worth(jobs: usize, total: Option<u64>) -> usize {
    let worth = total.map_or(u64::MAX, |total| total / WORTH_A_WORKER);
    let worth = usize::try_from(worth).unwrap_or(usize::MAX);
    jobs.min(MOST_COMPILERS).min(worth)
}

/// Starts the workers of a session's first search before its device and kernel are known. `filters`
/// are those for devices; `total` is how many configurations are to be measured at most.
pub(crate) fn start_workers(filters: &[String], jobs: usize, total: Option<u64>) -> EarlyWorkers {
    // With one process it depends on the device whether it is needed.
    let builders = Some(worth(jobs, total)).filter(|builders| *builders > 1);
    EarlyWorkers::start(filters, builders.unwrap_or(0), &Gate::new(STARTING))
}

/// As many compile workers as are worth their start; they start while the measurement worker is
/// made ready.
fn compilers(job: &Job, options: &PipelineOptions) -> Vec<CompileWorker> {
    let jobs = worth(options.jobs, options.total);
    // One process that builds gains nothing where it must wait while the other measures.
    let count = match (jobs, job.device.is_cpu()) {
        (0 | 1, true) => 0,
        (0 | 1, false) => job.twins.len().min(1),
        (jobs, _) => jobs,
    };
    let gate = Gate::new(if job.device.is_cpu() { jobs } else { STARTING });
    let worker = |_| {
        let prepare = prepare(job, options.seed);
        CompileWorker::new(prepare, options.limit, &options.idle, gate.clone())
    };
    (0..count).map(worker).collect()
}

/// The build pipeline of a job.
pub(crate) struct Pipeline(Kind);

enum Kind {
    Batched(Box<Batched>),
    Concurrent(Concurrent),
}

impl Pipeline {
    /// The pipeline that suits the job's device. `announce` is told each configuration before it is
    /// measured; `best_us` is the best time so far. A device that cannot be made ready says so when
    /// the pipeline is asked for its first result.
    pub(crate) fn new(
        job: &Job,
        options: &PipelineOptions,
        announce: Announce,
        best_us: Option<f64>,
    ) -> Self {
        let shared = Shared::new(announce, best_us, Arc::clone(&options.stopwatch));
        let compilers = compilers(job, options);
        let (seed, limit, metering) = (options.seed, options.limit, options.metering);
        let start = |device: &DeviceRecord| -> StartMeasuring {
            let job = Job {
                device: device.clone(),
                ..job.clone()
            };
            let idle = options.idle.clone();
            Box::new(move || MeasurementWorker::new(&job, seed, limit, metering, &idle))
        };
        if job.device.is_cpu() || compilers.is_empty() {
            let batch = compilers.len() * if options.learns { BATCH.0 } else { BATCH.1 };
            let pipeline = Batched::new(start(&job.device), compilers, batch, shared);
            return Self(Kind::Batched(Box::new(pipeline)));
        }
        let devices = std::iter::once(&job.device).chain(&job.twins);
        let workers = devices.map(start);
        let ahead = if options.learns { 1 } else { FAR_AHEAD };
        let capacity = compilers.len() * ahead;
        let pipeline = Concurrent::new(
            workers.collect(),
            compilers,
            capacity,
            shared,
            &options.idle,
        );
        Self(Kind::Concurrent(pipeline))
    }

    /// Ends the pipeline; `None` where it has lost its measurement worker.
    pub(crate) fn finish(self, idle: &IdleWorkers) -> Option<MeasurementWorker> {
        match self.0 {
            Kind::Batched(pipeline) => pipeline.finish(idle),
            Kind::Concurrent(pipeline) => pipeline.finish(),
        }
    }

    fn queue(&mut self) -> &mut dyn EvaluationQueue {
        match &mut self.0 {
            Kind::Batched(pipeline) => pipeline.as_mut(),
            Kind::Concurrent(pipeline) => pipeline,
        }
    }
}

impl EvaluationQueue for Pipeline {
    fn capacity(&self) -> usize {
        match &self.0 {
            Kind::Batched(pipeline) => pipeline.capacity(),
            Kind::Concurrent(pipeline) => pipeline.capacity(),
        }
    }

    fn submit(&mut self, codes: Vec<i64>) {
        self.queue().submit(codes);
    }

    fn next(&mut self) -> Result<Option<(Vec<i64>, Evaluation)>, WorkerError> {
        self.queue().next()
    }

    fn cancel(&mut self) {
        self.queue().cancel();
    }
}
