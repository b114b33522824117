//! One run of a strategy on a recorded space.

use super::recording::Recording;
use cltune_runtime::search::{Chosen, Score, Search, Setting, Step};
use std::sync::Arc;

/// The configurations a strategy tried, in order, with their times in milliseconds.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    pub(crate) evaluations: Vec<(Vec<i64>, Option<f64>)>,
}

/// Runs a strategy until its budget is used up or the space is.
pub(crate) fn replay(recording: &Recording, strategy: &Chosen, budget: u64, seed: u64) -> Run {
    let setting = Setting::new(Arc::clone(&recording.space))
        .seed(seed)
        .budget(budget);
    let mut search = Search::new(strategy, &setting);
    let mut evaluations = Vec::new();
    while let Step::Measure(codes) = search.step() {
        let time = recording.time(&codes);
        // Recordings are in milliseconds, scores in microseconds.
        search.tell(&codes, Score::of(time.map(|time| time * 1e3)));
        evaluations.push((codes, time));
    }
    Run { seed, evaluations }
}

impl Run {
    /// After `count` evaluations the best time of the space over the best found, from 0 to 1; 0
    /// while nothing has succeeded.
    pub(crate) fn fraction(&self, best: f64, count: usize) -> f64 {
        let found = self.evaluations.iter().take(count);
        let found = found.filter_map(|(_, time)| *time).fold(f64::MAX, f64::min);
        if found == f64::MAX { 0.0 } else { best / found }
    }
}
