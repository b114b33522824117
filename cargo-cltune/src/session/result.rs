//! The result of a search, and the errors that leave it without one.

use super::finalists::Choice;
use super::journal::JournalError;
use super::quarantine::DeviceGivenUp;
use super::startup_budget::StartupDominated;
use super::steadiness::Steadiness;
use super::stopwatch::Spent;
use super::workers::WorkerError;
use crate::interrupt::interrupted;
use crate::oclgrind::Verdict;
use cltune_core::expr::TextError;
use cltune_runtime::tuning::IdlePower;
use cltune_search::space::TooComplex;
use cltune_search::{Status, Unsuited};
use std::collections::BTreeMap;

/// How many configurations failed, by status, and the first reason of each.
pub(crate) type Failures = BTreeMap<Status, (u64, String)>;

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` when every configuration failed.
    pub(crate) choice: Option<Choice>,
    /// Whether the default was measured, and failed.
    pub(crate) default_failed: bool,
    /// The time that converting buffers to images took for the choice, microseconds; it is no part
    /// of the choice's time.
    pub(crate) conversion_us: Option<f64>,
    /// The device's power while nothing ran on it, where energy was measured.
    pub(crate) idle_power: Option<IdlePower>,
    pub(crate) evaluated: u64,
    pub(crate) valid: u128,
    pub(crate) failures: Failures,
    /// The state of the lockfile's entry for this job, where it has one that is valid.
    pub(crate) entry: EntryCheck,
    /// Whether the search ended because going on was not worth it (`--stop-when-stagnant`).
    pub(crate) stagnant: bool,
    /// The mean relative error of the times that the strategy predicted, where it predicts any.
    pub(crate) held_out_error: Option<f64>,
    /// What the strategy could not do in this space.
    pub(crate) limitation: Option<String>,
    /// Where starting took most of the budget.
    pub(crate) startup: Option<StartupDominated>,
    /// Why the search ended early, keeping what it had found.
    pub(crate) stopped: Option<Stopped>,
    /// The steadiness of the device, where that was measured.
    pub(crate) steadiness: Option<Steadiness>,
    /// The simulator's verdict on the choice; `None` where none was asked.
    pub(crate) soundness: Option<Verdict>,
    /// Where the time went.
    pub(crate) spent: Spent,
}

/// What a search found out about the lockfile's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryCheck {
    /// It works, or there is none.
    Works,
    /// It fails, or is wrong.
    Fails,
    /// It was left unmeasured, for want of budget.
    Unmeasured,
}

/// Why a search ended before it was done, keeping what it had found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    pub(crate) reason: String,
    /// Whether the device is of no further use.
    pub(crate) device_lost: bool,
}

/// Why a search could not be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SearchError {
    /// No configuration is valid.
    #[error("no configuration is valid:\n{explanation}")]
    Empty {
        /// The number of configurations that each constraint removes.
        explanation: String,
    },
    /// A constraint of the command line is no formula of this kernel.
    // The constraint last: a long one is cut off where it is shown.
    #[error("{reason} (--constraint `{constraint}`)")]
    Constraint {
        /// The constraint.
        constraint: String,
        /// The mistake in it, and its place.
        reason: TextError,
    },
    /// The strategy is not for this space.
    #[error(transparent)]
    Strategy(#[from] Unsuited),
    /// The space cannot be built in reasonable time and memory.
    #[error("the space of valid configurations cannot be built: {0}")]
    Space(#[from] TooComplex),
    /// Nothing can be measured.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The device fails again and again.
    #[error(transparent)]
    DeviceLost(#[from] DeviceGivenUp),
    /// What is measured cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Finished {
    /// Whether the result replaces the lockfile's entry, also a faster one: the search has measured
    /// that as well, and was not cut short.
    pub(super) fn is_complete(&self) -> bool {
        match self.entry {
            EntryCheck::Works => self.stopped.is_none() && !interrupted(),
            EntryCheck::Fails => true,
            EntryCheck::Unmeasured => false,
        }
    }
}

impl SearchError {
    /// Whether the failure is attributed to the device, on which other searches would fail as well.
    pub(crate) fn is_the_device(&self) -> bool {
        matches!(self, Self::DeviceLost(_))
    }
}
