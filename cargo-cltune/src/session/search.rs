//! The search of one kernel, device and problem: from the space to the choice.

use super::bench::{Bench, BenchError};
use super::budget::Budget;
use super::course::{Course, Failures};
use super::finalists::{self, Choice};
use super::guard::interrupted;
use super::journal::Journal;
use super::lessons::{Known, known};
use super::messages::Messages;
use super::plan::Job;
use super::progress::Progress;
use cltune_core::space::Space;
use cltune_runtime::search::{Chosen, Confidence, Search, Setting};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How to search.
#[derive(Clone, Debug)]
pub(crate) struct SearchOptions {
    pub(crate) strategy: Chosen,
    pub(crate) budget: Budget,
    pub(crate) stop_when_stagnant: Option<Confidence>,
    pub(crate) seed: u64,
    /// The least time limit of one configuration.
    pub(crate) limit: Duration,
    /// Whether to start from what is known from other devices and problem sizes.
    pub(crate) warm_start: bool,
    pub(crate) quiet: bool,
    pub(crate) messages: Messages,
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` when every configuration failed.
    pub(crate) choice: Option<Choice>,
    pub(crate) evaluated: u64,
    pub(crate) valid: u128,
    pub(crate) failures: Failures,
    /// Whether the search ended because going on was not worth it (`--stop-when-stagnant`).
    pub(crate) stagnant: bool,
    /// Why the search ended early, keeping what it had found.
    pub(crate) stopped: Option<String>,
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
    /// Nothing can be measured.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The journal cannot be written.
    #[error("cannot write the journal: {0}")]
    Journal(#[from] std::io::Error),
}

/// Searches within the budget, and chooses between the best. `state` is the folder of journals;
/// `lockfile` is read for what is known already.
pub(crate) fn run(
    job: &Job,
    state: &Path,
    lockfile: &Path,
    options: &SearchOptions,
) -> Result<Finished, SearchError> {
    let begin = Instant::now();
    let space = space(job, options.messages)?;
    let valid = space.count();
    let known = if options.warm_start {
        known(job, state, lockfile)
    } else {
        Known::default()
    };
    let journal = Journal::open(state, job, &options.strategy.name(), options.seed)?;
    let mut bench = Bench::new(job, options.seed, options.limit)?;
    let default = bench.default_codes().to_vec();
    let evaluations = options.budget.evaluations();
    let setting = Setting::new(space)
        .seed(options.seed)
        .budget(evaluations)
        .lessons(known.lessons);
    let mut search = Search::new(&options.strategy, &setting);
    search.start_with(&default);
    // A deadline that no clock can show is none.
    let deadline = options
        .budget
        .time()
        .and_then(|time| begin.checked_add(time));
    let total = total(evaluations, valid);
    let mut course = Course {
        job,
        search,
        stop_when_stagnant: options.stop_when_stagnant,
        default,
        journal,
        messages: options.messages,
        progress: Progress::new(&title(job), total, deadline, options.quiet),
        failures: Failures::new(),
    };
    course.progress.known(&known.places);
    options.messages.known(job, &known.places);
    let over = || interrupted() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let stopped = course.run(|codes, best_us| bench.measure(codes, best_us), over)?;
    let stagnant = !over() && stopped.is_none() && !course.search.is_done() && course.is_stagnant();
    let Course {
        search,
        progress,
        failures,
        ..
    } = course;
    progress.end();
    let results: Vec<_> = search
        .results()
        .filter_map(|(codes, score)| Some((codes.to_vec(), score.time()?)))
        .collect();
    let choice = if results.is_empty() {
        None
    } else {
        finalists::choose(&mut bench, &results)
    };
    let finished = Finished {
        choice,
        evaluated: search.evaluated() as u64,
        valid,
        failures,
        stagnant,
        stopped,
    };
    options
        .messages
        .finished(job, &finished, begin.elapsed().as_secs_f64());
    Ok(finished)
}

/// The space to search, which is not empty.
fn space(job: &Job, messages: Messages) -> Result<Arc<Space>, SearchError> {
    let model = &job.declaration.model;
    let spec = model.space_spec(&job.dims, &job.device.info().limits);
    let space = Space::build(&spec);
    messages.space(job, space.cartesian(), space.count());
    if space.count() == 0 {
        return Err(SearchError::Empty {
            explanation: space.explain().to_string(),
        });
    }
    Ok(Arc::new(space))
}

/// How many configurations will be measured, where a person may want to wait for them.
fn total(evaluations: Option<u64>, valid: u128) -> Option<u64> {
    match evaluations {
        Some(budget) => Some(u64::try_from(valid).map_or(budget, |valid| valid.min(budget))),
        None => u64::try_from(valid).ok().filter(|valid| *valid < 100_000),
    }
}

fn title(job: &Job) -> String {
    let model = &job.declaration.model;
    let problem = model.describe_problem(&job.dims);
    format!("{} on {} for {problem}", model.name, job.device.name)
}
