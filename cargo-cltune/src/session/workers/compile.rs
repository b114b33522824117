//! A worker that builds configurations for another one that measures them, replaced when it dies.

use super::idle::IdleWorkers;
use super::start::{TimeLimit, WorkerError, ask_new};
use crate::session::evaluation::Evaluation;
use crate::session::stopwatch::Stopwatch;
use crate::threads::{Work, begin, lock};
use crate::worker::{Prepare, Request, Response, Worker, WorkerFailure};
use cltune_runtime::tuning::{Binary, Compiled};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// What came of building a configuration ahead.
pub(crate) enum BuildResult {
    /// It was not built: the measurement worker builds it.
    NotBuilt,
    /// It is ready to be measured.
    Ready {
        seconds: f64,
        binary_seconds: f64,
        binary: Option<Binary>,
    },
    /// It will never be measured.
    Failed(Evaluation),
}

/// A worker that builds.
pub(crate) struct CompileWorker {
    /// `None` after it died, until it is needed again, and while it starts for the first time.
    worker: Option<Worker>,
    starting: Option<Work<Result<Worker, WorkerError>>>,
    prepare: Prepare,
    limit: TimeLimit,
}

/// Environment variables of a process that builds, where the user has not set them.
pub(super) const ENVIRONMENT: [(&str, &str); 4] = [
    // NVIDIA's driver makes a context's channels to the GPU one after another, whichever process
    // they are for: with one, and not eight as without this variable, many processes that build are
    // ready sooner. On a GPU they launch nothing.
    ("CUDA_DEVICE_MAX_CONNECTIONS", "1"),
    // Compilers take and give back a lot of memory for each program: glibc keeps it for the next
    // one, which saves 6 % of the processor time that PoCL builds for. The last one is as large as
    // glibc allows.
    ("MALLOC_TOP_PAD_", "67108864"),
    ("MALLOC_TRIM_THRESHOLD_", "2000000000"),
    ("MALLOC_MMAP_THRESHOLD_", "33554432"),
];

impl CompileWorker {
    /// Starts it in the background when `gate` lets it in, or makes an idle one ready.
    pub(crate) fn new(
        prepare: Prepare,
        least_limit: Duration,
        idle: &IdleWorkers,
        gate: Gate,
    ) -> Self {
        let (first, idle) = (prepare.clone(), idle.clone());
        Self {
            worker: None,
            starting: Some(begin(move || match idle.take_building() {
                // One that fails at this may be too old; a new one says whether it is the device.
                Some(Ok(mut worker)) => {
                    let answer = worker.ask(&request(&first), least_limit);
                    ready(worker, answer).or_else(|_| start(&first, least_limit))
                }
                // A new one would be late as well.
                Some(Err(
                    failure @ (WorkerFailure::TimedOut { .. } | WorkerFailure::Interrupted),
                )) => Err(failure.into()),
                Some(Err(_)) | None => gate.pass(|| start(&first, least_limit)),
            })),
            prepare,
            limit: TimeLimit::new(least_limit),
        }
    }

    /// Builds a configuration, with its binary or without; where no worker can be started, that is
    /// left to the measurement worker.
    pub(crate) fn build(
        &mut self,
        codes: &[i64],
        binary: bool,
        stopwatch: &Stopwatch,
    ) -> BuildResult {
        let built = self.try_compile(codes, binary, stopwatch);
        built.unwrap_or(BuildResult::NotBuilt)
    }

    fn try_compile(
        &mut self,
        codes: &[i64],
        binary: bool,
        stopwatch: &Stopwatch,
    ) -> Result<BuildResult, WorkerError> {
        let mut worker = self.worker()?;
        let request = Request::Compile {
            codes: codes.to_vec(),
            binary,
        };
        let limit = self.limit.now();
        // Without the start of the worker, which is none of building.
        let failure = match stopwatch.build(|| worker.ask(&request, limit)) {
            Ok(Response::Compiled(compiled)) => {
                self.limit.note(worker.took());
                self.worker = Some(worker);
                return Ok(match compiled {
                    Compiled::Ready {
                        seconds,
                        binary_seconds,
                        binary,
                    } => BuildResult::Ready {
                        seconds,
                        binary_seconds,
                        binary,
                    },
                    Compiled::Failed(outcome) => failed(Evaluation::Answered(outcome)),
                });
            }
            Ok(Response::Failed(reason)) => return Err(WorkerError::Refused(reason)),
            Ok(other) => WorkerFailure::Garbage(format!("{other:?}")),
            Err(failure) => failure,
        };
        Ok(failed(Evaluation::of_lost_worker(&failure)))
    }

    /// Leaves the worker to the next search.
    pub(crate) fn retire(mut self, idle: &IdleWorkers) {
        let started = self.starting.take().and_then(Work::begun);
        let worker = self.worker.or_else(|| started?.ok());
        if let Some(worker) = worker {
            idle.give_building(worker);
        }
    }

    /// The worker, a new one where the last one died.
    fn worker(&mut self) -> Result<Worker, WorkerError> {
        if let Some(worker) = self.worker.take() {
            return Ok(worker);
        }
        let started = self.starting.take().and_then(Work::begun);
        started.unwrap_or_else(|| start(&self.prepare, self.limit.now()))
    }
}

/// A failure that may be this worker's fault is left to the measurement worker, which tries again
/// in a new process before it attributes the failure to the configuration.
fn failed(measured: Evaluation) -> BuildResult {
    // After Ctrl-C nothing is measured that was not built.
    if measured.may_be_worker_fault() || matches!(measured, Evaluation::Abandoned) {
        BuildResult::NotBuilt
    } else {
        BuildResult::Failed(measured)
    }
}

fn start(prepare: &Prepare, limit: Duration) -> Result<Worker, WorkerError> {
    let (worker, answer) = ask_new(&request(prepare), limit, &ENVIRONMENT)?;
    ready(worker, answer)
}

fn request(prepare: &Prepare) -> Request {
    Request::PrepareCompiler(Box::new(prepare.clone()))
}

fn ready(worker: Worker, answer: Result<Response, WorkerFailure>) -> Result<Worker, WorkerError> {
    match answer? {
        Response::PreparedCompiler => Ok(worker),
        Response::Failed(reason) => Err(WorkerError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}

/// Lets only a few threads through at a time. Clones are the same gate.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Arc<(Mutex<usize>, Condvar)>);

impl Gate {
    /// A gate for so many at a time, and at least one.
    pub(crate) fn new(width: usize) -> Self {
        Self(Arc::new((Mutex::new(width.max(1)), Condvar::new())))
    }

    /// Waits for its turn, acts, and lets the next one in, even when `act` panics.
    pub(super) fn pass<T>(&self, act: impl FnOnce() -> T) -> T {
        let (free, opened) = &*self.0;
        let waited = opened.wait_while(lock(free), |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        let _leave = Leave(self);
        act()
    }
}

/// Lets the next one in when it is dropped.
struct Leave<'a>(&'a Gate);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let (free, opened) = &*self.0.0;
        *lock(free) += 1;
        opened.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn as_many_are_inside_as_fit_and_no_more() {
        let (gate, inside, most) = (Gate::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        // Two must be inside together to get on.
        let together = Barrier::new(2);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    gate.pass(|| {
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        together.wait();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    });
                });
            }
        });
        assert_eq!(most.into_inner(), 2);
    }

    #[test]
    fn who_panics_inside_lets_the_next_one_in() {
        let gate = Gate::new(1);
        let other = gate.clone();
        let panicked = std::thread::spawn(move || other.pass(|| panic!("inside")));
        assert!(panicked.join().is_err());
        assert_eq!(gate.pass(|| 1), 1);
    }
}
