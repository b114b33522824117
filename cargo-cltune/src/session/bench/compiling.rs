//! A worker that builds configurations for another that measures them, replaced when it dies.

use super::blame::may_be_the_workers;
use super::gate::Gate;
use super::lane::Shared;
use super::measuring::Limit;
use super::spare::Spare;
use super::stopwatch::Stopwatch;
use super::supply::Way;
use super::{BenchError, Measured, ask_new};
use crate::threads::{Work, begin};
use crate::worker::{Prepare, Request, Response, Worker, WorkerFailure};
use cltune_runtime::tuning::{Binary, Compiled};
use std::time::Duration;

/// What became of building a configuration ahead.
pub(super) enum Built {
    /// It was not: the one who measures will.
    Not,
    /// It is ready to be measured.
    Ready {
        seconds: f64,
        binary_seconds: f64,
        binary: Option<Binary>,
    },
    /// It will never be measured.
    Failed(Measured),
}

/// A worker that builds.
pub(super) struct CompileWorker {
    /// `None` after it died, until it is needed again, and while it starts for the first time.
    worker: Option<Worker>,
    starting: Option<Work<Result<Worker, BenchError>>>,
    prepare: Prepare,
    limit: Limit,
}

/// What a process that builds is started with, where the user has not said otherwise.
const ENVIRONMENT: [(&str, &str); 4] = [
    // NVIDIA's driver makes a context's channels to the GPU one after another, whichever process they are
    // for: with one, and not eight as without this variable, many processes that build are ready sooner.
    // On a GPU they launch nothing.
    ("CUDA_DEVICE_MAX_CONNECTIONS", "1"),
    // Compilers take and give back a lot of memory for each program: glibc keeps it for the next one, which
    // saves 6 % of the processor time that PoCL builds for. The last one is as large as glibc allows.
    ("MALLOC_TOP_PAD_", "67108864"),
    ("MALLOC_TRIM_THRESHOLD_", "2000000000"),
    ("MALLOC_MMAP_THRESHOLD_", "33554432"),
];

impl CompileWorker {
    /// Starts it in the background when `gate` lets it in, or makes a spare one ready.
    pub(super) fn new(prepare: Prepare, least_limit: Duration, spare: &Spare, gate: Gate) -> Self {
        let (first, spare) = (prepare.clone(), spare.clone());
        Self {
            worker: None,
            starting: Some(begin(move || match spare.take_building() {
                // One that fails at this may be too old; a new one says whether it is the device.
                Some(mut worker) => {
                    let answer = worker.ask(&request(&first), least_limit);
                    ready(worker, answer).or_else(|_| start(&first, least_limit))
                }
                None => gate.pass(|| start(&first, least_limit)),
            })),
            prepare,
            limit: Limit::new(least_limit),
        }
    }

    /// Builds, or leaves it to the one who measures, as the supply says.
    pub(super) fn build(&mut self, codes: &[i64], way: Way, shared: &Shared) -> Built {
        if way == Way::Direct {
            return Built::Not;
        }
        let built = self.compile(codes, way == Way::Binary, &shared.stopwatch);
        if way == Way::Binary && matches!(built, Built::Ready { binary: None, .. }) {
            shared.no_binary();
        }
        built
    }

    /// Builds a configuration; where no worker can be started, it is left to the one who measures.
    fn compile(&mut self, codes: &[i64], binary: bool, stopwatch: &Stopwatch) -> Built {
        match self.try_compile(codes, binary, stopwatch) {
            Ok(built) => built,
            Err(_) => Built::Not,
        }
    }

    fn try_compile(
        &mut self,
        codes: &[i64],
        binary: bool,
        stopwatch: &Stopwatch,
    ) -> Result<Built, BenchError> {
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
                    } => Built::Ready {
                        seconds,
                        binary_seconds,
                        binary,
                    },
                    Compiled::Failed(outcome) => failed(Measured::Outcome(outcome)),
                });
            }
            Ok(Response::Failed(reason)) => return Err(BenchError::Refused(reason)),
            Ok(other) => WorkerFailure::Garbage(format!("{other:?}")),
            Err(failure) => failure,
        };
        Ok(failed(Measured::lost(&failure)))
    }
}

impl CompileWorker {
    /// Leaves the worker to the next search.
    pub(super) fn retire(mut self, spare: &Spare) {
        let started = self.starting.take().and_then(Work::begun);
        let worker = self.worker.or_else(|| started?.ok());
        if let Some(worker) = worker {
            spare.give_building(worker);
        }
    }

    /// The worker, a new one where the last one died.
    fn worker(&mut self) -> Result<Worker, BenchError> {
        if let Some(worker) = self.worker.take() {
            return Ok(worker);
        }
        let started = self.starting.take().and_then(Work::begun);
        started.unwrap_or_else(|| start(&self.prepare, self.limit.now()))
    }
}

/// A failure that may be this worker's is left to the one who measures: it tries, and tries again in
/// a new worker, before the configuration is blamed.
fn failed(measured: Measured) -> Built {
    // After Ctrl-C nothing is measured that was not built.
    if may_be_the_workers(&measured) || matches!(measured, Measured::Abandoned) {
        Built::Not
    } else {
        Built::Failed(measured)
    }
}

fn start(prepare: &Prepare, limit: Duration) -> Result<Worker, BenchError> {
    let (worker, answer) = ask_new(&request(prepare), limit, &ENVIRONMENT)?;
    ready(worker, answer)
}

fn request(prepare: &Prepare) -> Request {
    Request::PrepareCompiler(Box::new(prepare.clone()))
}

fn ready(worker: Worker, answer: Result<Response, WorkerFailure>) -> Result<Worker, BenchError> {
    match answer? {
        Response::PreparedCompiler => Ok(worker),
        Response::Failed(reason) => Err(BenchError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}
