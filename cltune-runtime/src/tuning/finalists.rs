//! The choice of finalists: the configurations that are verified on every draw, and then timed in
//! turns.
//!
//! A finalist that fails is out for good, and the next best take its place: those that are near the
//! best of the rest, however much faster the failed one was.

use std::collections::HashSet;

/// The rule by which some of the fastest may be the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FinalistRule {
    /// So many are taken at least, where so many are within `noise`.
    pub few: usize,
    /// A configuration within this factor of the best time may be the best.
    pub noise: f64,
    /// All within this factor are taken, up to `many`.
    pub close: f64,
    /// The most that are taken.
    pub many: usize,
}

/// The finalists of a search. The caller asks for the [next](Self::next) until there is none, says
/// whether each [holds](Self::holds) or [fails](Self::fails), times the
/// [contenders](Self::contenders) in turns, and begins again where one of those has failed.
#[derive(Clone, Debug)]
pub struct Finalists {
    rule: FinalistRule,
    default: Vec<i64>,
    /// Configurations that have not failed, the fastest first.
    left: Vec<(Vec<i64>, f64)>,
    /// Configurations that were right on every draw.
    held: HashSet<Vec<i64>>,
}

impl Finalists {
    /// Of configurations and their first times. The default is among the finalists wherever it has
    /// a time, however slow it is.
    pub fn new(
        rule: FinalistRule,
        default: &[i64],
        results: impl IntoIterator<Item = (Vec<i64>, f64)>,
    ) -> Self {
        let mut left: Vec<(Vec<i64>, f64)> = results.into_iter().collect();
        left.sort_by(|a, b| a.1.total_cmp(&b.1));
        Self {
            rule,
            default: default.to_vec(),
            left,
            held: HashSet::new(),
        }
    }

    /// The next to be verified on every draw; `None` when all that may be the best have been.
    pub fn next(&self) -> Option<&[i64]> {
        self.wanted().find(|codes| !self.held.contains(*codes))
    }

    /// It was right on every draw.
    pub fn holds(&mut self, codes: &[i64]) {
        self.held.insert(codes.to_vec());
    }

    /// It failed: it is out for good.
    pub fn fails(&mut self, codes: &[i64]) {
        self.left.retain(|(of, _)| of != codes);
    }

    /// Configurations to be timed in turns, once there is no [next](Self::next): the default first,
    /// where it has not failed, then the others, the fastest first. Empty where everything has
    /// failed.
    pub fn contenders(&self) -> Vec<Vec<i64>> {
        let held = self.wanted().filter(|codes| self.held.contains(*codes));
        held.map(<[i64]>::to_vec).collect()
    }

    /// Configurations that have not failed, with their first times, the fastest first.
    pub fn left(&self) -> &[(Vec<i64>, f64)] {
        &self.left
    }

    /// The remaining configurations that may be the best.
    fn wanted(&self) -> impl Iterator<Item = &[i64]> {
        let best = self.left.first().map_or(0.0, |(_, time)| *time);
        let within = |factor: f64| {
            self.left
                .partition_point(|(_, time)| *time <= best * factor)
        };
        let few = within(self.rule.noise).min(self.rule.few);
        let count = within(self.rule.close).min(self.rule.many).max(few);
        let codes = |(codes, _): &'_ (Vec<i64>, f64)| codes == &self.default;
        let default = self.left.iter().filter(move |one| codes(one));
        let others = self.left[..count].iter().filter(move |one| !codes(one));
        default.chain(others).map(|(codes, _)| codes.as_slice())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tuning_finalists.rs"]
mod tests;
