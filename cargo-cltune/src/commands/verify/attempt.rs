//! One entry, problem and device, in a worker process of its own.

use super::entries::Origin;
use super::findings::{Finding, findings};
use super::oclgrind::Oclgrind;
use super::problems::draws_at_once;
use crate::session::{Job, interrupted};
use crate::worker::{Prepare, Request, Response, Worker, WorkerFailure};
use cltune_core::declaration::Reference;
use cltune_core::record;
use cltune_core::select::default_codes;
use cltune_runtime::tuning::{InputKind, Outcome};
use std::time::Duration;

/// How long computing the reference may take: it is naive, and drivers are slow.
const PATIENCE: Duration = Duration::from_mins(10);

/// How many times as long as preparing it takes at most to compute the reference for other kinds of inputs.
const OF_KINDS: u32 = 6;

/// The status of what could not be prepared.
const NOT_RUN: &str = "not-run";

/// What Oclgrind says of an instruction that it does not know.
const UNKNOWN_INSTRUCTION: &str = "Unsupported instruction";

/// The OpenCL error of a program that has no such kernel.
const NO_KERNEL: &str = "CL_INVALID_KERNEL_NAME";

/// What is to be verified.
pub(super) struct Attempt {
    pub(super) job: Job,
    pub(super) codes: Vec<i64>,
    pub(super) origin: Origin,
    /// The device that the configuration was tuned on, where it is run on another.
    pub(super) tuned_on: Option<String>,
    /// Whether the problem is larger than the one it was tuned for.
    pub(super) is_larger: bool,
    /// How many draws of random inputs; one where no input is random.
    pub(super) draws: usize,
    pub(super) seed: u64,
    pub(super) limit: Duration,
    pub(super) oclgrind: Option<Oclgrind>,
}

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Verified {
    /// The number of random draws on which the results were right.
    pub(super) random: usize,
    /// The number of all draws on which they were.
    pub(super) draws: usize,
    /// Kinds of inputs that could not be used, and why.
    pub(super) left_out: Vec<String>,
    /// What went wrong.
    pub(super) failure: Option<Failure>,
    /// What Oclgrind found.
    pub(super) findings: Vec<Finding>,
}

/// What went wrong.
#[derive(Debug)]
pub(super) struct Failure {
    /// The word that messages have for it.
    pub(super) status: &'static str,
    pub(super) detail: String,
}

impl Failure {
    fn new(status: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
        }
    }

    fn of_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::BuildFailed { log } => Self::new("build-failed", log),
            Outcome::LaunchFailed { error } => Self::new("launch-failed", error),
            Outcome::WrongResult(wrong) => Self::new("wrong-result", wrong.to_string()),
            Outcome::SkipsWork(skips) => Self::new("skips-work", skips.to_string()),
            // A worker never answers so.
            Outcome::Ok(_) | Outcome::TooSlow { .. } => {
                Self::new("crashed", "the worker answered nonsense")
            }
        }
    }

    fn of_worker(failure: &WorkerFailure) -> Self {
        match failure {
            WorkerFailure::TimedOut { .. } => Self::new("timed-out", failure.to_string()),
            _ => Self::new("crashed", failure.to_string()),
        }
    }
}

impl Verified {
    pub(super) fn is_right(&self) -> bool {
        self.failure.is_none() && self.findings.is_empty()
    }

    /// Whether it never came to running the configuration, of which nothing is known then.
    pub(super) fn is_not_run(&self) -> bool {
        self.status() == NOT_RUN
    }

    /// Whether the driver does not want it.
    fn is_refused(&self) -> bool {
        let refusal = |status| matches!(status, "build-failed" | "launch-failed");
        refusal(self.status())
    }

    /// Whether Oclgrind met an instruction that it does not know, or lost the kernel to one while it read
    /// the program.
    fn is_beyond_simulator(&self) -> bool {
        let unknown = |finding: &Finding| finding.what.starts_with(UNKNOWN_INSTRUCTION);
        let lost = |failure: &Failure| failure.detail.contains(NO_KERNEL);
        self.findings.iter().any(unknown) || self.failure.as_ref().is_some_and(lost)
    }

    /// `ok`, `unsound` where only Oclgrind objects, or what went wrong.
    pub(super) fn status(&self) -> &'static str {
        match &self.failure {
            Some(failure) => failure.status,
            None if self.findings.is_empty() => "ok",
            None => "unsound",
        }
    }
}

impl Attempt {
    /// Whether a result says nothing about what launches do: a larger problem is too large for the
    /// machine or its patience, or the driver refuses what was tuned for another device or problem, and
    /// a launch would take the next.
    pub(super) fn says_nothing(&self, verified: &Verified) -> bool {
        (self.is_larger && verified.is_not_run())
            || (self.origin.is_of_another() && verified.is_refused())
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

    /// Runs on all draws; under Oclgrind once more without its compiler's optimiser, where that makes what
    /// the simulator cannot run.
    pub(super) fn run(&self) -> Verified {
        let verified = self.run_under(self.oclgrind.as_ref());
        let other = self.oclgrind.as_ref().and_then(Oclgrind::without_optimiser);
        match other {
            Some(other) if verified.is_beyond_simulator() => self.run_under(Some(&other)),
            _ => verified,
        }
    }

    /// As many draws at once as memory allows; no more of them after Ctrl-C.
    fn run_under(&self, oclgrind: Option<&Oclgrind>) -> Verified {
        let limits = self.job.device.info().limits;
        let model = &self.job.declaration.model;
        let at_once = draws_at_once(model, &self.job.dims, &limits, self.draws);
        let mut verified = Verified::default();
        while verified.random < self.draws && verified.is_right() && !interrupted() {
            let draws = at_once.min(self.draws - verified.random);
            // Every worker has a seed of its own, so that no draw comes twice.
            let seed = self.seed.wrapping_add(verified.random as u64);
            self.run_draws(oclgrind, draws, seed, &mut verified);
        }
        verified
    }

    fn run_draws(
        &self,
        oclgrind: Option<&Oclgrind>,
        draws: usize,
        seed: u64,
        verified: &mut Verified,
    ) {
        let watched = match oclgrind.map(Oclgrind::watch).transpose() {
            Ok(watched) => watched,
            Err(error) => {
                verified.failure = Some(Failure::new("crashed", error.to_string()));
                return;
            }
        };
        let worker = match &watched {
            Some(watched) => Worker::launch(watched.command()),
            None => Worker::start(),
        };
        let mut of_reference = 0;
        let result = worker
            .map_err(|failure| Failure::of_worker(&failure))
            .and_then(|mut worker| {
                // Once is enough.
                let kinds = verified.random == 0 && self.kinds() > 0;
                self.prepare(&mut worker, draws, kinds, seed)?;
                of_reference = watched.as_ref().map_or(0, |watched| watched.log().len());
                self.verify(&mut worker, kinds, &mut verified.left_out)
            });
        match result {
            Ok(right) => {
                verified.random += draws;
                verified.draws += right;
            }
            Err(failure) => verified.failure = Some(failure),
        }
        if let Some(watched) = watched {
            let log = watched.log();
            let (reference, own) = log.split_at_checked(of_reference).unwrap_or(("", &log));
            verified.findings = findings(reference, true);
            verified.findings.extend(findings(own, false));
        }
    }

    /// Lets the worker compute the reference.
    fn prepare(
        &self,
        worker: &mut Worker,
        draws: usize,
        kinds: bool,
        seed: u64,
    ) -> Result<(), Failure> {
        let request = Request::Prepare(Box::new(Prepare {
            device: self.job.device.index,
            device_name: self.job.device.name.clone(),
            record: record::encode(&self.job.declaration),
            dims: self.job.dims.clone(),
            seed,
            folder: self.job.folder.clone(),
            draws: Some(draws),
            kinds,
            // Oclgrind would take a guard zone for a part of the buffer.
            guards: self.oclgrind.is_none(),
        }));
        // Whatever happens here is not the configuration's doing.
        let reason = match worker.ask(&request, PATIENCE.max(self.limit)) {
            Ok(Response::Prepared { .. }) => return Ok(()),
            Ok(Response::Failed(reason)) => reason,
            Ok(other) => format!("the worker answered {other:?}"),
            Err(failure) => format!("computing the reference failed: {failure}"),
        };
        Err(Failure::new(NOT_RUN, reason))
    }

    /// Runs the configuration on all draws. Before it is run on those of other kinds, the reference is computed
    /// for them, which is not its doing either.
    fn verify(
        &self,
        worker: &mut Worker,
        kinds: bool,
        left_out: &mut Vec<String>,
    ) -> Result<usize, Failure> {
        let codes = self.codes.clone();
        let references = if kinds {
            OF_KINDS * worker.took()
        } else {
            Duration::ZERO
        };
        match worker.ask(&Request::Verify { codes }, self.limit + references) {
            Ok(Response::Verified {
                right,
                left_out: kinds,
            }) => {
                left_out.extend(kinds);
                right.map_err(Failure::of_outcome)
            }
            Ok(Response::Failed(reason)) => Err(Failure::new(NOT_RUN, reason)),
            Ok(other) => Err(Failure::new(
                "crashed",
                format!("the worker answered {other:?}"),
            )),
            Err(failure) => Err(Failure::of_worker(&failure)),
        }
    }
}
