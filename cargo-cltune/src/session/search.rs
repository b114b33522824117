//! The search of one kernel, device and problem: from the space to the choice.

use super::evaluation::Evaluation;
use super::finalists::{self, Judge};
use super::journal::{Interrupted, Journal, Session};
use super::messages::Messages;
use super::pipeline::{Announce, EvaluationQueue, Pipeline, PipelineOptions};
use super::prior_results::{WarmStart, prior_results};
use super::progress::Block;
use super::result::{EntryCheck, Finished, SearchError, Stopped};
use super::search_loop::SearchLoop;
use super::space::space;
use super::stale::stale_entries;
use super::startup_budget::StartupDominated;
use super::stopwatch::Stopwatch;
use super::workers::{IdleWorkers, MeasurementWorker};
use crate::interrupt::interrupted;
use crate::oclgrind::{SoundnessCheck, Verdict};
use crate::plan::Job;
use crate::threads::lock;
use cltune_core::database::Database;
use cltune_core::select::default_codes;
use cltune_formats::lockfile::Lockfile;
use cltune_runtime::Budget;
use cltune_runtime::tuning::IdlePower;
use cltune_search::space::Space;
use cltune_search::{Chosen, Confidence, Search, Setting};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The options of a search.
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
    /// The database of template defaults, where searches start from what is known: from it, from
    /// other devices and problem sizes, and from other versions of the kernel.
    pub(crate) warm_start: Option<Arc<Database>>,
    /// The treatment of an earlier search that ended early.
    pub(crate) earlier: Earlier,
    /// How many processes may build at the same time.
    pub(crate) jobs: usize,
    /// The idle worker pool.
    pub(crate) idle: IdleWorkers,
    /// The power of each device while nothing runs on it, where energy is measured; by index.
    pub(crate) idle_powers: BTreeMap<usize, IdlePower>,
    /// Whether winners are run under a simulator.
    pub(crate) checks_winners: bool,
    pub(crate) messages: Messages,
}

impl SearchOptions {
    /// The power of a job's device while nothing runs on it, where the job measures energy.
    fn idle_power(&self, job: &Job) -> Option<&IdlePower> {
        let objective = job.declaration.measure.objective;
        let power = self.idle_powers.get(&job.device.index);
        power.filter(|_| objective.needs_energy())
    }
}

/// The treatment of an earlier search for the same kernel, device and problem that ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// Start over, and say that it could be resumed.
    Mention,
    /// Go on where it ended.
    Resume,
    /// Start over.
    Ignore,
}

/// Searches within the budget, and chooses between the best. `state` is the folder of journals;
/// `lockfile` has prior results, and `before` is that file as it was when the session began: the
/// session's first result for a kernel takes the place of all stale entries. `block` shows the
/// progress.
pub(crate) fn run(
    job: &Job,
    state: &Path,
    lockfile: &Path,
    before: &Lockfile,
    options: &SearchOptions,
    block: &mut Block,
) -> Result<Finished, SearchError> {
    let stopwatch = Stopwatch::start();
    let space = space(job, &options.constraints, options.fill_device)?;
    let valid = space.count();
    options.messages.space(job, space.cartesian(), valid);
    if valid == 0 {
        return Err(SearchError::Empty {
            explanation: space.explain().to_string().trim_end().to_owned(),
        });
    }
    options.strategy.check(&space)?;
    let prior = if let Some(database) = &options.warm_start {
        let stale = stale_entries(job, before, &space);
        let defaults = database.table(&job.declaration.model);
        prior_results(job, state, lockfile, &stale, &defaults)
    } else {
        WarmStart::default()
    };
    let mut ready = make_ready(job, state, options, space, prior, stopwatch, block)?;
    let end = ready.search()?;
    let finished = ready.choose(valid, end, options);
    options.messages.finished(job, &finished);
    Ok(finished)
}

/// A search that can begin.
struct Ready<'a> {
    search_loop: SearchLoop<'a>,
    pipeline: Pipeline,
    /// The results of an interrupted search that is resumed.
    left: Interrupted,
    /// The lockfile's entry, where it is in the space.
    own: Option<Vec<i64>>,
    /// What calls get from the lockfile's other entries, where it is in the space.
    selected: Option<Vec<i64>>,
    deadline: Option<Instant>,
    stopwatch: Arc<Stopwatch>,
}

/// The end of a search.
struct End {
    /// Before it was done, for this reason.
    stopped: Option<Stopped>,
    /// Because going on was not worth it.
    stagnant: bool,
    /// Because its time was up.
    out_of_time: bool,
}

/// Opens the journal, starts workers, and sets the strategy up with prior results.
fn make_ready<'a>(
    job: &'a Job,
    state: &Path,
    options: &SearchOptions,
    space: Arc<Space>,
    prior: WarmStart,
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
        Session {
            driver: job.device.driver.clone(),
            strategy: options.strategy.name(),
            seed: options.seed,
            resumed: options.earlier == Earlier::Resume,
            idle: options.idle_power(job).cloned(),
        },
    )?;
    let mut progress = block.search(job, total, deadline);
    if let Some(warning) = &opened.warning {
        progress.warn(warning);
    }
    for journal in &prior.left_out {
        progress.warn_once(&journal.warning());
    }
    let left = match options.earlier {
        Earlier::Resume => opened.interrupted,
        Earlier::Ignore => Interrupted::default(),
        Earlier::Mention => {
            progress.resumable(&opened.interrupted);
            Interrupted::default()
        }
    };
    progress.known(&prior.places);
    options.messages.known(job, &prior.places);
    let journal = Arc::new(Mutex::new(opened.journal));
    let pipeline_options = PipelineOptions {
        seed: options.seed,
        limit: options.limit,
        jobs: options.jobs,
        total,
        learns: options.strategy.learns(),
        idle: options.idle.clone(),
        metering: options.idle_power(job).map(IdlePower::period),
        stopwatch: Arc::clone(&stopwatch),
    };
    let announce = announce(job, &journal);
    let pipeline = Pipeline::new(job, &pipeline_options, announce, left.best_us());
    let limits = &job.device.info().limits;
    // Of a space that is not empty; where its first configuration is too hard to find, any will do.
    let default = default_codes(&job.declaration.model, &job.dims, limits).unwrap_or_default();
    let own = prior.own.filter(|codes| space.contains(codes));
    let selected = prior.selected.filter(|codes| space.contains(codes));
    let setting = Setting::new(space)
        .seed(options.seed)
        .budget(evaluations)
        .in_flight(pipeline.capacity())
        .first(&default)
        .prior_results(prior.results);
    let search = Search::new(&options.strategy, &setting);
    let mut search_loop =
        SearchLoop::new(job, search, default, journal, options.messages, progress);
    search_loop.stop_when_stagnant = options.stop_when_stagnant;
    Ok(Ready {
        search_loop,
        pipeline,
        left,
        own,
        selected,
        deadline,
        stopwatch,
    })
}

impl Ready<'_> {
    /// Measures until the budget is used up, or there is another reason to end.
    fn search(&mut self) -> Result<End, SearchError> {
        let (search_loop, pipeline) = (&mut self.search_loop, &mut self.pipeline);
        let deadline = self.deadline;
        let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let over = || interrupted() || late();
        let again = search_loop.resume(std::mem::take(&mut self.left))?;
        let mut stopped = search_loop.run(pipeline, over)?;
        let mut later = again;
        later.extend(search_loop.doubtful());
        // A search without time must not replace what calls get now by something that it never
        // compared with that.
        if late() {
            let selected = self.selected.take();
            later.extend(selected.and_then(|codes| search_loop.untried(codes)));
        }
        if stopped.is_none() && !interrupted() {
            stopped = search_loop.measure(later, pipeline)?;
        }
        let early = !over() && stopped.is_none() && !search_loop.search.is_done();
        let stagnant = early && search_loop.is_stagnant();
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
        let idle = &options.idle;
        let searched = self.stopwatch.elapsed();
        let devices = 1 + self.search_loop.job.twins.len();
        let device_lost = stopped.as_ref().is_some_and(|stopped| stopped.device_lost);
        let mut worker = self.pipeline.finish(idle).filter(|_| !device_lost);
        let steadiness = worker.as_ref().and_then(MeasurementWorker::steadiness);
        let mut search_loop = self.search_loop;
        search_loop.progress.comparing();
        let (default, results) = (search_loop.default.clone(), search_loop.costs());
        let objective = search_loop.job.declaration.measure.objective;
        let judge = worker.as_mut().map(|worker| -> &mut dyn Judge { worker });
        let mut soundness = None;
        let checks = options.checks_winners;
        let mut check = checks.then(|| SoundnessCheck::new(search_loop.job, searched));
        let sound = |codes: &[i64]| {
            soundness = check.as_mut().map(|check| check.judge(codes));
            match &soundness {
                Some(Verdict::Unsound(reason)) => Err(Evaluation::Unsound(reason.to_string())),
                _ => Ok(()),
            }
        };
        let mut unwritten = None;
        let choice = finalists::choose(
            judge,
            &default,
            objective,
            &results,
            sound,
            |codes, measured| {
                let written = search_loop.revise(codes, measured);
                unwritten = unwritten.take().or(written.err());
            },
        );
        if let Some(worker) = worker {
            worker.retire(idle);
        }
        if let (None, Some(error)) = (&stopped, unwritten) {
            stopped = Some(Stopped {
                reason: error.to_string(),
                device_lost: false,
            });
        }
        let entry = self
            .own
            .map_or(EntryCheck::Works, |own| match search_loop.works(&own) {
                Some(true) => EntryCheck::Works,
                Some(false) => EntryCheck::Fails,
                None => EntryCheck::Unmeasured,
            });
        let default_failed = search_loop.works(&default) == Some(false);
        search_loop.end(stopped.as_ref(), choice.as_ref());
        let evaluated = search_loop.evaluated();
        let simulating = check.map_or(Duration::ZERO, |check| check.took());
        let spent = self.stopwatch.spent(devices, searched, simulating);
        let cut = out_of_time && u128::from(evaluated) < valid;
        let budget = options.budget.time().filter(|_| cut);
        let startup =
            budget.and_then(|budget| StartupDominated::of(budget, spent.starting, evaluated));
        let chosen = choice.as_ref();
        let conversion_us = chosen.and_then(|choice| search_loop.conversion_us(&choice.codes));
        let idle_power = options.idle_power(search_loop.job).cloned();
        Finished {
            held_out_error: search_loop.search.held_out_error(),
            limitation: search_loop.search.limitation(),
            choice,
            default_failed,
            conversion_us,
            idle_power,
            evaluated,
            valid,
            failures: search_loop.failures,
            entry,
            stagnant,
            startup,
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
        let mut journal = lock(&journal);
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
