//! A kernel that is being tuned with the calls of the program: what the [explorer](super::explorer)
//! decides, done.

use super::account::Account;
use super::builder::{Builder, Message};
use super::check::{Check, Checked};
use super::explorer::{Codes, Explorer, Found, Turn};
use super::forecast::Forecast;
use super::online::{Ended, Start, Subject};
use super::pace::Pace;
use super::searching::Searching;
use super::spending::Spending;
use super::stopwatch::{Stopwatch, Timing};
use crate::cache::{Conditions, Progress, Store, Trial};
use crate::error::Result;
use crate::event::Event;
use crate::launch::{Arg, Prepared};
use crate::policy::Overhead;
use crate::queue::Queue;
use cltune_core::declaration::Declaration;
use cltune_core::lockfile::Measured;
use cltune_core::model::{Access, ArgumentKind};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct Exploring {
    explorer: Explorer,
    builder: Builder,
    declaration: Declaration,
    valid: u128,
    strategy: String,
    prepared: HashMap<Codes, Arc<Prepared>>,
    stopwatch: Stopwatch,
    /// What building costs the calls.
    pace: Pace,
    /// When exploring began, and how long after that the call under way came, microseconds.
    begin: Instant,
    now_us: f64,
    /// The call that is being timed.
    timing: Option<(Codes, Timing)>,
    trial: Option<Trial>,
    /// What the next run of the program will know; `None` where nothing is kept on disk.
    progress: Option<Progress>,
}

impl Exploring {
    /// Goes on with what an earlier run of the program tried.
    pub(super) fn new(
        subject: &Subject,
        start: Start,
        searching: Searching,
        forecast: Forecast,
        queue: &Queue,
    ) -> Self {
        let info = queue.device().info();
        let strategy = searching.search.name().to_owned();
        let spending = Spending::new(Account::new(subject.overhead), forecast);
        let default = subject.default.clone();
        let mut explorer = Explorer::new(searching.search, default, spending);
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
                explorer.go_on(earlier);
                Some(progress)
            }
            Some(Err(reason)) => {
                tracing::warn!(%reason, "the next run of this program will tune from the beginning");
                None
            }
            None => None,
        };
        Self {
            explorer,
            builder: start.builder,
            declaration: searching.declaration,
            valid: searching.valid,
            strategy,
            prepared: HashMap::new(),
            stopwatch: Stopwatch::default(),
            pace: Pace::default(),
            begin: Instant::now(),
            now_us: 0.0,
            timing: None,
            trial: start.trial,
            progress,
        }
    }

    /// Something was done beside the calls. That has cost them no more than the time it took.
    pub(super) fn has_cost(&mut self, took: Duration) {
        self.explorer.extra(microseconds(took));
    }

    /// What it is doing, for people.
    pub(super) fn describe(&self, subject: &Subject) -> String {
        let usual = self.explorer.usual().unwrap_or(&subject.default);
        let best = subject.tunable.model().describe(usual);
        let evaluated = self.explorer.evaluated();
        format!("tuning with the program's calls: {evaluated} tried, best so far {best}")
    }

    /// Takes in what has ended meanwhile. Returns how tuning ended, if it has.
    pub(super) fn advance(&mut self, subject: &Subject, queue: &Queue) -> Option<Ended> {
        self.now_us = microseconds(self.begin.elapsed());
        self.pace.call(self.now_us);
        if !self.take_time(subject) {
            return Some(Ended::Found(None));
        }
        self.take_builds(subject);
        if let Some(usual_us) = self.explorer.usual_us() {
            self.pace.usual(usual_us);
        }
        self.order();
        self.keep(subject);
        let found = self.explorer.found()?;
        Some(self.end(subject, queue, found))
    }

    /// Takes in how long the last timed call took, once that is known. `false` where calls cannot be
    /// timed.
    fn take_time(&mut self, subject: &Subject) -> bool {
        let Some((codes, timing)) = self.timing.take() else {
            return true;
        };
        match timing.ended() {
            Ok(Some(time_us)) => self.explorer.took(&codes, time_us),
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

    /// Takes in what has been built, and what that has cost.
    fn take_builds(&mut self, subject: &Subject) {
        while let Some(message) = self.builder.message() {
            let Message::Built(codes, built, took) = message else {
                continue;
            };
            self.pay(took);
            match *built {
                Ok(prepared) => {
                    self.prepared.insert(codes.clone(), Arc::new(prepared));
                    self.explorer.built(codes);
                }
                Err(reason) => {
                    let configuration = subject.tunable.model().describe(&codes);
                    tracing::debug!(%configuration, %reason, "a configuration does not build");
                    self.explorer.not_built(&codes);
                }
            }
        }
    }

    /// Says and keeps what was found.
    fn end(&mut self, subject: &Subject, queue: &Queue, found: Found) -> Ended {
        let (model, info) = (subject.tunable.model(), queue.device().info());
        tracing::info!(
            kernel = %model.name,
            device = %queue.device(),
            problem = %model.describe_problem(&subject.dims),
            configuration = %model.describe(&found.codes),
            time_us = found.time_us,
            default_us = found.default_us,
            evaluated = found.evaluated,
            "tuned"
        );
        if let Some(too_dear) = self.explorer.too_dear() {
            subject.warn_too_dear(too_dear);
            if matches!(subject.overhead, Overhead::Fraction { .. })
                && found.codes == subject.default
            {
                // Nothing was found out that the next run should believe.
                return Ended::Found(None);
            }
        }
        let measured = Measured {
            dims: subject.dims.to_vec(),
            codes: found.codes.to_vec(),
            time_us: found.time_us,
            default_us: Some(found.default_us),
            evaluated: found.evaluated,
            valid: self.valid,
            strategy: self.strategy.clone(),
            verification: None,
        };
        Store::of_user().add_result(model, info, &measured);
        if let Some(progress) = self.progress.take() {
            progress.remove();
        }
        let prepared = self.prepared.remove(&found.codes);
        Ended::Found(prepared.map(|prepared| (found.codes, prepared)))
    }

    /// What a build that took so long has cost the calls.
    fn pay(&mut self, took: Duration) {
        let cost_us = self.pace.cost(microseconds(took));
        self.explorer.build_cost(cost_us);
    }

    /// Orders what is to be built, once it will be known what that costs, and not while a call is timed.
    fn order(&mut self) {
        if !self.pace.is_known() || self.timing.is_some() {
            return;
        }
        while let Some(codes) = self.explorer.wants() {
            self.builder.order(codes);
        }
    }

    /// Keeps what was tried for the next run.
    fn keep(&mut self, subject: &Subject) {
        for tried in self.explorer.take_tried() {
            let model = subject.tunable.model();
            if let Some(progress) = &mut self.progress
                && let Err(reason) = progress.add(model, &tried)
            {
                tracing::warn!(%reason, "what was tried cannot be kept in cltune's cache");
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
        // While a call is being timed, the others are not.
        let turn = match self.timing {
            Some(_) => Turn::Usual,
            None => self.explorer.turn(),
        };
        match turn {
            Turn::Usual => {
                let is_building = self.explorer.is_building();
                self.pace.is_ordinary(self.now_us, is_building);
                self.usual(subject, queue, args)
            }
            Turn::Timed(codes) => self.timed(subject, &codes, queue, args),
            Turn::Fresh(codes) => {
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

    /// With the best so far.
    fn usual(&mut self, subject: &Subject, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        self.explorer.served();
        let usual = self.explorer.usual().cloned();
        let best = usual.and_then(|codes| Some((self.prepared.get(&codes)?.clone(), codes)));
        let Some((prepared, codes)) = best else {
            return subject.launch(queue, args);
        };
        match prepared.launch(subject.tunable.model(), queue, args) {
            Ok(event) => Ok(event),
            Err(reason) => {
                self.failed(subject, &codes, &reason.to_string());
                subject.launch(queue, args)
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
        let launched = self.stopwatch.launch(&prepared, model, queue, args);
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
                subject.launch(queue, args)
            }
        }
    }

    /// With a configuration that has never run. This call waits for it, so that one that fails on the
    /// device is followed by the default, unless it may have changed what the default would read.
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
        if reads_what_it_writes(&self.declaration) {
            return Err(reason);
        }
        subject.launch(queue, args)
    }

    /// Tries a configuration that has never run on copies; the call itself has the usual one.
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
        match check.run(&mut self.stopwatch, &subject.prepared, &candidate) {
            Ok(Checked::Right(time_us)) => {
                let cost_us = microseconds(begin.elapsed());
                self.explorer.tried(codes, time_us, cost_us);
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
        self.usual(subject, queue, args)
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
        self.explorer.failed(codes);
        self.prepared.remove(codes);
    }

    /// Notes what is about to be tried.
    fn note(&mut self, subject: &Subject, codes: &[i64]) {
        if let Some(trial) = &mut self.trial
            && let Err(reason) = trial.note_codes(subject.tunable.model(), &subject.dims, codes)
        {
            tracing::warn!(%reason, "what is being tried cannot be noted in cltune's cache");
            self.trial = None;
        }
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn reads_what_it_writes(declaration: &Declaration) -> bool {
    let mut arguments = declaration.model.arguments.iter();
    arguments.any(|argument| {
        matches!(&argument.kind, ArgumentKind::Buffer { access, .. } if *access == Access::ReadWrite)
    })
}
