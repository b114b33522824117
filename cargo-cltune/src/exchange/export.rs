//! The results that are exported: those of the journals on one kernel, device and problem.

use crate::history::OnDevice;
use crate::session::Recorded;
use cltune_core::measure::Measure;
use cltune_core::model::Model;
use std::collections::BTreeMap;

/// The results of one kernel, device and problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Export<'a> {
    pub(crate) model: &'a Model,
    pub(crate) measure: Measure,
    pub(crate) dims: &'a [i64],
    pub(crate) on: &'a OnDevice,
}

impl Export<'_> {
    /// The last result of each configuration, in the order in which they were measured: formats
    /// have one result for a configuration, and the last is the one that `report` shows.
    pub(super) fn results(&self) -> Vec<&Recorded> {
        let mut last = BTreeMap::new();
        for (position, result) in self.on.results.iter().enumerate() {
            last.insert(&result.codes, position);
        }
        let mut positions: Vec<usize> = last.into_values().collect();
        positions.sort_unstable();
        let results = positions.into_iter();
        results.map(|position| &self.on.results[position]).collect()
    }

    /// The driver of the last session.
    pub(super) fn driver(&self) -> &str {
        self.on
            .sessions
            .last()
            .map_or("", |session| &session.driver)
    }
}

/// Milliseconds, which other tools write, of the journal's microseconds.
pub(super) fn milliseconds(microseconds: f64) -> f64 {
    microseconds / 1e3
}

/// The sum; of nothing 0, and not the -0 that `sum` has.
pub(super) fn total(times: &[f64]) -> f64 {
    times.iter().fold(0.0, |sum, time| sum + time)
}
