//! Which lane a job gets: it depends on its device, and on how many processes may run.

use super::ahead::Ahead;
use super::alternating::Alternating;
use super::compiling::CompileWorker;
use super::gate::Gate;
use super::lane::{Announce, Lane, MakeBench, Shared};
use super::measuring::Bench;
use super::spare::Spare;
use super::stopwatch::Stopwatch;
use super::{BenchError, Measured, prepare};
use crate::session::plan::Job;
use crate::worker::DeviceRecord;
use std::sync::Arc;
use std::time::Duration;

/// Compile workers beyond this number only wait for each other: what a GPU driver does for each
/// process, it does one after another.
const MOST_COMPILERS: usize = 16;
/// A compile worker is worth its start when it builds about so many configurations.
const WORTH_A_WORKER: u64 = 4;

/// How many compile workers start at a time for a GPU: its driver makes contexts one after another, and when
/// all wait for theirs together, all are ready late.
const STARTING: usize = 8;

/// How many configurations each compile worker builds before they are measured: where the search learns
/// from results, and where it does not. Workers wait for the last one of a batch.
const BATCH: (usize, usize) = (2, 16);
/// How many configurations for each compile worker are under way where the search does not learn.
const FAR_AHEAD: usize = 4;
/// How to measure a job.
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
    /// Workers that have nothing to do.
    pub(crate) spare: Spare,
    pub(crate) stopwatch: Arc<Stopwatch>,
}

/// As many workers that build as are worth their start; they start while the one that measures is
/// made ready.
fn compilers(job: &Job, options: &PipelineOptions) -> Vec<CompileWorker> {
    let worth = options
        .total
        .map_or(u64::MAX, |total| total / WORTH_A_WORKER);
    let worth = usize::try_from(worth).unwrap_or(usize::MAX);
    let jobs = options.jobs.min(MOST_COMPILERS).min(worth);
    // One process that builds gains nothing where it must wait while the other measures.
    let count = match (jobs, job.device.is_cpu()) {
        (0 | 1, true) => 0,
        (0 | 1, false) => job.twins.len().min(1),
        (jobs, _) => jobs,
    };
    let gate = Gate::new(if job.device.is_cpu() { jobs } else { STARTING });
    let worker = |_| {
        let prepare = prepare(job, options.seed);
        CompileWorker::new(prepare, options.limit, &options.spare, gate.clone())
    };
    (0..count).map(worker).collect()
}

/// The lane of a job.
pub(crate) struct Pipeline(Kind);

enum Kind {
    Alternating(Box<Alternating>),
    Ahead(Ahead),
}

impl Pipeline {
    /// The lane that suits the job's device. `announce` is told each configuration before it is
    /// measured; `best_us` is the best time so far. A device that cannot be made ready says so when
    /// the lane is asked for its first result.
    pub(crate) fn new(
        job: &Job,
        options: &PipelineOptions,
        announce: Announce,
        best_us: Option<f64>,
    ) -> Self {
        let shared = Shared::new(announce, best_us, Arc::clone(&options.stopwatch));
        let compilers = compilers(job, options);
        let (seed, limit) = (options.seed, options.limit);
        let bench = |device: &DeviceRecord| -> MakeBench {
            let job = Job {
                device: device.clone(),
                ..job.clone()
            };
            let spare = options.spare.clone();
            Box::new(move || Bench::new(&job, seed, limit, &spare))
        };
        if job.device.is_cpu() || compilers.is_empty() {
            let batch = compilers.len() * if options.learns { BATCH.0 } else { BATCH.1 };
            let lane = Alternating::new(bench(&job.device), compilers, batch, shared);
            return Self(Kind::Alternating(Box::new(lane)));
        }
        let devices = std::iter::once(&job.device).chain(&job.twins);
        let benches = devices.map(bench);
        let ahead = if options.learns { 1 } else { FAR_AHEAD };
        let capacity = compilers.len() * ahead;
        let lane = Ahead::new(
            benches.collect(),
            compilers,
            capacity,
            shared,
            &options.spare,
        );
        Self(Kind::Ahead(lane))
    }

    /// Ends the lane; `None` where it has lost what measures.
    pub(crate) fn finish(self, spare: &Spare) -> Option<Bench> {
        match self.0 {
            Kind::Alternating(lane) => lane.finish(spare),
            Kind::Ahead(lane) => lane.finish(),
        }
    }

    fn lane(&mut self) -> &mut dyn Lane {
        match &mut self.0 {
            Kind::Alternating(lane) => lane.as_mut(),
            Kind::Ahead(lane) => lane,
        }
    }
}

impl Lane for Pipeline {
    fn capacity(&self) -> usize {
        match &self.0 {
            Kind::Alternating(lane) => lane.capacity(),
            Kind::Ahead(lane) => lane.capacity(),
        }
    }

    fn submit(&mut self, codes: Vec<i64>) {
        self.lane().submit(codes);
    }

    fn next(&mut self) -> Result<Option<(Vec<i64>, Measured)>, BenchError> {
        self.lane().next()
    }

    fn cancel(&mut self) {
        self.lane().cancel();
    }
}
