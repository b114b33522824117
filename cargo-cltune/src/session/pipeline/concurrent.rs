//! The concurrent pipeline, for GPUs and other accelerators: several processes build ahead of one
//! that measures on each of the devices.
//!
//! Processes and not threads: NVIDIA's driver builds one program at a time in a process (54 builds
//! take 14.3 s one after another, 9.8 s in 8 threads, 5.5 s in 8 processes).

use super::shared::{EvaluationQueue, Shared, StartMeasuring};
use crate::session::evaluation::Evaluation;
use crate::session::workers::{
    BuildResult, CompileWorker, IdleWorkers, MeasurementWorker, WorkerError,
};
use crate::threads::lock;
use crate::worker::WorkerFailure;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// How many configurations wait, built, for each device.
const READY: usize = 2;

/// A configuration and its result; `None` where it was dropped.
type Done = (Vec<i64>, Option<Result<Evaluation, WorkerError>>);
/// A queue that several threads take from.
type Queue<T> = Arc<Mutex<Receiver<T>>>;

/// The concurrent pipeline.
pub(super) struct Concurrent {
    /// `None` once it ends.
    tasks: Option<Sender<Vec<i64>>>,
    done: Receiver<Done>,
    measuring: Vec<JoinHandle<Option<MeasurementWorker>>>,
    capacity: usize,
    under_way: usize,
    cancelled: Arc<AtomicBool>,
    /// The error of a thread that could not be started.
    refused: Option<io::Error>,
}

impl Concurrent {
    /// Starts a measurement worker for each device, which takes a while, while the compile workers
    /// build. `building` configurations are being built or wait for it.
    pub(super) fn new(
        workers: Vec<StartMeasuring>,
        compilers: Vec<CompileWorker>,
        building: usize,
        shared: Shared,
        idle: &IdleWorkers,
    ) -> Self {
        let (tasks, to_build) = channel();
        let (built, to_measure) = channel();
        let (results, done) = channel();
        let (shared, cancelled) = (Arc::new(shared), Arc::new(AtomicBool::new(false)));
        let capacity = building + workers.len() * (1 + READY);
        let to_build: Queue<Vec<i64>> = Arc::new(Mutex::new(to_build));
        let (mut building_threads, mut refused) = (0, None);
        for mut compiler in compilers {
            let (tasks, built) = (Arc::clone(&to_build), built.clone());
            let (shared, cancelled) = (Arc::clone(&shared), Arc::clone(&cancelled));
            let idle = idle.clone();
            let thread = Builder::new().spawn(move || {
                build(&mut compiler, &tasks, &built, &shared, &cancelled);
                // The measuring threads end with the last of these.
                drop(built);
                compiler.retire(&idle);
            });
            match thread {
                Ok(_) => building_threads += 1,
                Err(error) => refused = Some(error),
            }
        }
        // One compile worker is enough.
        if building_threads > 0 {
            refused = None;
        }
        let to_measure: Queue<(Vec<i64>, Option<BuildResult>)> = Arc::new(Mutex::new(to_measure));
        let measuring = workers.into_iter().map(|worker| {
            let (built, results) = (Arc::clone(&to_measure), results.clone());
            let (shared, cancelled) = (Arc::clone(&shared), Arc::clone(&cancelled));
            Builder::new().spawn(move || measure(worker, &built, &results, &shared, &cancelled))
        });
        let mut threads = Vec::new();
        for thread in measuring {
            match thread {
                Ok(thread) => threads.push(thread),
                Err(error) => refused = Some(error),
            }
        }
        Self {
            tasks: Some(tasks),
            done,
            measuring: threads,
            refused,
            capacity,
            under_way: 0,
            cancelled,
        }
    }

    /// Ends all but the first device's measurement worker; `None` where its thread panicked.
    /// Compile workers are left to the next search: while a GPU driver ends a process, nothing
    /// should be timed.
    pub(super) fn finish(mut self) -> Option<MeasurementWorker> {
        self.cancel();
        // The queues end one after another.
        self.tasks = None;
        let workers = self.measuring.into_iter().map(JoinHandle::join);
        let workers: Vec<_> = workers.collect();
        workers.into_iter().find_map(|worker| worker.ok().flatten())
    }
}

/// Builds until the queue ends.
fn build(
    compiler: &mut CompileWorker,
    tasks: &Queue<Vec<i64>>,
    built: &Sender<(Vec<i64>, Option<BuildResult>)>,
    shared: &Shared,
    cancelled: &AtomicBool,
) {
    loop {
        // A statement of its own: the lock must not be held while building.
        let task = lock(tasks).recv();
        let Ok(codes) = task else { return };
        let of = if cancelled.load(Ordering::Relaxed) {
            None
        } else {
            Some(shared.build(compiler, &codes, shared.next_transfer()))
        };
        if built.send((codes, of)).is_err() {
            return;
        }
    }
}

/// Measures until the queue ends. A device that cannot be made ready says so instead of its first
/// result.
fn measure(
    worker: StartMeasuring,
    built: &Queue<(Vec<i64>, Option<BuildResult>)>,
    results: &Sender<Done>,
    shared: &Shared,
    cancelled: &AtomicBool,
) -> Option<MeasurementWorker> {
    let mut worker = match worker() {
        Ok(worker) => worker,
        Err(error) => {
            let task = lock(built).recv();
            if let Ok((codes, _)) = task {
                // The receiver may have ended already.
                let _ = results.send((codes, Some(Err(error))));
            }
            return None;
        }
    };
    loop {
        let task = lock(built).recv();
        let Ok((codes, built)) = task else {
            return Some(worker);
        };
        let built = built.filter(|_| !cancelled.load(Ordering::Relaxed));
        let measured = built.map(|built| shared.measure(&mut worker, &codes, built));
        if results.send((codes, measured)).is_err() {
            return Some(worker);
        }
    }
}

impl EvaluationQueue for Concurrent {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn submit(&mut self, codes: Vec<i64>) {
        let sent = self.tasks.as_ref().map(|tasks| tasks.send(codes));
        if matches!(sent, Some(Ok(()))) {
            self.under_way += 1;
        }
    }

    fn next(&mut self) -> Result<Option<(Vec<i64>, Evaluation)>, WorkerError> {
        if let Some(error) = self.refused.take() {
            return Err(WorkerFailure::Start(error).into());
        }
        while self.under_way > 0 {
            let Ok((codes, measured)) = self.done.recv() else {
                return Ok(None);
            };
            self.under_way -= 1;
            if let Some(measured) = measured {
                return measured.map(|measured| Some((codes, measured)));
            }
        }
        Ok(None)
    }

    fn cancel(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
