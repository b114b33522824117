//! Tuning with the calls of the program, from the first call to the last that tunes.

use super::builder::{Builder, Job, Message};
use super::check::written_bytes;
use super::explorer::Codes;
use super::exploring::Exploring;
use super::forecast::Forecast;
use super::spending::TooDear;
use crate::cache::{Leave, Store, Trial};
use crate::error::Result;
use crate::event::Event;
use crate::launch::{Arg, Prepared, Tunable};
use crate::policy::Overhead;
use crate::queue::Queue;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

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

/// A search that is being made.
pub(super) struct Start {
    pub(super) builder: Builder,
    pub(super) trial: Option<Trial>,
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
        subject.advance(&mut phase, queue, args);
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
            Phase::Exploring(exploring) => exploring.describe(&self.subject),
            Phase::Ended(_) => "tuned".to_owned(),
        }
    }
}

impl Subject {
    /// With the default.
    pub(super) fn launch(&self, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        self.prepared.launch(self.tunable.model(), queue, args)
    }

    /// Goes on to the next phase where that is possible without waiting.
    fn advance(&self, phase: &mut Phase, queue: &Queue, args: &[Arg<'_>]) {
        let next = match phase {
            Phase::Waiting(None) => self.begin(queue, false),
            Phase::Waiting(Some(look)) if Instant::now() >= *look => self.begin(queue, true),
            Phase::Starting(start) => match start.builder.message() {
                Some(Message::Search(searching, took)) => {
                    let Phase::Starting(start) = std::mem::replace(phase, Phase::Ended(None))
                    else {
                        return;
                    };
                    let compared = written_bytes(&searching.declaration, args);
                    let compared = self.check.then_some(compared);
                    let forecast = Forecast::of(self.prepared.building(), compared);
                    let mut exploring = Exploring::new(self, *start, *searching, forecast, queue);
                    exploring.has_cost(took);
                    Phase::Exploring(Box::new(exploring))
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
        match Builder::start(queue.context().workshop(), job) {
            Ok(builder) => Phase::Starting(Box::new(Start { builder, trial })),
            Err(reason) => self.give_up(&reason.to_string()),
        }
    }

    /// Says what was too dear, and which windows would allow it.
    pub(super) fn warn_too_dear(&self, too_dear: TooDear) {
        let Overhead::Fraction { window, .. } = self.overhead else {
            // The time is spent, as it was to be.
            return;
        };
        let seconds = (window.as_secs_f64() * too_dear.factor()).ceil();
        tracing::warn!(
            kernel = %self.tunable.model().name,
            step = too_dear.step,
            expected_us = too_dear.expected_us,
            allowed_us = too_dear.allowed_us,
            "not tuned further within this overhead; `window={seconds}s` would allow it"
        );
    }

    fn give_up(&self, reason: &str) -> Phase {
        let kernel = &self.tunable.model().name;
        tracing::warn!(%kernel, %reason, "not tuned");
        Phase::Ended(Some(Ended::Found(None)))
    }
}

impl std::fmt::Debug for Online {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Online").finish_non_exhaustive()
    }
}
