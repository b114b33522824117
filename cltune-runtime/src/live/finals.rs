//! The end of a search: the best serve calls in turns with the default, which wins ties.

use super::explorer::Codes;
use crate::tuning::median;

/// So many timed calls of each.
const SAMPLES: usize = 7;
/// The least improvement over the default that counts.
pub(super) const IMPROVEMENT: f64 = 0.98;

/// A configuration and its times, microseconds.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) codes: Codes,
    pub(super) samples_us: Vec<f64>,
}

/// The default, and the best of the others.
#[derive(Clone, Debug)]
pub(super) struct Finals(Vec<Timed>);

impl Timed {
    pub(super) fn new(codes: Codes) -> Self {
        Self {
            codes,
            samples_us: Vec::new(),
        }
    }

    pub(super) fn median_us(&self) -> f64 {
        median(&self.samples_us).unwrap_or(f64::INFINITY)
    }
}

impl Finals {
    pub(super) fn new(default: Codes, others: impl Iterator<Item = Codes>) -> Self {
        let all = std::iter::once(default).chain(others);
        Self(all.map(Timed::new).collect())
    }

    /// Whose turn it is; `None` when all have been timed.
    pub(super) fn next(&self) -> Option<&Timed> {
        let next = self.0.iter().min_by_key(|one| one.samples_us.len());
        next.filter(|one| one.samples_us.len() < SAMPLES)
    }

    pub(super) fn took(&mut self, codes: &[i64], time_us: f64) {
        let one = self.0.iter_mut().find(|one| *one.codes == *codes);
        if let Some(one) = one {
            one.samples_us.push(time_us);
        }
    }

    /// Whether it is one of them.
    pub(super) fn has(&self, codes: &[i64]) -> bool {
        self.0.iter().any(|one| *one.codes == *codes)
    }

    /// Takes another one in.
    pub(super) fn add(&mut self, other: Option<Codes>) {
        self.0.extend(other.map(Timed::new));
    }

    /// Leaves one out.
    pub(super) fn remove(&mut self, codes: &[i64]) {
        self.0.retain(|one| *one.codes != *codes);
    }

    /// The best and the default's time, once all have been timed.
    pub(super) fn winner(&self) -> Option<(&Timed, f64)> {
        if self.next().is_some() {
            return None;
        }
        let default = self.0.first()?;
        let default_us = default.median_us();
        let others = self.0.iter().skip(1);
        let best = others.min_by(|a, b| a.median_us().total_cmp(&b.median_us()));
        let best = best.filter(|one| one.median_us() <= IMPROVEMENT * default_us);
        Some((best.unwrap_or(default), default_us))
    }
}
