//! Tuning with the calls of the program: what the [explorer](super::explorer) decides, done.

use super::account::Account;
use super::builder::{Builder, Job, Message};
use super::check::{Check, Checked};
use super::explorer::{Codes, Explorer, Turn};
use super::searching::Searching;
use super::stopwatch::{Stopwatch, Timing};
use crate::cache::{Leave, Store, Trial};
use crate::error::Result;
use crate::event::Event;
use crate::launch::{Arg, Prepared, Tunable};
use crate::policy::Overhead;
use crate::queue::Queue;
use cltune_core::declaration::Declaration;
use cltune_core::device::{DeviceInfo, DeviceType};
use cltune_core::lockfile::Measured;
use cltune_core::model::{Access, ArgumentKind};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// So many configurations are built, or being built, beside the one that is tried; one where building
/// disturbs.
const AHEAD: usize = 2;

/// How often to look whether another program that tunes the same has ended.
const LOOK: Duration = Duration::from_secs(1);

/// What is tuned with the calls of the program.
pub(crate) struct Subject {
    pub(crate) tunable: &'static Tunable,
    pub(crate) dims: Box<[i64]>,
    /// What would run without tuning, by codes and built.
    pub(crate) default: Codes,
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) overhead: Overhead,
    pub(crate) check: bool,
}

/// A kernel that is being tuned for a problem. Threads that call at the same time are served by the
/// default: nobody waits for anybody.
pub(crate) struct Online {
    subject: Subject,
    phase: Mutex<Phase>,
}

/// How tuning ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// This configuration is to be used from now on; `None`: the default.
    Found(Option<(Codes, Arc<Prepared>)>),
    /// Another program found something, which is in the cache now.
    Elsewhere,
}

enum Phase {
    /// Nothing has begun; or another program tunes it, and this is when to look again.
    Waiting(Option<Instant>),
    /// The search is being made.
    Starting(Box<Start>),
    Exploring(Box<Exploring>),
    Ended(Option<Ended>),
}

struct Start {
    builder: Builder,
    trial: Option<Trial>,
}

struct Exploring {
    explorer: Explorer,
    builder: Builder,
    declaration: Declaration,
    valid: u128,
    strategy: String,
    prepared: HashMap<Codes, Arc<Prepared>>,
    stopwatch: Stopwatch,
    /// By which part of its own time building slows calls down.
    disturbance: f64,
    /// The call that is being timed.
    timing: Option<(Codes, Timing)>,
    trial: Option<Trial>,
}

impl Online {
    /// Nothing has happened yet: the first call begins.
    pub(crate) fn new(subject: Subject) -> Self {
        Self {
            subject,
            phase: Mutex::new(Phase::Waiting(None)),
        }
    }

    /// Launches with one configuration or another.
    pub(crate) fn launch(&self, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        let subject = &self.subject;
        let mut phase = match self.phase.try_lock() {
            Ok(phase) => phase,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return subject.launch(queue, args),
        };
        subject.advance(&mut phase, queue);
        match &mut *phase {
            Phase::Exploring(exploring) => exploring.launch(subject, queue, args),
            _ => subject.launch(queue, args),
        }
    }

    /// How it ended, once.
    pub(crate) fn take_ended(&self) -> Option<Ended> {
        let mut phase = self.phase.try_lock().ok()?;
        match &mut *phase {
            Phase::Ended(ended) => ended.take(),
            _ => None,
        }
    }

    /// What it is doing, for people.
    pub(crate) fn describe(&self) -> String {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        match &*phase {
            Phase::Waiting(None) => "not called yet".to_owned(),
            Phase::Waiting(Some(_)) => "another program tunes it".to_owned(),
            Phase::Starting(_) => "tuning begins".to_owned(),
            Phase::Exploring(exploring) => {
                let usual = exploring.explorer.usual().unwrap_or(&self.subject.default);
                let best = self.subject.tunable.model().describe(usual);
                let evaluated = exploring.explorer.evaluated();
                format!("tuning with the program's calls: {evaluated} tried, best so far {best}")
            }
            Phase::Ended(_) => "tuned".to_owned(),
        }
    }
}

impl Subject {
    fn launch(&self, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        self.prepared.launch(self.tunable.model(), queue, args)
    }

    /// Goes on to the next phase where that is possible without waiting.
    fn advance(&self, phase: &mut Phase, queue: &Queue) {
        let next = match phase {
            Phase::Waiting(None) => self.begin(queue, false),
            Phase::Waiting(Some(look)) if Instant::now() >= *look => self.begin(queue, true),
            Phase::Starting(start) => match start.builder.message() {
                Some(Message::Search(searching)) => {
                    let Phase::Starting(start) = std::mem::replace(phase, Phase::Ended(None))
                    else {
                        return;
                    };
                    Phase::Exploring(Box::new(self.explore(*start, *searching, queue)))
                }
                Some(Message::Untuned(reason)) => self.give_up(&reason.to_string()),
                Some(Message::Built(..)) | None => return,
            },
            Phase::Exploring(exploring) => match exploring.advance(self, queue) {
                Some(ended) => Phase::Ended(Some(ended)),
                None => return,
            },
            Phase::Waiting(_) | Phase::Ended(_) => return,
        };
        *phase = next;
    }

    /// Begins to tune. After another program has, what it found is in the cache.
    fn begin(&self, queue: &Queue, after_another: bool) -> Phase {
        let (model, info) = (self.tunable.model(), queue.device().info());
        let store = Store::of_user();
        let leave = store.leave(model, info, &self.dims, Duration::ZERO);
        let trial = match leave {
            Ok(Leave::Given(trial)) => trial,
            Ok(Leave::OtherProgram) => return Phase::Waiting(Some(Instant::now() + LOOK)),
            Err(reason) => return self.give_up(&reason.to_string()),
        };
        if after_another {
            let known = store.known_by_now(model, info);
            let mut results = known.table.results.iter();
            if results.any(|result| *result.problem == *self.dims) {
                return Phase::Ended(Some(Ended::Elsewhere));
            }
        }
        let job = Job {
            tunable: self.tunable,
            dims: self.dims.clone(),
            default: self.default.clone(),
        };
        match Builder::start(queue.context(), job) {
            Ok(builder) => Phase::Starting(Box::new(Start { builder, trial })),
            Err(reason) => self.give_up(&reason.to_string()),
        }
    }

    fn explore(&self, start: Start, searching: Searching, queue: &Queue) -> Exploring {
        let strategy = searching.search.name().to_owned();
        let account = Account::new(self.overhead);
        let disturbance = disturbance(queue.device().info());
        let ahead = if disturbance > 0.0 { 1 } else { AHEAD };
        Exploring {
            explorer: Explorer::new(searching.search, self.default.clone(), account, ahead),
            disturbance,
            builder: start.builder,
            declaration: searching.declaration,
            valid: searching.valid,
            strategy,
            prepared: HashMap::new(),
            stopwatch: Stopwatch::default(),
            timing: None,
            trial: start.trial,
        }
    }

    fn give_up(&self, reason: &str) -> Phase {
        let kernel = &self.tunable.model().name;
        tracing::warn!(%kernel, %reason, "not tuned");
        Phase::Ended(Some(Ended::Found(None)))
    }
}

impl Exploring {
    /// Takes in what has ended meanwhile. Returns how tuning ended, if it has.
    fn advance(&mut self, subject: &Subject, queue: &Queue) -> Option<Ended> {
        let model = subject.tunable.model();
        if let Some((codes, timing)) = self.timing.take() {
            match timing.ended() {
                Ok(Some(time_us)) => self.explorer.took(&codes, time_us),
                Ok(None) => self.timing = Some((codes, timing)),
                Err(reason) if codes == subject.default => {
                    let kernel = &model.name;
                    tracing::warn!(%kernel, %reason, "not tuned: calls cannot be timed");
                    return Some(Ended::Found(None));
                }
                Err(reason) => self.failed(subject, &codes, &reason.to_string()),
            }
        }
        while let Some(message) = self.builder.message() {
            if let Message::Built(codes, built, took) = message {
                let seconds = took.as_secs_f64() * self.disturbance;
                self.explorer.extra(seconds * 1e6);
                match *built {
                    Ok(prepared) => {
                        self.prepared.insert(codes.clone(), Arc::new(prepared));
                        self.explorer.built(codes);
                    }
                    Err(reason) => {
                        let configuration = model.describe(&codes);
                        tracing::debug!(%configuration, %reason, "a configuration does not build");
                        self.explorer.not_built(&codes);
                    }
                }
            }
        }
        while let Some(codes) = self.explorer.wants() {
            self.builder.order(codes);
        }
        let found = self.explorer.found()?;
        let info = queue.device().info();
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
        let measured = Measured {
            dims: subject.dims.to_vec(),
            codes: found.codes.to_vec(),
            time_us: found.time_us,
            default_us: Some(found.default_us),
            evaluated: found.evaluated,
            valid: self.valid,
            strategy: self.strategy.clone(),
        };
        Store::of_user().add_result(model, info, &measured);
        let prepared = self.prepared.remove(&found.codes);
        Some(Ended::Found(
            prepared.map(|prepared| (found.codes, prepared)),
        ))
    }

    fn launch(&mut self, subject: &Subject, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        // While a call is being timed, the others are not.
        let turn = match self.timing {
            Some(_) => Turn::Usual,
            None => self.explorer.turn(),
        };
        match turn {
            Turn::Usual => self.usual(subject, queue, args),
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
        match self.stopwatch.launch(&prepared, model, queue, args) {
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
            Ok(Checked::Right(time_us)) => self.explorer.tried(codes, time_us),
            Ok(Checked::Wrong(reason)) => self.failed(subject, codes, &reason),
            Err(reason) => self.failed(subject, codes, &format!("not checked: {reason}")),
        }
        self.explorer.extra(begin.elapsed().as_secs_f64() * 1e6);
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

/// By which part of its own time building slows calls down: on a CPU it has one of the kernels' cores.
fn disturbance(info: &DeviceInfo) -> f64 {
    match info.device_type {
        DeviceType::Cpu => 1.0 / info.limits.compute_units.max(1) as f64,
        _ => 0.0,
    }
}

fn reads_what_it_writes(declaration: &Declaration) -> bool {
    let mut arguments = declaration.model.arguments.iter();
    arguments.any(|argument| {
        matches!(&argument.kind, ArgumentKind::Buffer { access, .. } if *access == Access::ReadWrite)
    })
}

impl std::fmt::Debug for Online {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Online").finish_non_exhaustive()
    }
}
