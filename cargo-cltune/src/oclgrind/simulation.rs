//! Configurations run under Oclgrind on one problem, in a worker of their own.

use super::findings::{Finding, Log};
use super::simulator::Oclgrind;
use crate::plan::Job;
use crate::worker::{Prepare, Unverified, Verifier, Worker, WorkerFailure};
use cltune_core::select::default_codes;
use cltune_formats::record;
use cltune_runtime::tuning::{Outcome, WrongResult};
use std::time::{Duration, Instant};

/// The OpenCL error of a program that has no such kernel: Oclgrind lost it to something that it
/// does not know while it read the program.
const NO_KERNEL: &str = "CL_INVALID_KERNEL_NAME";

/// The OpenCL error of a program that does not build.
const NOT_BUILT: &str = "CL_BUILD_PROGRAM_FAILURE";

/// Configurations to be run on one problem.
pub(crate) struct Simulation<'a> {
    /// On the simulator's device, and on the problem to run.
    pub(crate) job: &'a Job,
    /// In turn.
    pub(crate) configurations: &'a [&'a [i64]],
    pub(crate) draws: usize,
    pub(crate) seed: u64,
    pub(crate) limits: Limits,
}

/// The time limits of a simulation.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Computing the reference.
    pub(crate) preparing: Duration,
    /// Each configuration.
    pub(crate) configuration: Duration,
    /// All of it.
    pub(crate) end: Option<Instant>,
}

impl Limits {
    fn left(&self, limit: Duration) -> Duration {
        self.end.map_or(limit, |end| {
            limit.min(end.saturating_duration_since(Instant::now()))
        })
    }
}

/// The results of a simulation.
#[derive(Debug)]
pub(crate) struct Simulated {
    /// Whether the reference was computed.
    pub(crate) is_prepared: bool,
    /// Findings in the reference.
    pub(crate) reference: Vec<Finding>,
    /// The results of each configuration that was run.
    pub(crate) ran: Vec<Ran>,
    /// Why the next one was not run to its end.
    pub(crate) ended: Option<Ended>,
    /// Findings in that one before.
    pub(crate) unfinished: Vec<Finding>,
}

/// A configuration that was run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) findings: Vec<Finding>,
    /// On how many draws it was right, or what is wrong with a result.
    pub(crate) result: Result<usize, WrongResult>,
}

/// Why something was not run. None of it is the kernel's doing: what a kernel accesses where it
/// must not is a finding, and does not crash the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The simulator crashed.
    Crashed(String),
    /// The simulator does not know what the kernel uses.
    Unknown(String),
    /// The program does not build there.
    Build(String),
    /// The reference cannot be computed for this problem.
    Reference(String),
    /// It took too long.
    Late(String),
    /// Ctrl-C was pressed.
    Interrupted,
}

impl Ended {
    fn of_failure(failure: &WorkerFailure) -> Self {
        match failure {
            WorkerFailure::TimedOut { .. } => Self::Late(failure.to_string()),
            WorkerFailure::Interrupted => Self::Interrupted,
            _ => Self::Crashed(failure.to_string()),
        }
    }

    /// Why the simulator gave a kernel up, in its log.
    fn of_log(log: &Log) -> Option<Self> {
        log.fatal.clone().map(Self::Unknown)
    }

    /// Why no configuration can be run after the reference was computed, or was not.
    fn of_preparing(prepared: &Result<Verifier, Unverified>, log: &Log) -> Option<Self> {
        match prepared {
            Err(Unverified::Worker(failure)) => Some(Self::of_failure(failure)),
            Err(Unverified::Refused(reason)) if reason.contains(NO_KERNEL) => {
                let lost = "it cannot read the kernel, which uses what Oclgrind does not have";
                Some(Self::Unknown(lost.into()))
            }
            Err(Unverified::Refused(reason)) if reason.contains(NOT_BUILT) => {
                Some(Self::Build(reason.clone()))
            }
            Err(Unverified::Refused(reason)) => {
                let own = Self::of_log(log);
                Some(own.unwrap_or_else(|| Self::Reference(reason.clone())))
            }
            Ok(_) if log.is_full => Some(Self::Unknown(
                "it says no more after so many findings in the reference".into(),
            )),
            Ok(_) => Self::of_log(log),
        }
    }
}

/// What the worker says of a configuration, or why it was not run.
fn result_of(
    verified: Result<Result<usize, Outcome>, Unverified>,
) -> Result<Result<usize, WrongResult>, Ended> {
    match verified {
        Ok(Ok(draws)) => Ok(Ok(draws)),
        Ok(Err(Outcome::WrongResult(wrong))) => Ok(Err(wrong)),
        Ok(Err(Outcome::BuildFailed { log })) => Err(Ended::Build(log)),
        Ok(Err(Outcome::LaunchFailed { error })) => Err(Ended::Unknown(error)),
        // A worker never answers so.
        Ok(Err(outcome)) => Err(Ended::Unknown(format!(
            "the worker answered nonsense: {outcome:?}"
        ))),
        Err(Unverified::Refused(reason)) => Err(Ended::Unknown(reason)),
        Err(Unverified::Worker(failure)) => Err(Ended::of_failure(&failure)),
    }
}

impl Simulation<'_> {
    /// Runs them. While the simulator itself fails, it is made simpler and they are run again;
    /// `oclgrind` is then the one that did not, or the last.
    pub(crate) fn run(&self, oclgrind: &mut Oclgrind) -> Simulated {
        loop {
            let simulated = self.run_once(oclgrind);
            let simpler = match &simulated.ended {
                Some(Ended::Crashed(_)) => oclgrind.simpler(true),
                Some(Ended::Unknown(_)) => oclgrind.simpler(false),
                _ => None,
            };
            match simpler {
                Some(simpler) => *oclgrind = simpler,
                None => return simulated,
            }
        }
    }

    fn run_once(&self, oclgrind: &Oclgrind) -> Simulated {
        let mut simulated = Simulated {
            is_prepared: false,
            reference: Vec::new(),
            ran: Vec::new(),
            ended: None,
            unfinished: Vec::new(),
        };
        let watched = match oclgrind.watch() {
            Ok(watched) => watched,
            Err(error) => {
                simulated.ended = Some(Ended::Crashed(error.to_string()));
                return simulated;
            }
        };
        let mut read = 0;
        let mut log = |in_reference: bool| {
            let text = watched.log();
            let new = text.get(read..).unwrap_or_default();
            let log = Log::read(new, in_reference);
            read = text.len();
            log
        };
        let limit = self.limits.left(self.limits.preparing);
        let verifier = Worker::launch(watched.command())
            .map_err(Unverified::from)
            .and_then(|worker| Verifier::prepare(worker, self.prepare(), limit));
        let of_reference = log(true);
        let ended = Ended::of_preparing(&verifier, &of_reference);
        simulated.reference = of_reference.findings;
        if self.passes_images(None) {
            simulated.reference.retain(Finding::holds_with_images);
        }
        let (None, Ok(mut verifier)) = (&ended, verifier) else {
            simulated.ended = ended;
            return simulated;
        };
        simulated.is_prepared = true;
        for codes in self.configurations {
            let limit = self.limits.left(self.limits.configuration);
            let verified = verifier.verify(codes, limit).map(|verified| verified.right);
            let mut own = log(false);
            if self.passes_images(Some(codes)) {
                own.findings.retain(Finding::holds_with_images);
            }
            let result = result_of(verified);
            let result = match Ended::of_log(&own) {
                Some(ended) => Err(ended),
                None => result,
            };
            match result {
                Ok(result) => simulated.ran.push(Ran {
                    findings: own.findings,
                    result,
                }),
                Err(ended) => {
                    simulated.ended = Some(ended);
                    simulated.unfinished = own.findings;
                    break;
                }
            }
        }
        simulated
    }

    /// Whether kernels of a configuration get images; of the reference, where none is given.
    fn passes_images(&self, codes: Option<&[i64]>) -> bool {
        let (job, info) = (self.job, self.job.device.info());
        let model = &job.declaration.model;
        let default = || default_codes(model, &job.dims, &info.limits);
        let codes = codes.map(<[i64]>::to_vec).or_else(default);
        let images = codes.and_then(|codes| model.images(&codes, &job.dims, &info.limits).ok());
        images.is_some_and(|images| !images.is_empty())
    }

    fn prepare(&self) -> Prepare {
        let job = self.job;
        Prepare {
            device: job.device.index,
            device_name: job.device.name.clone(),
            record: record::to_text(&job.declaration),
            dims: job.dims.clone(),
            seed: self.seed,
            folder: job.folder.clone(),
            draws: Some(self.draws),
            // That would take long.
            kinds: false,
            // Oclgrind would take a guard zone for a part of the buffer.
            guards: false,
            metering: None,
        }
    }
}
