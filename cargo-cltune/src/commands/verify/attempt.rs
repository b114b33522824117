//! The verification of one entry for a problem on a device, in a worker process of its own.

use super::entries::Origin;
use crate::interrupt::interrupted;
use crate::oclgrind::{Ended, Finding, Limits, Oclgrind, Simulation};
use crate::plan::Job;
use crate::session::{draws_at_once, failure_reason};
use crate::worker::{Prepare, Unverified, Verifier, Worker, WorkerFailure};
use cltune_core::select::default_codes;
use cltune_formats::declaration::Reference;
use cltune_formats::record;
use cltune_runtime::tuning::{InputKind, Outcome};
use cltune_search::Status;
use std::time::Duration;

/// How long computing the reference may take: it is naive, and drivers are slow.
const PATIENCE: Duration = Duration::from_mins(10);

/// An entry that is to be verified on a problem.
pub(super) struct Attempt {
    pub(super) job: Job,
    /// Larger problems, for where the reference is of no use on the job's: the next one is tried.
    pub(super) other_problems: Vec<Vec<i64>>,
    pub(super) codes: Vec<i64>,
    pub(super) origin: Origin,
    /// The device that the configuration was tuned on, where it is run on another.
    pub(super) tuned_on: Option<String>,
    pub(super) purpose: Purpose,
    /// How many draws of random inputs; one where no input is random.
    pub(super) draws: usize,
    pub(super) seed: u64,
    pub(super) limit: Duration,
    pub(super) oclgrind: Option<Oclgrind>,
}

/// Why an entry is run on a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It was tuned for it, it was asked for, or it is small enough for a simulator.
    Own,
    /// It is larger.
    Larger,
    /// Nothing likely divides its sizes.
    Uneven,
    /// A program launched it, and the inputs are the program's.
    Captured,
}

impl Purpose {
    /// The word that messages have for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Larger => "larger",
            Self::Uneven => "uneven",
            Self::Captured => "captured",
        }
    }

    /// Whether the user has not asked for the problem.
    fn is_own_idea(self) -> bool {
        matches!(self, Self::Larger | Self::Uneven)
    }
}

/// The result of an attempt.
#[derive(Debug, Default)]
pub(super) struct Verified {
    /// The number of random draws on which the results were right.
    pub(super) random: usize,
    /// The number of all draws on which they were.
    pub(super) draws: usize,
    /// Kinds of inputs that could not be used, and why.
    pub(super) left_out: Vec<String>,
    /// The failure.
    pub(super) failure: Option<Failure>,
    /// Oclgrind's findings.
    pub(super) findings: Vec<Finding>,
    /// The check that was left out.
    pub(super) note: Option<&'static str>,
    /// The problem that it was run on, where that is one of the others.
    pub(super) other_problem: Option<Vec<i64>>,
}

/// The failure.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: Status,
    pub(super) detail: String,
    /// Whether it is the simulator's, which cannot run the kernel.
    is_simulators: bool,
}

impl Failure {
    fn new(status: Status, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            is_simulators: false,
        }
    }

    fn of_outcome(outcome: &Outcome) -> Self {
        let reason = failure_reason(outcome);
        match outcome {
            Outcome::Unjudged { .. } => Self::new(Status::NotRun, reason.unwrap_or_default()),
            // A worker never answers so.
            Outcome::Ok(_) | Outcome::TooSlow { .. } => {
                Self::new(Status::Crashed, "the worker answered nonsense")
            }
            _ => Self::new(outcome.status(), reason.unwrap_or_default()),
        }
    }

    fn of_worker(failure: &WorkerFailure) -> Self {
        match failure {
            WorkerFailure::TimedOut { .. } => Self::new(Status::TimedOut, failure.to_string()),
            WorkerFailure::Interrupted => Self::new(Status::NotRun, failure.to_string()),
            _ => Self::new(Status::Crashed, failure.to_string()),
        }
    }

    /// Only a timeout is the kernel's fault. A tuned configuration was built elsewhere, so a build
    /// that fails here is the simulator's fault.
    fn of_simulation(ended: Ended, is_tuned: bool, was_prepared: bool) -> Self {
        match ended {
            Ended::Crashed(reason) | Ended::Unknown(reason) => Self {
                is_simulators: true,
                ..Self::new(Status::NotRun, format!("Oclgrind itself fails: {reason}"))
            },
            Ended::Build(log) => Self {
                is_simulators: is_tuned,
                ..Self::new(
                    Status::NotRun,
                    format!("it does not build for Oclgrind: {log}"),
                )
            },
            Ended::Reference(reason) => Self::new(Status::NotRun, reason),
            Ended::Late(reason) if was_prepared => Self::new(Status::TimedOut, reason),
            Ended::Late(reason) => Self::new(
                Status::NotRun,
                format!("computing the reference failed: {reason}"),
            ),
            Ended::Interrupted => Self::new(Status::NotRun, "interrupted"),
        }
    }
}

impl Verified {
    pub(super) fn is_right(&self) -> bool {
        self.failure.is_none() && self.findings.is_empty()
    }

    /// Whether the configuration was never run, so that nothing is known of it.
    pub(super) fn is_not_run(&self) -> bool {
        self.status() == Status::NotRun
    }

    /// Whether the driver refuses it.
    fn is_refused(&self) -> bool {
        matches!(self.status(), Status::BuildFailed | Status::LaunchFailed)
    }

    /// Whether Oclgrind objects to the configuration, and not only to the reference.
    fn has_own_findings(&self) -> bool {
        self.findings.iter().any(|finding| !finding.in_reference)
    }

    /// Whether the simulator cannot run the kernel, and had no findings before that.
    fn is_beyond_simulator(&self) -> bool {
        let failure = self.failure.as_ref();
        self.findings.is_empty() && failure.is_some_and(|failure| failure.is_simulators)
    }

    /// `ok`, `unsound` where only Oclgrind objects, or what went wrong.
    pub(super) fn status(&self) -> Status {
        match &self.failure {
            Some(failure) if failure.status == Status::NotRun && self.has_own_findings() => {
                Status::Unsound
            }
            Some(failure) => failure.status.clone(),
            None if self.findings.is_empty() => Status::Ok,
            None => Status::Unsound,
        }
    }
}

impl Attempt {
    /// Whether a result says nothing about launches: a problem that the user has not asked for
    /// cannot be prepared, or is too large for the machine or the time limit; the driver refuses
    /// values of another device or problem, and a launch would take the next candidate; or the
    /// simulator cannot run the kernel.
    pub(super) fn says_nothing(&self, verified: &Verified) -> bool {
        (self.purpose.is_own_idea() && verified.is_not_run())
            || (self.origin.is_of_another() && verified.is_refused())
            || verified.is_beyond_simulator()
    }

    /// Whether the results are compared with those of the same configuration.
    pub(super) fn is_own_reference(&self) -> bool {
        let Job {
            declaration,
            device,
            dims,
            ..
        } = &self.job;
        let limits = device.info().limits;
        declaration.reference == Reference::Default
            && default_codes(&declaration.model, dims, &limits).as_ref() == Some(&self.codes)
    }

    /// The kinds of inputs besides random ones; none under Oclgrind, which takes long.
    fn kinds(&self) -> usize {
        match self.oclgrind {
            Some(_) => 0,
            None => InputKind::of(&self.job.declaration).len(),
        }
    }

    /// On how many draws the configuration is to be run.
    pub(super) fn all_draws(&self) -> usize {
        self.draws + self.kinds()
    }

    /// Runs on all draws.
    pub(super) fn run(&self) -> Verified {
        let Some(oclgrind) = &self.oclgrind else {
            return self.in_batches(&self.job, |seed, draws, verified| {
                // Once is enough.
                let kinds = verified.random == 0;
                self.run_draws(draws, kinds, seed, &mut verified.left_out)
            });
        };
        let mut oclgrind = oclgrind.clone();
        let (first, has_reference) = self.simulate(&self.job, &mut oclgrind);
        if has_reference {
            return first;
        }
        for problem in &self.other_problems {
            let job = Job {
                dims: problem.clone(),
                ..self.job.clone()
            };
            let (mut verified, has_reference) = self.simulate(&job, &mut oclgrind);
            if has_reference {
                verified.other_problem = Some(problem.clone());
                return verified;
            }
        }
        first
    }

    /// As many draws at once as memory allows; no more of them after Ctrl-C.
    fn in_batches(
        &self,
        job: &Job,
        mut run: impl FnMut(u64, usize, &mut Verified) -> Result<usize, Failure>,
    ) -> Verified {
        let limits = job.device.info().limits;
        let at_once = draws_at_once(&job.declaration.model, &job.dims, &limits, self.draws);
        let mut verified = Verified::default();
        while verified.random < self.draws && verified.is_right() && !interrupted() {
            let draws = at_once.min(self.draws - verified.random);
            // Every worker has a seed of its own, so that no draw comes twice.
            let seed = self.seed.wrapping_add(verified.random as u64);
            match run(seed, draws, &mut verified) {
                Ok(right) => {
                    verified.random += draws;
                    verified.draws += right;
                }
                Err(failure) => verified.failure = Some(failure),
            }
        }
        verified
    }

    /// Under Oclgrind on one problem; and whether the reference could be computed for that.
    fn simulate(&self, job: &Job, oclgrind: &mut Oclgrind) -> (Verified, bool) {
        let mut has_reference = true;
        let mut verified = self.in_batches(job, |seed, draws, verified| {
            let simulation = Simulation {
                job,
                configurations: &[&self.codes],
                draws,
                seed,
                limits: Limits {
                    preparing: PATIENCE.max(self.limit),
                    configuration: self.limit,
                    end: None,
                },
            };
            let simulated = simulation.run(oclgrind);
            has_reference &= !matches!(simulated.ended, Some(Ended::Reference(_)));
            let was_prepared = simulated.is_prepared;
            verified.findings = simulated.reference;
            let mut result = Ok(0);
            for ran in simulated.ran {
                verified.findings.extend(ran.findings);
                let wrong = |wrong| Failure::of_outcome(&Outcome::WrongResult(wrong));
                result = ran.result.map_err(wrong);
            }
            verified.findings.extend(simulated.unfinished);
            match simulated.ended {
                Some(ended) => {
                    let is_tuned = matches!(self.origin, Origin::Tuned);
                    Err(Failure::of_simulation(ended, is_tuned, was_prepared))
                }
                None => result,
            }
        });
        if !oclgrind.watches_values() && !verified.is_not_run() {
            verified.note = Some(
                "run without Oclgrind's check for values that were never written, which fails on it",
            );
        }
        (verified, has_reference)
    }

    /// On the device, in a worker of its own; on inputs of other kinds as well.
    fn run_draws(
        &self,
        draws: usize,
        kinds: bool,
        seed: u64,
        left_out: &mut Vec<String>,
    ) -> Result<usize, Failure> {
        let prepare = Prepare {
            device: self.job.device.index,
            device_name: self.job.device.name.clone(),
            record: record::to_text(&self.job.declaration),
            dims: self.job.dims.clone(),
            seed,
            folder: self.job.folder.clone(),
            draws: Some(draws),
            kinds,
            guards: true,
            metering: None,
        };
        let worker = Worker::start().map_err(|failure| Failure::of_worker(&failure))?;
        let patience = PATIENCE.max(self.limit);
        // A failure here is not the configuration's fault.
        let prepared = Verifier::prepare(worker, prepare, patience);
        let mut verifier = prepared.map_err(|failure| match failure {
            Unverified::Refused(reason) => Failure::new(Status::NotRun, reason),
            Unverified::Worker(failure) => Failure::new(
                Status::NotRun,
                format!("computing the reference failed: {failure}"),
            ),
        })?;
        let verified = verifier.verify(&self.codes, self.limit);
        let verified = verified.map_err(|failure| match failure {
            Unverified::Refused(reason) => Failure::new(Status::NotRun, reason),
            Unverified::Worker(failure) => Failure::of_worker(&failure),
        })?;
        left_out.extend(verified.left_out);
        verified
            .right
            .map_err(|outcome| Failure::of_outcome(&outcome))
    }
}
