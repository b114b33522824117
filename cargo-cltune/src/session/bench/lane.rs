//! The way of configurations from the search to their results.

use super::compiling::Built;
use super::measuring::Bench;
use super::stopwatch::Stopwatch;
use super::supply::{Supply, Way};
use super::{BenchError, Measured};
use cltune_runtime::tuning::Outcome;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where configurations go in and results come out, not always in the same order.
pub(crate) trait Lane {
    /// How many configurations may be under way.
    fn capacity(&self) -> usize;

    /// Takes a configuration.
    fn submit(&mut self, codes: Vec<i64>);

    /// Waits for a result; `None` when nothing is under way.
    ///
    /// # Errors
    /// The device is lost.
    fn next(&mut self) -> Result<Option<(Vec<i64>, Measured)>, BenchError>;

    /// Drops what has not begun.
    fn cancel(&mut self);
}

/// What gets a device ready.
pub(super) type MakeBench = Box<dyn FnOnce() -> Result<Bench, BenchError> + Send>;
/// What is told before a configuration is measured.
pub(crate) type Announce = Box<dyn Fn(&[i64]) + Send + Sync>;

/// What the parts of a lane share.
pub(super) struct Shared {
    announce: Announce,
    best_us: Mutex<Option<f64>>,
    supply: Mutex<Supply>,
    pub(super) stopwatch: Arc<Stopwatch>,
}

impl Shared {
    /// `best_us` is the best time that is known already.
    pub(super) fn new(announce: Announce, best_us: Option<f64>, stopwatch: Arc<Stopwatch>) -> Self {
        Self {
            announce,
            best_us: Mutex::new(best_us),
            supply: Mutex::default(),
            stopwatch,
        }
    }

    /// The way that the next configuration should take.
    pub(super) fn way(&self) -> Way {
        lock(&self.supply).next()
    }

    /// Measures what was built ahead, or not.
    pub(super) fn measure(
        &self,
        bench: &mut Bench,
        codes: &[i64],
        built: Built,
    ) -> Result<Measured, BenchError> {
        let stopwatch = &self.stopwatch;
        stopwatch.measure(|| self.measure_built(bench, codes, built))
    }

    fn measure_built(
        &self,
        bench: &mut Bench,
        codes: &[i64],
        built: Built,
    ) -> Result<Measured, BenchError> {
        let (built, binary) = match built {
            // It was never launched with all its work-groups, and never will be.
            Built::Failed(measured) => return Ok(measured),
            Built::Not => (None, None),
            Built::Ready {
                seconds,
                binary_seconds,
                binary,
            } => (Some((seconds, binary_seconds)), binary),
        };
        (self.announce)(codes);
        let best_us = *lock(&self.best_us);
        let mut measured = bench.measure(codes, best_us, binary.as_ref())?;
        if let Measured::Outcome(Outcome::Ok(measurement)) = &mut measured {
            let mut best = lock(&self.best_us);
            *best = Some(best.map_or(measurement.time_us, |best| best.min(measurement.time_us)));
            if let Some((seconds, binary_seconds)) = built {
                let binary_seconds = binary.map(|_| binary_seconds);
                lock(&self.supply).note(seconds, binary_seconds, measurement.build_seconds);
                measurement.build_seconds = seconds;
            }
        }
        bench.watch(codes, &measured)?;
        Ok(measured)
    }

    /// A driver was asked for a binary and had none.
    pub(super) fn no_binary(&self) {
        lock(&self.supply).no_binary();
    }
}

/// What is shared is whole at any time.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
