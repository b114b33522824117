//! The search of one kernel, device and problem: from the space to the choice.

use super::bench::{
    Announce, Bench, BenchError, Lane, Measured, Pipeline, PipelineOptions, Spare, Spent,
    Steadiness, Stopwatch,
};
use super::course::{Course, Failures, Stopped};
use super::crowded::Crowded;
use super::finalists::{self, Choice, Judge};
use super::journal::{self, Interrupted, Journal};
use super::lessons::{Known, known};
use super::messages::Messages;
use super::plan::Job;
use super::progress::Block;
use super::space::space;
use super::trouble::{GivenUp, Trouble};
use crate::interrupt::interrupted;
use crate::oclgrind::{SoundnessCheck, Verdict};
use cltune_core::expr::TextError;
use cltune_core::select::default_codes;
use cltune_runtime::Budget;
use cltune_search::space::{Space, TooComplex};
use cltune_search::{Chosen, Confidence, Search, Setting};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How to search.
#[derive(Clone, Debug)]
pub(crate) struct SearchOptions {
    pub(crate) strategy: Chosen,
    pub(crate) budget: Budget,
    pub(crate) stop_when_stagnant: Option<Confidence>,
    pub(crate) seed: u64,
    /// Whether configurations with fewer work-groups than compute units are left out.
    pub(crate) fill_device: bool,
    /// Constraints besides those that are declared.
    pub(crate) constraints: Vec<String>,
    /// The least time limit of one configuration.
    pub(crate) limit: Duration,
    /// Whether to start from what is known from other devices and problem sizes.
    pub(crate) warm_start: bool,
    /// What to do with an earlier search that ended early.
    pub(crate) earlier: Earlier,
    /// How many processes may build at the same time.
    pub(crate) jobs: usize,
    /// Workers that have nothing to do.
    pub(crate) spare: Spare,
    /// Whether winners are run under a simulator.
    pub(crate) checks_winners: bool,
    pub(crate) messages: Messages,
}

/// What to do with an earlier search for the same kernel, device and problem that ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// Start over, and say that it could be resumed.
    Mention,
    /// Go on where it ended.
    Resume,
    /// Start over.
    Ignore,
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` when every configuration failed.
    pub(crate) choice: Option<Choice>,
    pub(crate) evaluated: u64,
    pub(crate) valid: u128,
    pub(crate) failures: Failures,
    /// What was found of the lockfile's entry for this job, where it has one that is valid.
    pub(crate) entry: Entry,
    /// Whether the search ended because going on was not worth it (`--stop-when-stagnant`).
    pub(crate) stagnant: bool,
    /// Where starting took most of the budget.
    pub(crate) crowded: Option<Crowded>,
    /// Why the search ended early, keeping what it had found.
    pub(crate) stopped: Option<Stopped>,
    /// How steady the device was, where that was measured.
    pub(crate) steadiness: Option<Steadiness>,
    /// What a simulator says of the choice; `None` where none was asked.
    pub(crate) soundness: Option<Verdict>,
    /// Where the time went.
    pub(crate) spent: Spent,
}

/// What a search found of the lockfile's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It works, or there is none.
    Works,
    /// It fails, or is wrong.
    Fails,
    /// It was left unmeasured, for want of budget.
    Unmeasured,
}

/// Why a search could not be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SearchError {
    /// No configuration is valid.
    #[error("no configuration is valid:\n{explanation}")]
    Empty {
        /// Which constraints removed how many.
        explanation: String,
    },
    /// A constraint of the command line is no formula of this kernel.
    #[error("--constraint `{constraint}`: {reason}")]
    Constraint {
        /// The constraint.
        constraint: String,
        /// What is wrong with it, and where.
        reason: TextError,
    },
    /// The space cannot be built in reasonable time and memory.
    #[error("the space of valid configurations cannot be built: {0}")]
    Space(#[from] TooComplex),
    /// Nothing can be measured.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The device fails again and again.
    #[error(transparent)]
    Trouble(#[from] GivenUp),
    /// The journal cannot be written.
    #[error("cannot write the journal: {0}")]
    Journal(#[from] std::io::Error),
}

impl SearchError {
    /// Whether the device is to blame, and other searches on it would fail as well.
    pub(crate) fn is_the_device(&self) -> bool {
        matches!(self, Self::Trouble(_))
    }
}

/// Searches within the budget, and chooses between the best. `state` is the folder of journals;
/// `lockfile` is read for what is known already; `block` shows how it goes.
pub(crate) fn run(
    job: &Job,
    state: &Path,
    lockfile: &Path,
    options: &SearchOptions,
    block: &mut Block,
) -> Result<Finished, SearchError> {
    let stopwatch = Stopwatch::start();
    let space = space(job, options)?;
    let valid = space.count();
    let known = if options.warm_start {
        known(job, state, lockfile)
    } else {
        Known::default()
    };
    let mut ready = make_ready(job, state, options, space, known, stopwatch, block)?;
    let end = ready.search()?;
    let finished = ready.choose(valid, end, options);
    options.messages.finished(job, &finished);
    Ok(finished)
}

/// A search that can begin.
struct Ready<'a> {
    course: Course<'a>,
    pipeline: Pipeline,
    /// What an earlier one has left.
    left: Interrupted,
    /// What the lockfile has, where it is in the space.
    own: Option<Vec<i64>>,
    deadline: Option<Instant>,
    stopwatch: Arc<Stopwatch>,
}

/// How a search ended.
struct End {
    /// Before it was done, for this reason.
    stopped: Option<Stopped>,
    /// Because going on was not worth it.
    stagnant: bool,
    /// Because its time was up.
    out_of_time: bool,
}

/// Opens the journal, starts workers, and sets the strategy up with what is known.
fn make_ready<'a>(
    job: &'a Job,
    state: &Path,
    options: &SearchOptions,
    space: Arc<Space>,
    known: Known,
    stopwatch: Stopwatch,
    block: &mut Block,
) -> Result<Ready<'a>, SearchError> {
    let evaluations = options.budget.evaluations();
    // A deadline that no clock can show is none.
    let time = options.budget.time();
    let deadline = time.and_then(|time| stopwatch.begin().checked_add(time));
    let stopwatch = Arc::new(stopwatch);
    let total = total(evaluations, space.count());
    let opened = Journal::open(
        state,
        job,
        &journal::Search {
            strategy: &options.strategy.name(),
            seed: options.seed,
            resume: options.earlier == Earlier::Resume,
        },
    )?;
    let mut progress = block.search(job, total, deadline);
    if let Some(warning) = &opened.warning {
        progress.warn(warning);
    }
    let left = match options.earlier {
        Earlier::Resume => opened.interrupted,
        Earlier::Ignore => Interrupted::default(),
        Earlier::Mention => {
            progress.resumable(&opened.interrupted);
            Interrupted::default()
        }
    };
    progress.known(&known.places);
    options.messages.known(job, &known.places);
    let journal = Arc::new(Mutex::new(opened.journal));
    let pipeline_options = PipelineOptions {
        seed: options.seed,
        limit: options.limit,
        jobs: options.jobs,
        total,
        learns: options.strategy.learns(),
        spare: options.spare.clone(),
        stopwatch: Arc::clone(&stopwatch),
    };
    let announce = announce(job, &journal);
    let pipeline = Pipeline::new(job, &pipeline_options, announce, left.best_us());
    let limits = &job.device.info().limits;
    // Of a space that is not empty; where its first configuration is too hard to find, any will do.
    let default = default_codes(&job.declaration.model, &job.dims, limits).unwrap_or_default();
    let own = known.own.filter(|codes| space.contains(codes));
    let setting = Setting::new(space)
        .seed(options.seed)
        .budget(evaluations)
        .in_flight(pipeline.capacity())
        .first(&default)
        .lessons(known.lessons);
    let course = Course {
        job,
        search: Search::new(&options.strategy, &setting),
        stop_when_stagnant: options.stop_when_stagnant,
        default,
        journal,
        messages: options.messages,
        progress,
        failures: Failures::new(),
        failed: BTreeMap::new(),
        trouble: Trouble::default(),
        revised: BTreeMap::new(),
        timed_once: Vec::new(),
        stepped_over: BTreeSet::new(),
        killed: Vec::new(),
    };
    Ok(Ready {
        course,
        pipeline,
        left,
        own,
        deadline,
        stopwatch,
    })
}

impl Ready<'_> {
    /// Measures until the budget is used up, or there is another reason to end.
    fn search(&mut self) -> Result<End, SearchError> {
        let (course, pipeline) = (&mut self.course, &mut self.pipeline);
        let deadline = self.deadline;
        let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let over = || interrupted() || late();
        let again = course.resume(std::mem::take(&mut self.left))?;
        let mut stopped = course.run(pipeline, over)?;
        let mut later = again;
        later.extend(course.doubtful());
        if stopped.is_none() && !interrupted() {
            stopped = course.measure(later, pipeline)?;
        }
        let early = !over() && stopped.is_none() && !course.search.is_done();
        let stagnant = early && course.is_stagnant();
        let out_of_time = late() && !interrupted() && stopped.is_none();
        Ok(End {
            stopped,
            stagnant,
            out_of_time,
        })
    }

    /// Times the best again and chooses; workers are left to the next search.
    fn choose(self, valid: u128, end: End, options: &SearchOptions) -> Finished {
        let End {
            mut stopped,
            stagnant,
            out_of_time,
        } = end;
        let spare = &options.spare;
        let searched = self.stopwatch.elapsed();
        let devices = 1 + self.course.job.twins.len();
        let device_lost = stopped.as_ref().is_some_and(|stopped| stopped.device_lost);
        let mut bench = self.pipeline.finish(spare).filter(|_| !device_lost);
        let steadiness = bench.as_ref().and_then(Bench::steadiness);
        let mut course = self.course;
        course.progress.comparing();
        let (default, results) = (course.default.clone(), course.times());
        let judge = bench.as_mut().map(|bench| -> &mut dyn Judge { bench });
        let mut soundness = None;
        let checks = options.checks_winners;
        let mut check = checks.then(|| SoundnessCheck::new(course.job, searched));
        let sound = |codes: &[i64]| {
            soundness = check.as_mut().map(|check| check.judge(codes));
            match &soundness {
                Some(Verdict::Unsound(reason)) => Err(Measured::Unsound(reason.to_string())),
                _ => Ok(()),
            }
        };
        let mut unwritten = None;
        let choice = finalists::choose(judge, &default, &results, sound, |codes, measured| {
            let written = course.revise(codes, measured);
            unwritten = unwritten.take().or(written.err());
        });
        if let Some(bench) = bench {
            bench.retire(spare);
        }
        if let (None, Some(error)) = (&stopped, unwritten) {
            stopped = Some(Stopped {
                reason: error.to_string(),
                device_lost: false,
            });
        }
        let entry = self
            .own
            .map_or(Entry::Works, |own| match course.works(&own) {
                Some(true) => Entry::Works,
                Some(false) => Entry::Fails,
                None => Entry::Unmeasured,
            });
        course.end(stopped.as_ref());
        let evaluated = course.search.evaluated() as u64;
        let simulating = check.map_or(Duration::ZERO, |check| check.took());
        let spent = self.stopwatch.spent(devices, searched, simulating);
        let cut = out_of_time && u128::from(evaluated) < valid;
        let budget = options.budget.time().filter(|_| cut);
        let crowded = budget.and_then(|budget| Crowded::of(budget, spent.starting, evaluated));
        Finished {
            choice,
            evaluated,
            valid,
            failures: course.failures,
            entry,
            stagnant,
            crowded,
            stopped,
            steadiness,
            soundness,
            spent,
        }
    }
}

/// Tells the journal what is about to be measured.
fn announce(job: &Job, journal: &Arc<Mutex<Journal>>) -> Announce {
    let (job, journal) = (job.clone(), Arc::clone(journal));
    Box::new(move |codes| {
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        // A disk that is full says so again when the result is written, and then ends the search.
        let _ = journal.begin(&job, codes);
    })
}

/// How many configurations will be measured, where a person may want to wait for them.
fn total(evaluations: Option<u64>, valid: u128) -> Option<u64> {
    match evaluations {
        Some(budget) => Some(u64::try_from(valid).map_or(budget, |valid| valid.min(budget))),
        None => u64::try_from(valid).ok().filter(|valid| *valid < 100_000),
    }
}
