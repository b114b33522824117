//! The pool of idle workers of a session.

use crate::threads::{Work, lock};
use crate::worker::{Worker, WorkerFailure};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

/// A worker that starts before it is known what for, or why it did not start.
pub(super) type Starting = Work<Result<Worker, WorkerFailure>>;

/// The idle worker pool of a session. The drivers of these workers have started or are about to, and
/// they have contexts: on a GPU that takes longer than measuring many configurations. They end with
/// the last clone of this.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdleWorkers(Arc<Mutex<Pool>>);

#[derive(Debug, Default)]
struct Pool {
    /// Those that measure, and how many configurations they have measured.
    measuring: Vec<(Worker, usize)>,
    /// Those that build.
    building: Vec<Worker>,
    /// One that will measure, and has not been waited for.
    starting_to_measure: Option<Starting>,
    /// Those that will build, and have not been waited for.
    starting_to_build: Vec<Starting>,
}

impl IdleWorkers {
    /// A pool of workers that start.
    pub(super) fn of(to_measure: Starting, to_build: Vec<Starting>) -> Self {
        Self(Arc::new(Mutex::new(Pool {
            measuring: Vec::new(),
            building: Vec::new(),
            starting_to_measure: Some(to_measure),
            starting_to_build: to_build,
        })))
    }

    /// One that measures, and how many configurations it has measured. Waits for one that starts.
    pub(super) fn take_measuring(&self) -> Option<(Result<Worker, WorkerFailure>, usize)> {
        if let Some((worker, measured)) = lock(&self.0).measuring.pop() {
            return Some((Ok(worker), measured));
        }
        let starting = lock(&self.0).starting_to_measure.take();
        starting.map(|starting| (starting.end(), 0))
    }

    /// Takes a worker that measured so many configurations.
    pub(super) fn give_measuring(&self, worker: Worker, measured: usize) {
        lock(&self.0).measuring.push((worker, measured));
    }

    /// One that builds. Waits for one that starts.
    pub(super) fn take_building(&self) -> Option<Result<Worker, WorkerFailure>> {
        if let Some(worker) = lock(&self.0).building.pop() {
            return Some(Ok(worker));
        }
        // A statement of its own: the lock must not be held while waiting.
        let starting = lock(&self.0).starting_to_build.pop();
        starting.and_then(Work::begun)
    }

    pub(super) fn give_building(&self, worker: Worker) {
        lock(&self.0).building.push(worker);
    }

    /// Waits for those that start. Those that failed are replaced when they are needed.
    pub(crate) fn settle(&self) {
        let (to_measure, to_build) = {
            let mut pool = lock(&self.0);
            let to_build = std::mem::take(&mut pool.starting_to_build);
            (pool.starting_to_measure.take(), to_build)
        };
        if let Some(Ok(worker)) = to_measure.map(Work::end) {
            self.give_measuring(worker, 0);
        }
        for worker in to_build.into_iter().filter_map(Work::begun).flatten() {
            self.give_building(worker);
        }
    }

    /// Ends all: others need the devices.
    pub(crate) fn clear(&self) {
        drop(std::mem::take(&mut *lock(&self.0)));
    }
}

impl Drop for Pool {
    /// All at the same time: a GPU driver takes a while to end each.
    fn drop(&mut self) {
        let measuring = self.measuring.drain(..).map(|(worker, _)| worker);
        for worker in measuring.chain(self.building.drain(..)) {
            // A thread that is refused drops it as well.
            drop(Builder::new().spawn(move || drop(worker)));
        }
        let to_build = self.starting_to_build.drain(..);
        for starting in to_build.chain(self.starting_to_measure.take()) {
            // One that nobody waits for ends with this process, whose pipe it reads.
            drop(Builder::new().spawn(move || drop(starting.begun())));
        }
    }
}
