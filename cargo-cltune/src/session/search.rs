//! The search of one kernel, device and problem.

use super::bench::{Bench, BenchError, Measured};
use super::budget::Budget;
use super::finalists::{self, Choice};
use super::guard::interrupted;
use super::journal::{Journal, Line, json_values};
use super::messages::Messages;
use super::plan::Job;
use super::progress::Progress;
use cltune_core::space::Space;
use cltune_runtime::search::{Entry, Score, Search, Setting, Step};
use cltune_runtime::tuning::Outcome;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How to search.
#[derive(Clone, Debug)]
pub(crate) struct SearchOptions {
    pub(crate) strategy: &'static Entry,
    pub(crate) budget: Budget,
    pub(crate) seed: u64,
    /// The least time limit of one configuration.
    pub(crate) limit: Duration,
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
    /// How many configurations failed, by status, and the first reason of each.
    pub(crate) failures: BTreeMap<&'static str, (u64, String)>,
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

/// Searches within the budget, and chooses between the best.
pub(crate) fn run(
    job: &Job,
    state: &Path,
    options: &SearchOptions,
) -> Result<Finished, SearchError> {
    let begin = Instant::now();
    let model = &job.declaration.model;
    let spec = model.space_spec(&job.dims, &job.device.info().limits);
    let space = Arc::new(Space::build(&spec));
    let valid = space.count();
    options.messages.space(job, space.cartesian(), valid);
    if valid == 0 {
        return Err(SearchError::Empty {
            explanation: space.explain().to_string(),
        });
    }
    let mut journal = Journal::open(state, job, options.strategy.name, options.seed)?;
    let mut bench = Bench::new(job, options.seed, options.limit)?;
    let evaluations = options.budget.evaluations();
    let mut search = Search::new(
        options.strategy,
        &Setting::new(space).seed(options.seed).budget(evaluations),
    );
    search.start_with(bench.default_codes());
    let total = evaluations
        .map_or(valid, |budget| valid.min(u128::from(budget)))
        .try_into()
        .ok()
        .filter(|_| evaluations.is_some() || valid < 100_000);
    let title = format!("{} on {} for {}", model.name, job.device.name, problem(job));
    let deadline = match options.budget {
        Budget::Time(time) => Some(begin + time),
        Budget::Evaluations(_) => None,
    };
    let mut progress = Progress::new(&title, total, deadline, options.quiet);
    let mut failures: BTreeMap<&'static str, (u64, String)> = BTreeMap::new();
    let mut results: Vec<(Vec<i64>, f64)> = Vec::new();
    let mut best_us: Option<f64> = None;
    let mut evaluated = 0;
    let mut stopped = None;
    let over = |evaluated: u64| {
        interrupted()
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || evaluations.is_some_and(|budget| evaluated >= budget)
    };
    while !over(evaluated) {
        let Step::Measure(codes) = search.step() else {
            break;
        };
        let measured = match bench.measure(&codes, best_us) {
            Ok(measured) => measured,
            Err(error) if results.is_empty() => return Err(error.into()),
            Err(error) => {
                stopped = Some(error.to_string());
                break;
            }
        };
        let result = Record::of(&measured);
        evaluated += 1;
        journal.line(&Line {
            values: json_values(job, &codes),
            status: result.status,
            time_us: result.time_us,
            samples_us: result.samples_us,
            build_seconds: result.build_seconds,
            detail: result.detail.as_deref(),
        })?;
        options.messages.configuration(
            job,
            &codes,
            result.status,
            result.time_us,
            result.samples_us.map_or(0, <[f64]>::len),
            result.detail.as_deref(),
        );
        search.tell(&codes, Score::of(result.time_us));
        if codes == bench.default_codes() {
            progress.default(result.time_us);
        }
        progress.step(result.time_us, || job.configuration(&codes));
        if let Some(detail) = result.detail {
            let entry = failures
                .entry(result.status)
                .or_insert_with(|| (0, format!("{}: {detail}", job.configuration(&codes))));
            entry.0 += 1;
        }
        if let Some(time_us) = result.time_us {
            if best_us.is_none_or(|best| time_us < best) {
                best_us = Some(time_us);
                options.messages.best(job, &codes, time_us);
            }
            results.push((codes, time_us));
        }
    }
    progress.end();
    let choice = if results.is_empty() {
        None
    } else {
        finalists::choose(&mut bench, &results)
    };
    let seconds = begin.elapsed().as_secs_f64();
    if let Some(choice) = &choice {
        let failed = failures.values().map(|(count, _)| count).sum();
        options.messages.finished(
            job,
            &choice.codes,
            choice.time_us,
            choice.default_us,
            evaluated,
            failed,
            seconds,
        );
    }
    Ok(Finished {
        choice,
        evaluated,
        valid,
        failures,
        stopped,
    })
}

/// `n = 1024`, or words for a kernel without dimensions.
fn problem(job: &Job) -> String {
    let text = job.problem();
    if text.is_empty() {
        "its only problem".into()
    } else {
        text
    }
}

/// A measured configuration as the journal and the messages have it.
struct Record<'a> {
    status: &'static str,
    time_us: Option<f64>,
    samples_us: Option<&'a [f64]>,
    build_seconds: Option<f64>,
    /// Why it failed.
    detail: Option<String>,
}

impl<'a> Record<'a> {
    fn of(measured: &'a Measured) -> Self {
        let failed = |status, detail: &str| Self {
            status,
            time_us: None,
            samples_us: None,
            build_seconds: None,
            detail: Some(detail.to_string()),
        };
        match measured {
            Measured::Outcome(Outcome::Ok(measurement)) => Self {
                status: "ok",
                time_us: Some(measurement.time_us),
                samples_us: Some(&measurement.samples_us),
                build_seconds: Some(measurement.build_seconds),
                detail: None,
            },
            Measured::Outcome(Outcome::BuildFailed { log }) => failed("build-failed", log),
            Measured::Outcome(Outcome::LaunchFailed { error }) => failed("launch-failed", error),
            Measured::Outcome(Outcome::WrongResult(wrong)) => {
                failed("wrong-result", &wrong.to_string())
            }
            Measured::TimedOut(reason) => failed("timed-out", reason),
            Measured::Crashed(reason) => failed("crashed", reason),
        }
    }
}
