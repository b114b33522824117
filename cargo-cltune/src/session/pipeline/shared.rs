//! The steps that both build pipelines share: building a configuration as the transfer policy says,
//! and measuring it.

use super::transfer::{Transfer, TransferPolicy};
use crate::session::evaluation::Evaluation;
use crate::session::stopwatch::Stopwatch;
use crate::session::workers::{BuildResult, CompileWorker, MeasurementWorker, WorkerError};
use crate::threads::lock;
use cltune_runtime::tuning::Outcome;
use std::sync::{Arc, Mutex};

/// Takes configurations, and gives their results, not always in the same order.
pub(crate) trait EvaluationQueue {
    /// How many configurations may be under way.
    fn capacity(&self) -> usize;

    /// Takes a configuration.
    fn submit(&mut self, codes: Vec<i64>);

    /// Waits for a result; `None` when nothing is under way.
    ///
    /// # Errors
    /// The device is lost.
    fn next(&mut self) -> Result<Option<(Vec<i64>, Evaluation)>, WorkerError>;

    /// Drops what has not begun.
    fn cancel(&mut self);
}

/// Starts a measurement worker.
pub(super) type StartMeasuring = Box<dyn FnOnce() -> Result<MeasurementWorker, WorkerError> + Send>;
/// Is called before a configuration is measured.
pub(crate) type Announce = Box<dyn Fn(&[i64]) + Send + Sync>;

/// What the threads of a pipeline share.
pub(super) struct Shared {
    announce: Announce,
    best_us: Mutex<Option<f64>>,
    transfers: Mutex<TransferPolicy>,
    stopwatch: Arc<Stopwatch>,
}

impl Shared {
    /// `best_us` is the best time of earlier results.
    pub(super) fn new(announce: Announce, best_us: Option<f64>, stopwatch: Arc<Stopwatch>) -> Self {
        Self {
            announce,
            best_us: Mutex::new(best_us),
            transfers: Mutex::default(),
            stopwatch,
        }
    }

    /// How the next configuration should be transferred.
    pub(super) fn next_transfer(&self) -> Transfer {
        lock(&self.transfers).next()
    }

    /// Builds a configuration, or leaves that to the measurement worker.
    pub(super) fn build(
        &self,
        compiler: &mut CompileWorker,
        codes: &[i64],
        transfer: Transfer,
    ) -> BuildResult {
        let with_binary = match transfer {
            Transfer::Source => false,
            Transfer::Binary => true,
            Transfer::NotAhead => return BuildResult::NotBuilt,
        };
        let built = compiler.build(codes, with_binary, &self.stopwatch);
        if with_binary && matches!(built, BuildResult::Ready { binary: None, .. }) {
            lock(&self.transfers).no_binary();
        }
        built
    }

    /// Measures what was built ahead, or not.
    pub(super) fn measure(
        &self,
        worker: &mut MeasurementWorker,
        codes: &[i64],
        built: BuildResult,
    ) -> Result<Evaluation, WorkerError> {
        let stopwatch = &self.stopwatch;
        stopwatch.measure(|| self.measure_built(worker, codes, built))
    }

    fn measure_built(
        &self,
        worker: &mut MeasurementWorker,
        codes: &[i64],
        built: BuildResult,
    ) -> Result<Evaluation, WorkerError> {
        let (built, binary) = match built {
            // A configuration that does not build is not announced: it cannot bring the session
            // down.
            BuildResult::Failed(measured) => return Ok(measured),
            BuildResult::NotBuilt => (None, None),
            BuildResult::Ready {
                seconds,
                binary_seconds,
                binary,
            } => (Some((seconds, binary_seconds)), binary),
        };
        (self.announce)(codes);
        let best_us = *lock(&self.best_us);
        let mut measured = worker.measure(codes, best_us, binary.as_ref())?;
        if let Evaluation::Answered(Outcome::Ok(measurement)) = &mut measured {
            let mut best = lock(&self.best_us);
            *best = Some(best.map_or(measurement.time_us, |best| best.min(measurement.time_us)));
            if let Some((seconds, binary_seconds)) = built {
                let binary_seconds = binary.map(|_| binary_seconds);
                lock(&self.transfers).note(seconds, binary_seconds, measurement.build_seconds);
                measurement.build_seconds = seconds;
            }
        }
        worker.watch(codes, &measured)?;
        Ok(measured)
    }
}
