//! Soundness of the winner of a search under Oclgrind: defects that its results do not show. Only a
//! finding that is certainly a defect, and certainly the configuration's own, counts against it.

use super::findings::{Finding, Kind};
use super::problems::{FILES, MOST_WORK_ITEMS, Tuned};
use super::simulation::{Ended, Limits, Simulated, Simulation};
use super::simulator::{Oclgrind, OclgrindError};
use crate::interrupt::interrupted;
use crate::plan::Job;
use cltune_core::select::{TunedDevice, default_codes};
use cltune_formats::declaration::Reference;
use std::fmt;
use std::time::{Duration, Instant};

/// The method by which winners are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Method {
    /// Under Oclgrind.
    Oclgrind,
    /// Not at all.
    Off,
}

/// Checks the winners of one search, until its time is used up.
#[derive(Debug)]
pub(crate) struct SoundnessCheck<'a> {
    job: &'a Job,
    left: Left,
    took: Duration,
}

/// The time that is left for checks.
#[derive(Debug)]
struct Left {
    /// Looking for defects.
    looking: Duration,
    /// Making sure of a defect that was found, which may take longer.
    making_sure: Duration,
}

/// The verdict on a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is sound. It may have findings that need not be defects, or that the default has as well.
    Sound(Vec<Doubt>),
    /// It is rejected for this defect.
    Unsound(Unsound),
    /// It was not checked, for this reason.
    NotChecked(String),
}

/// The defect for which a configuration is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unsound {
    /// The problem that it was run on: `n = 128`.
    pub(crate) problem: String,
    pub(crate) findings: Vec<Finding>,
}

/// Findings that do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) finding: Finding,
    pub(crate) why: &'static str,
}

impl Verdict {
    /// Its name in messages.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Sound(_) => "sound",
            Self::Unsound(_) => "unsound",
            Self::NotChecked(_) => "not-checked",
        }
    }

    /// The reason, for people.
    pub(crate) fn reason(&self) -> Option<String> {
        match self {
            Self::Sound(doubts) if doubts.is_empty() => None,
            Self::Sound(doubts) => {
                let doubts = doubts.iter();
                let lines = doubts.map(|doubt| format!("under Oclgrind: {doubt}"));
                Some(lines.collect::<Vec<_>>().join("\n"))
            }
            Self::Unsound(reason) => Some(reason.to_string()),
            Self::NotChecked(reason) => Some(format!("not checked under Oclgrind: {reason}")),
        }
    }
}

/// The note on findings that the default has as well.
const OF_DEFAULT: &str = "the default does so, too";

/// The note on races that do not count.
const NOT_CERTAIN: &str = "which need not be a defect";

impl Method {
    /// Whether winners are checked: without a method, where Oclgrind is installed.
    ///
    /// # Errors
    /// Oclgrind is asked for, and is not there.
    pub(crate) fn is_possible(method: Option<Self>) -> Result<bool, OclgrindError> {
        match method {
            Some(Self::Off) => Ok(false),
            Some(Self::Oclgrind) => Oclgrind::like(None).map(|_| true),
            None => Ok(Oclgrind::like(None).is_ok()),
        }
    }
}

impl<'a> SoundnessCheck<'a> {
    /// For a search that took so long so far: looking for defects takes no more than a part of
    /// that.
    pub(crate) fn new(job: &'a Job, searched: Duration) -> Self {
        let left = Left {
            looking: Duration::from_secs(5).max(searched / 4),
            making_sure: Duration::from_secs(20).max(searched),
        };
        Self {
            job,
            left,
            took: Duration::ZERO,
        }
    }

    /// The time of the checks so far.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// Runs a configuration under Oclgrind, on a small problem.
    pub(crate) fn judge(&mut self, codes: &[i64]) -> Verdict {
        if interrupted() {
            return Verdict::NotChecked("interrupted".into());
        }
        let begin = Instant::now();
        let verdict = self.simulated(codes);
        self.took += begin.elapsed();
        verdict.unwrap_or_else(Verdict::NotChecked)
    }

    /// # Errors
    /// Why nothing can be said.
    fn simulated(&mut self, codes: &[i64]) -> Result<Verdict, String> {
        let Job {
            declaration, dims, ..
        } = self.job;
        let model = &declaration.model;
        let info = self.job.device.info();
        // Its check for values that were never written is often wrong, and makes it three times as
        // slow.
        let oclgrind = Oclgrind::like(Some(&TunedDevice::of(&info)))
            .map_err(|error| error.to_string())?
            .without_values();
        let device = oclgrind.device().map_err(|error| error.to_string())?;
        let limits = device.info().limits;
        let default = default_codes(model, dims, &info.limits).unwrap_or_default();
        let tuned = Tuned {
            declaration,
            configurations: &[codes, &default],
            dims,
            limits: &limits,
        };
        let mut reason = None;
        for dims in tuned.small_problems() {
            model.check(codes, &dims, &limits).map_err(|rejection| {
                format!("it is not valid for Oclgrind's device: {rejection}")
            })?;
            let work_items = tuned.work_items(&dims);
            if work_items > MOST_WORK_ITEMS {
                let problem = model.describe_problem(&dims);
                let large = format!(
                    "the smallest problem that it can be run on, {problem}, has {work_items} work-items"
                );
                return Err(reason.unwrap_or(large));
            }
            let job = Job {
                device: device.clone(),
                dims,
                ..self.job.clone()
            };
            let mut suspect = Suspect {
                job: &job,
                codes,
                // On a small problem it may be another one.
                default: if model.check(&default, &job.dims, &limits).is_ok() {
                    default.clone()
                } else {
                    default_codes(model, &job.dims, &limits).unwrap_or_default()
                },
                left: &mut self.left,
            };
            match suspect.judge(&oclgrind) {
                // The next problem is larger.
                Err(Ended::Reference(why)) => {
                    reason.get_or_insert(format!(
                        "the reference cannot be run under Oclgrind: {why}"
                    ));
                }
                Err(ended) => return Err(why(ended)),
                Ok(verdict) => return Ok(verdict),
            }
        }
        Err(reason.unwrap_or_else(|| FILES.into()))
    }
}

/// A configuration on a problem.
struct Suspect<'a> {
    job: &'a Job,
    codes: &'a [i64],
    /// The configuration that it is compared with.
    default: Vec<i64>,
    left: &'a mut Left,
}

impl Suspect<'_> {
    fn judge(&mut self, oclgrind: &Oclgrind) -> Result<Verdict, Ended> {
        let mut oclgrind = oclgrind.clone();
        let mut first = run(
            self.job,
            &mut oclgrind,
            &[self.codes],
            &mut self.left.looking,
        )?;
        let found = findings(&mut first, 0);
        let (counting, others): (Vec<Finding>, Vec<Finding>) = found
            .into_iter()
            .partition(|finding| self.may_count(finding));
        let doubts = |findings: Vec<Finding>, why| {
            let doubts = findings
                .into_iter()
                .map(move |finding| Doubt { finding, why });
            doubts.collect::<Vec<_>>()
        };
        let is_said = |finding: &Finding| finding.kind() != Kind::Other;
        let mut said = doubts(others.into_iter().filter(is_said).collect(), NOT_CERTAIN);
        if counting.is_empty() {
            return Ok(Verdict::Sound(said));
        }
        if self.default == self.codes {
            said.extend(doubts(counting, OF_DEFAULT));
            return Ok(Verdict::Sound(said));
        }
        // Again without the optimiser, which may let work-items read what they do not need, and
        // with the default.
        let mut plain = oclgrind.without_optimiser().unwrap_or(oclgrind);
        let all = [&*self.default, self.codes];
        // The reference is the default where no other kernel is.
        let is_run = self.job.declaration.reference == Reference::Default;
        let configurations = &all[usize::from(is_run)..];
        let left = &mut self.left.making_sure;
        let mut second = match run(self.job, &mut plain, configurations, left) {
            Ok(second) => second,
            Err(ended) => {
                let found = Unsound::new(self.job, counting);
                return Ok(Verdict::NotChecked(format!(
                    "{found}; whether that is the configuration's own is not known: {}",
                    why(ended)
                )));
            }
        };
        let mut of_default = std::mem::take(&mut second.reference);
        if !is_run {
            of_default = findings(&mut second, 0);
        }
        let again = findings(&mut second, configurations.len() - 1);
        let is_in = |finding: &Finding, others: &[Finding]| {
            others.iter().any(|other| other.is_also(finding))
        };
        let certain = counting
            .into_iter()
            .filter(|finding| is_in(finding, &again));
        let (of_default, own): (Vec<Finding>, Vec<Finding>) =
            certain.partition(|finding| is_in(finding, &of_default));
        said.extend(doubts(of_default, OF_DEFAULT));
        if own.is_empty() {
            return Ok(Verdict::Sound(said));
        }
        Ok(Verdict::Unsound(Unsound::new(self.job, own)))
    }

    /// Whether it is a defect for certain, if it is the configuration's. Oclgrind knows of barriers
    /// only: where a kernel uses atomic functions, or counts on work-items that run in step and
    /// reads `volatile` memory, work-items may well wait for each other. Local memory may have an
    /// element for what nobody reads.
    fn may_count(&self, finding: &Finding) -> bool {
        let source = &self.job.declaration.model.source;
        let has_barriers_only = || !source.contains("atom") && !source.contains("volatile");
        match finding.kind() {
            Kind::OutOfBounds | Kind::Divergence => true,
            Kind::ReadWriteRace => has_barriers_only(),
            Kind::WriteWriteRace => has_barriers_only() && finding.what.contains("global memory"),
            Kind::Other => false,
        }
    }
}

/// Runs configurations on a small problem, within the time that is left for it.
///
/// # Errors
/// Why not all were run.
fn run(
    job: &Job,
    oclgrind: &mut Oclgrind,
    configurations: &[&[i64]],
    left: &mut Duration,
) -> Result<Simulated, Ended> {
    let begin = Instant::now();
    let simulation = Simulation {
        job,
        configurations,
        draws: 1,
        seed: 0,
        limits: Limits {
            preparing: *left,
            configuration: *left,
            end: begin.checked_add(*left),
        },
    };
    let mut simulated = simulation.run(oclgrind);
    *left = left.saturating_sub(begin.elapsed());
    match simulated.ended.take() {
        Some(ended) => Err(ended),
        None => Ok(simulated),
    }
}

/// The findings in a configuration of a simulation.
fn findings(simulated: &mut Simulated, position: usize) -> Vec<Finding> {
    let ran = simulated.ran.get_mut(position);
    ran.map(|ran| std::mem::take(&mut ran.findings))
        .unwrap_or_default()
}

fn why(ended: Ended) -> String {
    match ended {
        Ended::Crashed(reason) | Ended::Unknown(reason) => {
            format!("Oclgrind itself fails: {reason}")
        }
        Ended::Build(log) => {
            let first = log.lines().find(|line| line.contains("error"));
            let first = first.unwrap_or("it does not say why");
            format!("it does not build for Oclgrind, which has no extensions of vendors: {first}")
        }
        Ended::Reference(reason) => reason,
        Ended::Late(_) => {
            "it takes longer under Oclgrind than 5 s, and than a quarter of the search".into()
        }
        Ended::Interrupted => "interrupted".into(),
    }
}

impl Unsound {
    fn new(job: &Job, findings: Vec<Finding>) -> Self {
        Self {
            problem: job.problem(),
            findings,
        }
    }
}

impl fmt::Display for Unsound {
    /// `under Oclgrind, for n = 128: kernels/run.cl:9: Invalid read of size 4 at local memory in
    /// `run``, and the others on lines of their own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("under Oclgrind")?;
        if !self.problem.is_empty() {
            write!(f, ", for {}", self.problem)?;
        }
        let mut separator = ": ";
        for finding in &self.findings {
            write!(f, "{separator}{finding}")?;
            separator = "\n";
        }
        Ok(())
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.finding, self.why)
    }
}
