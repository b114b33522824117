//! The batched pipeline, for CPU devices: building and measuring take turns, since compilers would
//! disturb what is measured.
//!
//! Several compile workers build a batch at once, and the measurement worker loads it. Then the
//! batch is measured one by one while nothing else runs. Only the first batch, a small one, is
//! built while the measurement worker gets ready: nothing is timed then.

use super::shared::{EvaluationQueue, Shared, StartMeasuring};
use super::transfer::Transfer;
use crate::session::evaluation::Evaluation;
use crate::session::workers::{
    BuildResult, CompileWorker, IdleWorkers, MeasurementWorker, WorkerError,
};
use crate::threads::{Work, begin, lock};
use std::collections::VecDeque;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// The batched pipeline.
pub(super) struct Batched {
    /// `None` while it gets ready.
    worker: Option<MeasurementWorker>,
    starting: Option<Work<Result<MeasurementWorker, WorkerError>>>,
    compilers: Vec<CompileWorker>,
    /// How many configurations are built at a time.
    batch: usize,
    /// The same for the next batch.
    next_batch: usize,
    shared: Shared,
    waiting: VecDeque<Vec<i64>>,
    built: VecDeque<(Vec<i64>, BuildResult)>,
}

/// How many configurations for each compile worker are built at first: as many as take about as
/// long as getting ready to measure does, and show whether building ahead pays off.
const FIRST_BATCH: usize = 2;

impl Batched {
    /// Without compile workers, the measurement worker also builds; else `batch` configurations are
    /// built at a time.
    pub(super) fn new(
        worker: StartMeasuring,
        compilers: Vec<CompileWorker>,
        batch: usize,
        shared: Shared,
    ) -> Self {
        Self {
            worker: None,
            starting: Some(begin(worker)),
            batch,
            next_batch: compilers.len() * FIRST_BATCH,
            compilers,
            shared,
            waiting: VecDeque::new(),
            built: VecDeque::new(),
        }
    }

    /// The measurement worker, once it is ready; `None` where it could not be made ready, which was
    /// reported then.
    fn ready(&mut self) -> Result<Option<&mut MeasurementWorker>, WorkerError> {
        if let Some(starting) = self.starting.take() {
            self.worker = Some(starting.end()?);
        }
        Ok(self.worker.as_mut())
    }

    /// Leaves all but the measurement worker to the next search.
    pub(super) fn finish(mut self, idle: &IdleWorkers) -> Option<MeasurementWorker> {
        // Why it is not ready was reported with the first result.
        let _ = self.ready();
        for compiler in self.compilers {
            compiler.retire(idle);
        }
        self.worker
    }

    /// Builds what waits, up to the size of a batch.
    fn build(&mut self) {
        let shared = &self.shared;
        let count = match self.next_batch {
            0 => self.waiting.len(),
            most => most.min(self.waiting.len()),
        };
        self.next_batch = self.batch;
        let tasks: VecDeque<_> = self
            .waiting
            .drain(..count)
            .map(|codes| (codes, shared.next_transfer()))
            .collect();
        if self.compilers.is_empty()
            || tasks
                .iter()
                .all(|(_, transfer)| *transfer == Transfer::NotAhead)
        {
            let unbuilt = tasks
                .into_iter()
                .map(|(codes, _)| (codes, BuildResult::NotBuilt));
            self.built.extend(unbuilt);
            return;
        }
        let tasks: Mutex<VecDeque<_>> = Mutex::new(tasks.into_iter().enumerate().collect());
        let (sender, receiver) = channel();
        let worker = &mut self.worker;
        let mut built = std::thread::scope(|scope| {
            for compiler in &mut self.compilers {
                let (tasks, sender) = (&tasks, sender.clone());
                // The work of a thread that is refused is left to the others.
                let thread = Builder::new().spawn_scoped(scope, move || {
                    loop {
                        let task = lock(tasks).pop_front();
                        let Some((number, (codes, transfer))) = task else {
                            return;
                        };
                        let of = shared.build(compiler, &codes, transfer);
                        if sender.send((number, codes, of)).is_err() {
                            return;
                        }
                    }
                });
                drop(thread);
            }
            // The channel closes with the last compile worker.
            drop(sender);
            let load = |built: (usize, Vec<i64>, BuildResult)| {
                if let (Some(worker), BuildResult::Ready { binary, .. }) =
                    (worker.as_mut(), &built.2)
                {
                    worker.load(&built.1, binary.as_ref());
                }
                built
            };
            receiver.into_iter().map(load).collect::<Vec<_>>()
        });
        // Without any thread, nothing was built.
        let unbuilt = tasks.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unbuilt = unbuilt.into_iter();
        built.extend(unbuilt.map(|(number, (codes, _))| (number, codes, BuildResult::NotBuilt)));
        built.sort_by_key(|(number, ..)| *number);
        let built = built.into_iter().map(|(_, codes, built)| (codes, built));
        self.built.extend(built);
    }
}

impl EvaluationQueue for Batched {
    fn capacity(&self) -> usize {
        self.batch.max(1)
    }

    fn submit(&mut self, codes: Vec<i64>) {
        self.waiting.push_back(codes);
    }

    fn next(&mut self) -> Result<Option<(Vec<i64>, Evaluation)>, WorkerError> {
        if self.built.is_empty() {
            self.build();
        }
        self.ready()?;
        let (Some((codes, built)), Some(worker)) = (self.built.pop_front(), &mut self.worker)
        else {
            return Ok(None);
        };
        let measured = self.shared.measure(worker, &codes, built)?;
        Ok(Some((codes, measured)))
    }

    fn cancel(&mut self) {
        self.waiting.clear();
        self.built.clear();
    }
}
