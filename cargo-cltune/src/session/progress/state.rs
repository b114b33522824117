//! Progress of a search.

use cltune_core::measure::Objective;
use cltune_search::Status;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A search under way.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) device: String,
    /// Kernel and problem.
    pub(super) title: String,
    /// The number of this search among the device's, and how many it has.
    pub(super) search: (usize, usize),
    /// Remarks on its beginning.
    pub(super) notes: Vec<String>,
    /// How many configurations there will be, where that is known.
    pub(super) total: Option<u64>,
    pub(super) begin: Instant,
    pub(super) deadline: Option<Instant>,
    pub(super) done: u64,
    /// How many of these an earlier search did.
    resumed: u64,
    /// What the best has least of.
    pub(super) objective: Objective,
    /// The best figure so far, by the objective, and its configuration.
    pub(super) best: Option<(f64, String)>,
    /// The default's figure.
    pub(super) default: Option<f64>,
    /// How many failed, by kind.
    pub(super) failures: BTreeMap<Status, u64>,
    /// Whether all is measured, and the best are timed again.
    pub(super) comparing: bool,
}

impl State {
    pub(super) fn new(total: Option<u64>, deadline: Option<Instant>) -> Self {
        Self {
            device: String::new(),
            title: String::new(),
            search: (1, 1),
            notes: Vec::new(),
            total,
            begin: Instant::now(),
            deadline,
            done: 0,
            resumed: 0,
            objective: Objective::Time,
            best: None,
            default: None,
            failures: BTreeMap::new(),
            comparing: false,
        }
    }

    /// An earlier search did so many.
    pub(super) fn resume(&mut self, results: u64) {
        self.done = results;
        self.resumed = results;
    }

    /// A configuration is done.
    pub(super) fn step(
        &mut self,
        status: &Status,
        figure: Option<f64>,
        configuration: impl FnOnce() -> String,
    ) {
        self.done += 1;
        match figure {
            None => *self.failures.entry(status.clone()).or_insert(0) += 1,
            Some(figure) if self.best.as_ref().is_none_or(|(best, _)| figure < *best) => {
                self.best = Some((figure, configuration()));
            }
            Some(_) => {}
        }
    }

    /// Configurations per second of this session.
    pub(super) fn rate(&self, now: Instant) -> f64 {
        let elapsed = now.saturating_duration_since(self.begin).as_secs_f64();
        (self.done - self.resumed) as f64 / elapsed.max(1e-3)
    }

    /// How long it will take until the budget is used up, whichever comes first: the last
    /// configuration, at the rate so far, or the deadline.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        let rate = self.rate(now);
        let configurations = self.total.filter(|_| rate > 0.0).and_then(|total| {
            let left = total.saturating_sub(self.done) as f64;
            Duration::try_from_secs_f64(left / rate).ok()
        });
        let deadline = self.deadline.map(|at| at.saturating_duration_since(now));
        configurations.into_iter().chain(deadline).min()
    }

    /// The part of the budget that is used up, 0 to 1; `None` where that is not known.
    pub(super) fn fraction(&self, now: Instant) -> Option<f64> {
        let configurations = self
            .total
            .map(|total| self.done as f64 / total.max(1) as f64);
        let time = self.deadline.map(|deadline| {
            let whole = deadline.saturating_duration_since(self.begin).as_secs_f64();
            now.saturating_duration_since(self.begin).as_secs_f64() / whole.max(1e-3)
        });
        let fractions = configurations.into_iter().chain(time);
        fractions
            .max_by(f64::total_cmp)
            .map(|of| of.clamp(0.0, 1.0))
    }
}
