//! On-line tuning, with the calls of the program, from the first call to the last that tunes.

use super::background_builder::{BackgroundBuilder, Job, Message};
use super::check::written_bytes;
use super::exploration::{Ended, Exploration, Start, Subject};
use super::overhead::CostForecast;
use crate::cache::{Store, TuningPermit};
use crate::error::Result;
use crate::event::Event;
use crate::kernel::Arg;
use crate::queue::Queue;
use std::sync::{Mutex, Once, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The interval at which the end of another program's tuning of the same is looked for.
const LOOK: Duration = Duration::from_secs(1);

/// A kernel that is being tuned for a problem. Threads that call at the same time are served by the
/// default: no call waits for another.
pub(crate) struct OnlineTuner {
    subject: Subject,
    phase: Mutex<Phase>,
    /// The warning of calls that cannot be tuned with.
    not_plain: Once,
}

enum Phase {
    /// Nothing has begun; or another program tunes it, and this is when to look again.
    Waiting(Option<Instant>),
    /// The search is being made.
    Starting(Box<Start>),
    Exploring(Box<Exploration>),
    Ended(Option<Ended>),
}

impl OnlineTuner {
    /// Nothing has happened yet: the first call begins.
    pub(crate) fn new(subject: Subject) -> Self {
        Self {
            subject,
            phase: Mutex::new(Phase::Waiting(None)),
            not_plain: Once::new(),
        }
    }

    /// Launches with the configuration whose turn it is.
    ///
    /// Calls on a queue out of order, or after events, are served by the default and tune nothing:
    /// other commands run at the same time, and a check would have to wait for events on the host.
    pub(crate) fn launch(&self, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        let subject = &self.subject;
        if !queue.is_plain() {
            self.warn_not_plain();
            return subject.launch(queue, args);
        }
        let mut phase = match self.phase.try_lock() {
            Ok(phase) => phase,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return subject.launch(queue, args),
        };
        subject.advance(&mut phase, queue, args);
        match &mut *phase {
            Phase::Exploring(exploration) => exploration.launch(subject, queue, args),
            _ => subject.launch(queue, args),
        }
    }

    fn warn_not_plain(&self) {
        self.not_plain.call_once(|| {
            let kernel = &self.subject.tunable.model().name;
            tracing::warn!(
                %kernel,
                "not tuned with calls on a queue out of order or after events, which cannot be \
                 timed and checked; call it on a queue in order, or tune it with `cargo cltune`"
            );
        });
    }

    /// The end of tuning, told once.
    pub(crate) fn take_ended(&self) -> Option<Ended> {
        let mut phase = self.phase.try_lock().ok()?;
        match &mut *phase {
            Phase::Ended(ended) => ended.take(),
            _ => None,
        }
    }

    /// The state of tuning, for people.
    pub(crate) fn describe(&self) -> String {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        match &*phase {
            Phase::Waiting(None) if self.not_plain.is_completed() => {
                "calls on a queue out of order, or after events, do not tune".to_owned()
            }
            Phase::Waiting(None) => "not called yet".to_owned(),
            Phase::Waiting(Some(_)) => "another program tunes it".to_owned(),
            Phase::Starting(_) => "tuning begins".to_owned(),
            Phase::Exploring(exploration) => exploration.describe(&self.subject),
            Phase::Ended(_) => "tuned".to_owned(),
        }
    }
}

impl Subject {
    /// Goes on to the next phase where that is possible without waiting.
    fn advance(&self, phase: &mut Phase, queue: &Queue, args: &[Arg<'_>]) {
        let next = match phase {
            Phase::Waiting(None) => self.begin(queue, false),
            Phase::Waiting(Some(look)) if Instant::now() >= *look => self.begin(queue, true),
            Phase::Starting(start) => match start.builder.message() {
                Some(Message::Search(search, took)) => {
                    let Phase::Starting(start) = std::mem::replace(phase, Phase::Ended(None))
                    else {
                        return;
                    };
                    let compared = written_bytes(&search.declaration, args);
                    let compared = self.check.then_some(compared);
                    let forecast = CostForecast::of(self.prepared.build_time(), compared);
                    let mut exploration = Exploration::new(self, *start, *search, forecast, queue);
                    exploration.has_cost(took);
                    Phase::Exploring(Box::new(exploration))
                }
                Some(Message::Untuned(reason)) => self.give_up(&reason.to_string()),
                Some(Message::Built(..)) | None => return,
            },
            Phase::Exploring(exploration) => match exploration.advance(self, queue) {
                Some(ended) => Phase::Ended(Some(ended)),
                None => return,
            },
            Phase::Waiting(_) | Phase::Ended(_) => return,
        };
        *phase = next;
    }

    /// Begins to tune. After another program has tuned, its result is in the cache.
    fn begin(&self, queue: &Queue, after_another: bool) -> Phase {
        let (model, info) = (self.tunable.model(), queue.device().info());
        let store = Store::of_user();
        let permit = store.permit(model, info, &self.dims, Duration::ZERO);
        let trial = match permit {
            Ok(TuningPermit::Given(trial)) => trial,
            Ok(TuningPermit::OtherProgram) => return Phase::Waiting(Some(Instant::now() + LOOK)),
            Err(reason) => return self.give_up(&reason.to_string()),
        };
        if after_another {
            let results = store.results_by_now(model, info);
            let mut results = results.table.results.iter();
            if results.any(|result| *result.problem == *self.dims) {
                return Phase::Ended(Some(Ended::SelectAgain));
            }
        }
        let job = Job {
            tunable: self.tunable,
            dims: self.dims.clone(),
            default: self.default.clone(),
        };
        match BackgroundBuilder::start(&self.programs, job) {
            Ok(builder) => Phase::Starting(Box::new(Start { builder, trial })),
            Err(reason) => self.give_up(&reason.to_string()),
        }
    }

    fn give_up(&self, reason: &str) -> Phase {
        let kernel = &self.tunable.model().name;
        tracing::warn!(%kernel, %reason, "not tuned");
        Phase::Ended(Some(self.with_default()))
    }
}

impl std::fmt::Debug for OnlineTuner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnlineTuner").finish_non_exhaustive()
    }
}
