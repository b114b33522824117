//! An on-line search under way: the decisions of the [exploration
//! policy](super::exploration_policy), carried out with the calls of the program.

use super::background_builder::{BackgroundBuilder, Message};
use super::check::{Check, Checked};
use super::exploration_policy::{Codes, ExplorationPolicy, NextCall, TuningResult};
use super::launch_timer::{LaunchTimer, Timing};
use super::overhead::{BuildCost, CostForecast, OverBudget, OverheadBudget};
use super::search::PreparedSearch;
use crate::cache::{Conditions, Progress, Store, Trial};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::kernel::{Arg, Prepared, ProgramBuilder, Tunable};
use crate::policy::Overhead;
use crate::queue::Queue;
use cltune_core::measure::Measure;
use cltune_formats::declaration::Declaration;
use cltune_formats::lockfile::Measured;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A kernel, a problem, and what serves calls without tuning.
pub(crate) struct Subject {
    pub(crate) tunable: &'static Tunable,
    pub(crate) dims: Box<[i64]>,
    /// The configuration that would run without tuning, by its codes and built.
    pub(crate) default: Codes,
    pub(crate) prepared: Arc<Prepared>,
    /// For building other configurations.
    pub(crate) programs: ProgramBuilder,
    pub(crate) overhead: Overhead,
    pub(crate) check: bool,
}

/// The end of tuning.
#[derive(Debug)]
pub(crate) enum Ended {
    /// This configuration is to be used from now on.
    Use(Codes, Arc<Prepared>),
    /// Another program has tuned, and its result is in the cache now.
    SelectAgain,
}

/// A search that is being made.
pub(super) struct Start {
    pub(super) builder: BackgroundBuilder,
    pub(super) trial: Option<Trial>,
}

/// A kernel that is being tuned with the calls of the program.
pub(super) struct Exploration {
    policy: ExplorationPolicy,
    builder: BackgroundBuilder,
    declaration: Declaration,
    valid: u128,
    strategy: String,
    prepared: HashMap<Codes, Arc<Prepared>>,
    timer: LaunchTimer,
    build_cost: BuildCost,
    /// The begin of the search, and the time from then to the call under way, microseconds.
    begin: Instant,
    now_us: f64,
    /// The call that is being timed.
    timing: Option<(Codes, Timing)>,
    trial: Option<Trial>,
    /// Trials kept for the next run of the program; `None` where nothing is kept on disk.
    progress: Option<Progress>,
}

impl Exploration {
    /// Continues after the trials of an earlier run of the program.
    pub(super) fn new(
        subject: &Subject,
        start: Start,
        search: PreparedSearch,
        forecast: CostForecast,
        queue: &Queue,
    ) -> Self {
        let info = queue.device().info();
        let strategy = search.search.name().to_owned();
        let budget = OverheadBudget::new(subject.overhead, forecast);
        let default = subject.default.clone();
        let mut policy = ExplorationPolicy::new(search.search, default, budget);
        let conditions = Conditions {
            model: subject.tunable.model(),
            info,
            dims: &subject.dims,
            default: &subject.default,
            checked: subject.check,
        };
        let trial = start.trial.as_ref();
        let progress = trial.map(|trial| Progress::go_on(trial, &conditions));
        let progress = match progress {
            Some(Ok((progress, earlier))) => {
                policy.resume(earlier);
                Some(progress)
            }
            Some(Err(reason)) => {
                tracing::warn!(%reason, "the next run of this program will tune from the beginning");
                None
            }
            None => None,
        };
        Self {
            policy,
            builder: start.builder,
            declaration: search.declaration,
            valid: search.valid,
            strategy,
            prepared: HashMap::new(),
            timer: LaunchTimer::default(),
            build_cost: BuildCost::default(),
            begin: Instant::now(),
            now_us: 0.0,
            timing: None,
            trial: start.trial,
            progress,
        }
    }

    /// Something was done beside the calls. That has cost them no more than the time it took.
    pub(super) fn has_cost(&mut self, took: Duration) {
        self.policy.extra(microseconds(took));
    }

    /// The state of the search, for people.
    pub(super) fn describe(&self, subject: &Subject) -> String {
        let incumbent = self.policy.incumbent().unwrap_or(&subject.default);
        let best = subject.tunable.model().describe(incumbent);
        let evaluated = self.policy.evaluated();
        format!("tuning with the program's calls: {evaluated} tried, best so far {best}")
    }

    /// Takes in what has ended meanwhile. Returns the end of tuning, if it has ended.
    pub(super) fn advance(&mut self, subject: &Subject, queue: &Queue) -> Option<Ended> {
        self.now_us = microseconds(self.begin.elapsed());
        self.build_cost.call(self.now_us);
        if !self.take_time(subject) {
            return Some(subject.with_default());
        }
        self.take_builds(subject);
        if let Some(time_us) = self.policy.incumbent_us() {
            self.build_cost.incumbent(time_us);
        }
        self.order();
        self.keep(subject);
        let result = self.policy.result()?;
        Some(self.end(subject, queue, result))
    }

    /// Takes in how long the last timed call took, once that is known. `false` where calls cannot
    /// be timed.
    fn take_time(&mut self, subject: &Subject) -> bool {
        let Some((codes, timing)) = self.timing.take() else {
            return true;
        };
        match timing.ended() {
            Ok(Some(time_us)) => self.policy.took(&codes, time_us),
            Ok(None) => self.timing = Some((codes, timing)),
            Err(reason) if codes == subject.default => {
                let kernel = &subject.tunable.model().name;
                tracing::warn!(%kernel, %reason, "not tuned: calls cannot be timed");
                return false;
            }
            Err(reason) => self.failed(subject, &codes, &reason.to_string()),
        }
        true
    }

    /// Takes in the configurations that were built, and the cost of building them.
    fn take_builds(&mut self, subject: &Subject) {
        while let Some(message) = self.builder.message() {
            let Message::Built(codes, built, took) = message else {
                continue;
            };
            self.pay(took);
            match *built {
                Ok(prepared) => {
                    self.prepared.insert(codes.clone(), Arc::new(prepared));
                    self.policy.built(codes);
                }
                Err(reason) => {
                    let configuration = subject.tunable.model().describe(&codes);
                    tracing::debug!(%configuration, %reason, "a configuration does not build");
                    self.policy.not_built(&codes);
                }
            }
        }
    }

    /// Reports and keeps the result.
    fn end(&mut self, subject: &Subject, queue: &Queue, result: TuningResult) -> Ended {
        let (model, info) = (subject.tunable.model(), queue.device().info());
        tracing::info!(
            kernel = %model.name,
            device = %queue.device(),
            problem = %model.describe_problem(&subject.dims),
            configuration = %model.describe(&result.codes),
            time_us = result.time_us,
            default_us = result.default_us,
            evaluated = result.evaluated,
            "tuned"
        );
        if let Some(over_budget) = self.policy.over_budget() {
            subject.warn_over_budget(over_budget);
            if matches!(subject.overhead, Overhead::Fraction { .. })
                && result.codes == subject.default
            {
                // There is no result that the next run should rely on.
                return subject.with_default();
            }
        }
        let measured = Measured {
            dims: subject.dims.to_vec(),
            codes: result.codes.to_vec(),
            time_us: result.time_us,
            default_us: Some(result.default_us),
            evaluated: result.evaluated,
            valid: self.valid,
            strategy: self.strategy.clone(),
            verification: None,
            // The program's own calls, which find what the program left in the caches.
            measure: Measure::WARM,
            energy_j: None,
            default_energy_j: None,
        };
        Store::of_user().add_result(model, info, &measured);
        if let Some(progress) = self.progress.take() {
            progress.remove();
        }
        let prepared = self.prepared.remove(&result.codes);
        match prepared {
            Some(prepared) => Ended::Use(result.codes, prepared),
            None => subject.with_default(),
        }
    }

    /// Takes the cost of a build from the budget.
    fn pay(&mut self, took: Duration) {
        let cost_us = self.build_cost.take(microseconds(took));
        self.policy.build_cost(cost_us);
    }

    /// Orders builds, once their cost can be measured, and not while a call is timed.
    fn order(&mut self) {
        if !self.build_cost.is_known() || self.timing.is_some() {
            return;
        }
        while let Some(codes) = self.policy.next_to_build() {
            self.builder.order(codes);
        }
    }

    /// Keeps the trials for the next run.
    fn keep(&mut self, subject: &Subject) {
        for tried in self.policy.take_tried() {
            let model = subject.tunable.model();
            if let Some(progress) = &mut self.progress
                && let Err(reason) = progress.add(model, &tried)
            {
                tracing::warn!(%reason, "the trials cannot be kept in cltune's cache");
                self.progress = None;
            }
        }
    }

    pub(super) fn launch(
        &mut self,
        subject: &Subject,
        queue: &Queue,
        args: &[Arg<'_>],
    ) -> Result<Event> {
        // One call is timed at a time.
        let next = match self.timing {
            Some(_) => NextCall::Incumbent,
            None => self.policy.next_call(),
        };
        match next {
            NextCall::Incumbent => {
                let is_building = self.policy.is_building();
                self.build_cost.is_ordinary(self.now_us, is_building);
                self.with_incumbent(subject, queue, args)
            }
            NextCall::Timed(codes) => self.timed(subject, &codes, queue, args),
            NextCall::Fresh(codes) => {
                self.note(subject, &codes);
                let begin = Instant::now();
                let result = if subject.check {
                    self.checked(subject, &codes, queue, args, begin)
                } else {
                    self.first(subject, &codes, queue, args)
                };
                if let Some(trial) = &mut self.trial {
                    trial.settle();
                }
                result
            }
        }
    }

    /// With the incumbent.
    fn with_incumbent(
        &mut self,
        subject: &Subject,
        queue: &Queue,
        args: &[Arg<'_>],
    ) -> Result<Event> {
        self.policy.served();
        let incumbent = self.policy.incumbent().cloned();
        let best = incumbent.and_then(|codes| Some((self.prepared.get(&codes)?.clone(), codes)));
        let Some((prepared, codes)) = best else {
            return subject.launch(queue, args);
        };
        match prepared.launch(subject.tunable.model(), queue, args) {
            Ok(event) => Ok(event),
            Err(reason) => {
                self.failed(subject, &codes, &reason.to_string());
                subject.launch_instead(reason, queue, args)
            }
        }
    }

    /// With a configuration that has run before, whose time will be known later.
    fn timed(
        &mut self,
        subject: &Subject,
        codes: &Codes,
        queue: &Queue,
        args: &[Arg<'_>],
    ) -> Result<Event> {
        let prepared = self.built(subject, codes);
        let model = subject.tunable.model();
        let begin = Instant::now();
        let launched = self.timer.launch(&prepared, model, queue, args);
        // Beside a queue without profiling that is more than an ordinary launch.
        self.has_cost(begin.elapsed());
        match launched {
            Ok((event, timing)) => {
                self.timing = Some((codes.clone(), timing));
                Ok(event)
            }
            Err(reason) if *codes == subject.default => Err(reason),
            Err(reason) => {
                self.failed(subject, codes, &reason.to_string());
                subject.launch_instead(reason, queue, args)
            }
        }
    }

    /// With a configuration that has never run. This call waits for it, so that one that fails on
    /// the device is followed by the default, unless it may have changed what the default would
    /// read.
    fn first(
        &mut self,
        subject: &Subject,
        codes: &Codes,
        queue: &Queue,
        args: &[Arg<'_>],
    ) -> Result<Event> {
        let event = self.timed(subject, codes, queue, args)?;
        let failure = match &self.timing {
            Some((_, timing)) => timing.wait().err(),
            None => None,
        };
        let Some(reason) = failure else {
            return Ok(event);
        };
        self.timing = None;
        self.failed(subject, codes, &reason.to_string());
        if self.declaration.model.reads_what_it_writes() {
            return Err(reason);
        }
        subject.launch(queue, args)
    }

    /// Tries a configuration that has never run on copies; the call itself has the incumbent.
    fn checked(
        &mut self,
        subject: &Subject,
        codes: &Codes,
        queue: &Queue,
        args: &[Arg<'_>],
        begin: Instant,
    ) -> Result<Event> {
        let candidate = self.built(subject, codes);
        let check = Check {
            queue,
            declaration: &self.declaration,
            dims: &subject.dims,
            default: &subject.default,
            args,
        };
        match check.run(&mut self.timer, &subject.prepared, &candidate) {
            Ok(Checked::Right(time_us)) => {
                let cost_us = microseconds(begin.elapsed());
                self.policy.tried(codes, time_us, cost_us);
            }
            Ok(Checked::Wrong(reason)) => {
                self.has_cost(begin.elapsed());
                self.failed(subject, codes, &reason);
            }
            Err(reason) => {
                self.has_cost(begin.elapsed());
                self.failed(subject, codes, &format!("not checked: {reason}"));
            }
        }
        self.with_incumbent(subject, queue, args)
    }

    fn built(&self, subject: &Subject, codes: &Codes) -> Arc<Prepared> {
        let built = self.prepared.get(codes).unwrap_or(&subject.prepared);
        Arc::clone(built)
    }

    fn failed(&mut self, subject: &Subject, codes: &[i64], reason: &str) {
        let model = subject.tunable.model();
        tracing::warn!(
            kernel = %model.name,
            configuration = %model.describe(codes),
            %reason,
            "a configuration is left out"
        );
        self.policy.failed(codes);
        self.prepared.remove(codes);
    }

    /// Notes the configuration that is about to be tried.
    fn note(&mut self, subject: &Subject, codes: &[i64]) {
        if let Some(trial) = &mut self.trial
            && let Err(reason) = trial.note_codes(subject.tunable.model(), &subject.dims, codes)
        {
            tracing::warn!(%reason, "the configuration under trial cannot be noted in cltune's cache");
            self.trial = None;
        }
    }
}

impl Subject {
    /// Launches the default.
    pub(super) fn launch(&self, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        self.prepared.launch(self.tunable.model(), queue, args)
    }

    /// Launches the default after another configuration failed, unless that has begun and may have
    /// changed what the default would read.
    fn launch_instead(&self, reason: Error, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        let has_begun = matches!(reason, Error::PartlyLaunched { .. });
        if has_begun && self.tunable.model().reads_what_it_writes() {
            return Err(reason);
        }
        self.launch(queue, args)
    }

    /// The end of tuning that leaves the default.
    pub(super) fn with_default(&self) -> Ended {
        Ended::Use(self.default.clone(), Arc::clone(&self.prepared))
    }

    /// Warns about a step that the budget never allows, and names the window that would allow it.
    pub(super) fn warn_over_budget(&self, over_budget: OverBudget) {
        let Overhead::Fraction { window, .. } = self.overhead else {
            // The time is spent, as intended.
            return;
        };
        let seconds = (window.as_secs_f64() * over_budget.factor()).ceil();
        tracing::warn!(
            kernel = %self.tunable.model().name,
            step = over_budget.step,
            expected_us = over_budget.expected_us,
            allowed_us = over_budget.allowed_us,
            "not tuned further within this overhead; `window={seconds}s` would allow it"
        );
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
