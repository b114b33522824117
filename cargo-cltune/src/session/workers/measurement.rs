//! A worker that measures one job, replaced when it dies.

use super::idle::IdleWorkers;
use super::start::{TimeLimit, WorkerError, ask_new, prepare};
use crate::plan::Job;
use crate::session::evaluation::Evaluation;
use crate::session::steadiness::{Control, Steadiness};
use crate::worker::{Prepare, Request, Response, Worker, WorkerFailure};
use cltune_runtime::tuning::{Binary, Compared, Outcome};
use std::time::{Duration, Instant};

/// After so many bad binaries, configurations are built from source only.
const BAD_BINARIES: usize = 2;

/// A worker that has the inputs and the reference of a job.
pub(crate) struct MeasurementWorker {
    /// `None` after it died, until it is needed again.
    worker: Option<Worker>,
    prepare: Prepare,
    limit: TimeLimit,
    /// How many configurations this worker has measured.
    measured: usize,
    /// How many configurations failed from their binary and worked from source.
    bad_binaries: usize,
    control: Control,
}

impl MeasurementWorker {
    /// Starts a worker, or takes an idle one, and lets it prepare: allocate, fill, compute the
    /// reference. With `metering` it also measures energy, from a counter that advances so often.
    pub(crate) fn new(
        job: &Job,
        seed: u64,
        least_limit: Duration,
        metering: Option<Duration>,
        idle: &IdleWorkers,
    ) -> Result<Self, WorkerError> {
        let prepare = Prepare {
            metering,
            ..prepare(job, seed)
        };
        let (worker, default, measured) = start(&prepare, idle, least_limit)?;
        Ok(Self {
            worker: Some(worker),
            prepare,
            control: Control::new(default),
            limit: TimeLimit::new(least_limit),
            measured,
            bad_binaries: 0,
        })
    }

    /// Loads a configuration that was built and will be measured. Where that ends the worker,
    /// measuring starts another one and reports the failure.
    pub(crate) fn load(&mut self, codes: &[i64], binary: Option<&Binary>) {
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
    ) -> Result<Evaluation, WorkerError> {
        let binary = binary.filter(|_| self.bad_binaries < BAD_BINARIES);
        let (measured, suspect) = self.measure_once(codes, best_us, binary)?;
        if !suspect.is_retried(&measured, binary.is_some()) {
            return Ok(measured);
        }
        // The cause may be the binary, or earlier configurations of this worker.
        self.worker = None;
        let (again, _) = self.measure_once(codes, best_us, None)?;
        if binary.is_some() && again.time_us().is_some() {
            self.bad_binaries += 1;
        }
        Ok(again)
    }

    /// Verifies a configuration on every draw, without timing it. Returns its failure, if it fails.
    ///
    /// # Errors
    /// As [`measure`](Self::measure), and Ctrl-C.
    pub(crate) fn verify(&mut self, codes: &[i64]) -> Result<Option<Evaluation>, WorkerError> {
        let (failed, suspect) = self.verify_once(codes)?;
        let Some(failed) = failed else {
            return Ok(None);
        };
        if !suspect.is_retried(&failed, false) {
            return Ok(Some(failed));
        }
        self.worker = None;
        Ok(self.verify_once(codes)?.0)
    }

    /// Measures the control configuration again, where it is time to.
    pub(crate) fn watch(
        &mut self,
        codes: &[i64],
        measured: &Evaluation,
    ) -> Result<(), WorkerError> {
        if let Some(control) = self.control.due(codes, measured) {
            let begin = Instant::now();
            let (again, _) = self.measure_once(&control, None, None)?;
            self.control.note(&again, begin.elapsed());
        }
        Ok(())
    }

    /// The steadiness of the device.
    pub(crate) fn steadiness(&self) -> Option<Steadiness> {
        self.control.steadiness()
    }

    /// Times configurations in turns, or returns why they fail. When the worker dies, or memory was
    /// touched that none of them may touch, each is timed alone, so that only the configuration at
    /// fault fails.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub(crate) fn compare(
        &mut self,
        configurations: &[Vec<i64>],
    ) -> Result<Vec<Result<Compared, Evaluation>>, WorkerError> {
        match self.compare_once(configurations)?.0 {
            Ok(compared) if configurations.len() == 1 || !compared.iter().any(is_unjudged) => {
                Ok(compared)
            }
            Ok(_) | Err(_) => {
                let alone = configurations.iter().map(|codes| self.compare_alone(codes));
                alone.collect()
            }
        }
    }

    /// Times a configuration alone, again in a new worker where the failure may be the worker's
    /// fault.
    fn compare_alone(
        &mut self,
        codes: &[i64],
    ) -> Result<Result<Compared, Evaluation>, WorkerError> {
        let one = [codes.to_vec()];
        let only = |compares: Compares| compares.and_then(|mut compared| compared.remove(0));
        let (compares, suspect) = self.compare_once(&one)?;
        match only(compares) {
            Err(failed) if suspect.is_retried(&failed, false) => {
                self.worker = None;
                Ok(only(self.compare_once(&one)?.0))
            }
            compared => Ok(compared),
        }
    }

    fn compare_once(
        &mut self,
        configurations: &[Vec<i64>],
    ) -> Result<(Compares, Suspect), WorkerError> {
        let request = Request::Compare {
            configurations: configurations.to_vec(),
        };
        let (answer, suspect) = self.ask(&request)?;
        let compares = match answer {
            Ok(Response::Compared { compared, usable })
                if compared.len() == configurations.len() =>
            {
                if !usable {
                    self.worker = None;
                }
                let compared = compared.into_iter();
                Ok(compared
                    .map(|of| of.map_err(Evaluation::Answered))
                    .collect())
            }
            other => Err(self.lost(other)?),
        };
        Ok((compares, suspect))
    }

    fn verify_once(&mut self, codes: &[i64]) -> Result<(Option<Evaluation>, Suspect), WorkerError> {
        let request = Request::Verify {
            codes: codes.to_vec(),
        };
        let (answer, suspect) = self.ask(&request)?;
        let failed = match answer {
            Ok(Response::Verified { verified, usable }) => {
                if !usable {
                    self.worker = None;
                }
                verified.right.err().map(Evaluation::Answered)
            }
            other => match self.lost(other)? {
                Evaluation::Abandoned => return Err(WorkerError::Interrupted),
                lost => Some(lost),
            },
        };
        Ok((failed, suspect))
    }

    fn measure_once(
        &mut self,
        codes: &[i64],
        best_us: Option<f64>,
        binary: Option<&Binary>,
    ) -> Result<(Evaluation, Suspect), WorkerError> {
        let request = Request::Measure {
            codes: codes.to_vec(),
            best_us,
            binary: binary.cloned(),
        };
        let (answer, suspect) = self.ask(&request)?;
        let measured = match answer {
            Ok(Response::Outcome { outcome, usable }) => {
                let took = self.worker.as_ref().map(Worker::took);
                if !usable {
                    self.worker = None;
                }
                if outcome.time_us().is_some() {
                    self.limit.note(took.unwrap_or_default());
                }
                Evaluation::Answered(outcome)
            }
            other => self.lost(other)?,
        };
        Ok((measured, suspect))
    }

    /// Asks the worker about configurations. Returns what may be at fault for a failure.
    fn ask(
        &mut self,
        request: &Request,
    ) -> Result<(Result<Response, WorkerFailure>, Suspect), WorkerError> {
        let limit = self.limit.now();
        let answer = self.worker()?.ask(request, limit);
        let suspect = if self.measured == 0 {
            Suspect::Configuration
        } else {
            Suspect::Worker
        };
        self.measured += 1;
        Ok((answer, suspect))
    }

    /// The evaluation of a configuration to which there is no valid answer. The worker is given up.
    fn lost(&mut self, answer: Result<Response, WorkerFailure>) -> Result<Evaluation, WorkerError> {
        self.worker = None;
        let failure = match answer {
            Ok(Response::Failed(reason)) => return Err(WorkerError::Refused(reason)),
            Ok(other) => WorkerFailure::Garbage(format!("{other:?}")),
            Err(failure) => failure,
        };
        Ok(Evaluation::of_lost_worker(&failure))
    }

    /// The worker, a new one where the last one died.
    fn worker(&mut self) -> Result<&mut Worker, WorkerError> {
        let worker = if let Some(worker) = self.worker.take() {
            worker
        } else {
            self.measured = 0;
            start(&self.prepare, &IdleWorkers::default(), self.limit.now())?.0
        };
        Ok(self.worker.insert(worker))
    }

    /// Leaves the worker to the next search.
    pub(crate) fn retire(self, idle: &IdleWorkers) {
        if let Some(worker) = self.worker {
            idle.give_measuring(worker, self.measured);
        }
    }
}

/// Whether it is not known if a configuration is right.
fn is_unjudged(compared: &Result<Compared, Evaluation>) -> bool {
    matches!(
        compared,
        Err(Evaluation::Answered(Outcome::Unjudged { .. }))
    )
}

/// Times of configurations, or the failure that ended the worker meanwhile.
type Compares = Result<Vec<Result<Compared, Evaluation>>, Evaluation>;

/// What a failure may be attributed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suspect {
    /// The configuration: it was the first in its worker.
    Configuration,
    /// The worker, or earlier configurations in it.
    Worker,
}

impl Suspect {
    /// Whether a failure is believed only when it happens again in a new worker.
    fn is_retried(self, measured: &Evaluation, from_binary: bool) -> bool {
        match measured {
            // Another process did that, even if the worker is new.
            Evaluation::Killed(_) => true,
            measured => (self == Self::Worker || from_binary) && measured.may_be_worker_fault(),
        }
    }
}

/// A worker that is ready, its default configuration, and how many configurations it has measured:
/// an idle one, or a new one where there is none or it fails.
fn start(
    prepare: &Prepare,
    idle: &IdleWorkers,
    limit: Duration,
) -> Result<(Worker, Vec<i64>, usize), WorkerError> {
    let request = Request::Prepare(Box::new(prepare.clone()));
    if let Some((worker, measured)) = idle.take_measuring() {
        let made_ready = worker
            .map_err(|failure| WorkerError::of(failure, WorkerError::Preparing))
            .and_then(|mut worker| {
                let answer = worker.ask(&request, limit);
                ready(worker, answer)
            });
        match made_ready {
            Ok((worker, default)) => return Ok((worker, default, measured)),
            Err(error @ WorkerError::Interrupted) => return Err(error),
            Err(
                error @ (WorkerError::Refused(_)
                | WorkerError::Preparing(WorkerFailure::TimedOut { .. })),
            ) if measured == 0 => {
                return Err(error);
            }
            // Earlier work of this worker may be the cause.
            Err(_) => {}
        }
    }
    let (worker, answer) = ask_new(&request, limit, &[])?;
    ready(worker, answer).map(|(worker, default)| (worker, default, 0))
}

fn ready(
    worker: Worker,
    answer: Result<Response, WorkerFailure>,
) -> Result<(Worker, Vec<i64>), WorkerError> {
    match answer.map_err(|failure| WorkerError::of(failure, WorkerError::Preparing))? {
        Response::Prepared { default } => Ok((worker, default)),
        Response::Failed(reason) => Err(WorkerError::Refused(reason)),
        other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
    }
}
