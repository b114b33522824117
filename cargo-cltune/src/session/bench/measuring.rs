//! A worker that is ready to measure one job, replaced when it dies.

use super::blame::may_be_the_workers;
use super::spare::Spare;
use super::steadiness::{Control, Steadiness};
use super::{BenchError, Measured, PATIENCE, prepare};
use crate::session::plan::Job;
use crate::worker::{Prepare, Request, Response, Worker, WorkerFailure};
use cltune_runtime::tuning::{Binary, Compared, Outcome};
use std::time::{Duration, Instant};

/// After so many bad binaries, source is measured only.
const BAD_BINARIES: usize = 2;

/// A job ready to be measured.
pub(crate) struct Bench {
    /// `None` after it died, until it is needed again.
    worker: Option<Worker>,
    prepare: Prepare,
    limit: Limit,
    /// How many configurations this worker has measured.
    measured: usize,
    /// How many configurations failed from their binary and worked from source.
    bad_binaries: usize,
    control: Control,
}

impl Bench {
    /// Starts a worker, or takes the spare one, and lets it prepare: allocate, fill, compute the
    /// reference.
    pub(crate) fn new(
        job: &Job,
        seed: u64,
        least_limit: Duration,
        spare: &Spare,
    ) -> Result<Self, BenchError> {
        let prepare = prepare(job, seed);
        let (worker, default, measured) = start(&prepare, spare)?;
        Ok(Self {
            worker: Some(worker),
            prepare,
            control: Control::new(default),
            limit: Limit::new(least_limit),
            measured,
            bad_binaries: 0,
        })
    }

    /// Loads a configuration that was built and will be measured. One that takes the worker with it is left to
    /// measuring, which starts another and says what is wrong.
    pub(super) fn load(&mut self, codes: &[i64], binary: Option<&Binary>) {
        let binary = binary.filter(|_| self.bad_binaries < BAD_BINARIES);
        let request = Request::Load {
            codes: codes.to_vec(),
            binary: binary.cloned(),
        };
        let limit = self.limit.now();
        if let Some(worker) = &mut self.worker
            && !matches!(worker.ask(&request, limit), Ok(Response::Loaded))
        {
            self.worker = None;
        }
    }

    /// Measures a configuration, from its binary where there is one.
    ///
    /// # Errors
    /// No worker can be started any more: the device is lost.
    pub(crate) fn measure(
        &mut self,
        codes: &[i64],
        best_us: Option<f64>,
        binary: Option<&Binary>,
    ) -> Result<Measured, BenchError> {
        let binary = binary.filter(|_| self.bad_binaries < BAD_BINARIES);
        let measured = self.measure_once(codes, best_us, binary)?;
        let is_fresh = self.measured <= 1 && binary.is_none();
        if is_fresh || !may_be_the_workers(&measured) {
            return Ok(measured);
        }
        // Perhaps it is what others left behind, or the binary.
        self.worker = None;
        let again = self.measure_once(codes, best_us, None)?;
        if binary.is_some() && again.time_us().is_some() {
            self.bad_binaries += 1;
        }
        Ok(again)
    }

    /// Measures the control configuration again, where it is time to.
    pub(crate) fn watch(&mut self, codes: &[i64], measured: &Measured) -> Result<(), BenchError> {
        if let Some(control) = self.control.due(codes, measured) {
            let begin = Instant::now();
            let again = self.measure_once(&control, None, None)?;
            self.control.note(&again, begin.elapsed());
        }
        Ok(())
    }

    /// How steady the device was.
    pub(crate) fn steadiness(&self) -> Option<Steadiness> {
        self.control.steadiness()
    }

    /// Times configurations in turns; for those that fail, why.
    pub(crate) fn compare(
        &mut self,
        configurations: &[Vec<i64>],
    ) -> Result<Vec<Result<Compared, Outcome>>, BenchError> {
        let request = Request::Compare {
            configurations: configurations.to_vec(),
        };
        let answer = self.worker()?.ask(&request, PATIENCE);
        match answer {
            Ok(Response::Compared(times)) => Ok(times),
            Ok(Response::Failed(reason)) => Err(BenchError::Refused(reason)),
            Ok(other) => Err(self
                .lose(WorkerFailure::Garbage(format!("{other:?}")))
                .into()),
            Err(failure) => Err(self.lose(failure).into()),
        }
    }

    fn measure_once(
        &mut self,
        codes: &[i64],
        best_us: Option<f64>,
        binary: Option<&Binary>,
    ) -> Result<Measured, BenchError> {
        let request = Request::Measure {
            codes: codes.to_vec(),
            best_us,
            binary: binary.cloned(),
        };
        let limit = self.limit.now();
        let worker = self.worker()?;
        let answer = worker.ask(&request, limit);
        let took = worker.took();
        self.measured += 1;
        let failure = match answer {
            Ok(Response::Outcome { outcome, usable }) => {
                if !usable {
                    self.worker = None;
                }
                if outcome.time_us().is_some() {
                    self.limit.note(took);
                }
                return Ok(Measured::Outcome(outcome));
            }
            Ok(Response::Failed(reason)) => return Err(BenchError::Refused(reason)),
            Ok(other) => WorkerFailure::Garbage(format!("{other:?}")),
            Err(failure) => failure,
        };
        Ok(Measured::lost(&self.lose(failure)))
    }

    /// The worker, a new one where the last one died.
    fn worker(&mut self) -> Result<&mut Worker, BenchError> {
        let worker = if let Some(worker) = self.worker.take() {
            worker
        } else {
            self.measured = 0;
            start(&self.prepare, &Spare::default())?.0
        };
        Ok(self.worker.insert(worker))
    }

    /// Leaves the worker to the next search.
    pub(crate) fn retire(self, spare: &Spare) {
        if let Some(worker) = self.worker {
            spare.give_measuring(worker, self.measured);
        }
    }

    /// Ends the worker: it is of no further use.
    fn lose(&mut self, failure: WorkerFailure) -> WorkerFailure {
        self.worker = None;
        failure
    }
}

/// How long one configuration may take: some times what the longest one took that succeeded.
pub(super) struct Limit {
    least: Duration,
    longest: Duration,
}

impl Limit {
    const FACTOR: u32 = 10;

    pub(super) fn new(least: Duration) -> Self {
        Self {
            least,
            longest: Duration::ZERO,
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.least.max(self.longest * Self::FACTOR)
    }

    pub(super) fn note(&mut self, took: Duration) {
        // What took longer may have been a session that was stopped meanwhile.
        self.longest = self.longest.max(took.min(self.least));
    }
}

/// A worker that is ready, its default configuration, and how many configurations it has measured: a
/// spare one, or a new one where there is none, or it fails. A new one that ends before it is ready may
/// have been ended by somebody else, for want of memory: then another is tried.
fn start(prepare: &Prepare, spare: &Spare) -> Result<(Worker, Vec<i64>, usize), BenchError> {
    if let Some((worker, measured)) = spare.take_measuring() {
        match make_ready(worker, prepare) {
            Ok((worker, default)) => return Ok((worker, default, measured)),
            Err(BenchError::Refused(reason)) if measured == 0 => {
                return Err(BenchError::Refused(reason));
            }
            // It may be what it did before.
            Err(_) => {}
        }
    }
    let ready = match make_ready(Worker::start()?, prepare) {
        Err(BenchError::Preparing(WorkerFailure::Ended(_))) => {
            make_ready(Worker::start()?, prepare)
        }
        ready => ready,
    };
    ready.map(|(worker, default)| (worker, default, 0))
}

fn make_ready(mut worker: Worker, prepare: &Prepare) -> Result<(Worker, Vec<i64>), BenchError> {
    let answer = worker.ask(&Request::Prepare(Box::new(prepare.clone())), PATIENCE);
    match answer.map_err(BenchError::Preparing)? {
        Response::Prepared { default } => Ok((worker, default)),
        Response::Failed(reason) => Err(BenchError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}
