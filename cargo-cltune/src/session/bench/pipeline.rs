//! Which lane a job gets: it depends on its device, and on how many processes may run.

use super::ahead::Ahead;
use super::alternating::Alternating;
use super::compiling::CompileWorker;
use super::lane::{Announce, Lane, Shared};
use super::measuring::Bench;
use super::{BenchError, Measured, prepare};
use crate::session::plan::Job;
use std::time::Duration;

/// Compile workers beyond this number only wait for each other: what a GPU driver does for each
/// process, it does one after another.
const MOST_COMPILERS: usize = 16;
/// A compile worker is worth its start when it builds about so many configurations.
const WORTH_A_WORKER: u64 = 4;

/// How to measure a job.
pub(crate) struct PipelineOptions {
    pub(crate) seed: u64,
    /// The least time limit of one configuration.
    pub(crate) limit: Duration,
    /// How many processes may build at the same time.
    pub(crate) jobs: usize,
    /// How many configurations are to be measured, where that is known.
    pub(crate) total: Option<u64>,
}

/// The lane of a job.
pub(crate) struct Pipeline(Kind);

enum Kind {
    Alternating(Box<Alternating>),
    Ahead(Ahead),
}

impl Pipeline {
    /// The lane that suits the job's device. `bench` measures on it; `announce` is told each
    /// configuration before it is measured; `best_us` is the best time so far.
    ///
    /// # Errors
    /// Another device of the same kind cannot be prepared.
    pub(crate) fn new(
        job: &Job,
        bench: Bench,
        options: &PipelineOptions,
        announce: Announce,
        best_us: Option<f64>,
    ) -> Result<Self, BenchError> {
        let shared = Shared::new(announce, best_us);
        let worth = options
            .total
            .map_or(u64::MAX, |total| total / WORTH_A_WORKER);
        let worth = usize::try_from(worth).unwrap_or(usize::MAX);
        let jobs = options.jobs.min(MOST_COMPILERS).min(worth);
        let compilers = |count: usize| {
            let workers = (0..count).map(|_| {
                let prepare = prepare(job, options.seed);
                CompileWorker::new(prepare, options.limit)
            });
            workers.collect::<Vec<_>>()
        };
        // One process that builds gains nothing where it must wait while the other measures.
        let alone = jobs <= 1;
        Ok(Self(
            if job.device.is_cpu() || (alone && job.twins.is_empty()) {
                let compilers = compilers(if alone { 0 } else { jobs });
                Kind::Alternating(Box::new(Alternating::new(bench, compilers, shared)))
            } else {
                let mut benches = vec![bench];
                for twin in &job.twins {
                    let job = Job {
                        device: twin.clone(),
                        ..job.clone()
                    };
                    benches.push(Bench::new(&job, options.seed, options.limit)?);
                }
                Kind::Ahead(Ahead::new(benches, compilers(jobs.max(1)), shared))
            },
        ))
    }

    /// Ends the lane; `None` where it has lost what measures.
    pub(crate) fn finish(self) -> Option<Bench> {
        match self.0 {
            Kind::Alternating(lane) => Some(lane.bench),
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
