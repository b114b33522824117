//! Which configuration serves the next call of a program that tunes itself. Knows nothing of OpenCL.
//!
//! 1. A few calls are timed with the default.
//! 2. When the account affords it, a configuration that the search proposed is built, and when it affords
//!    that, serves a call, and two more if it is not clearly slower than the best.
//! 3. When the search is done or leads nowhere, the [finals](super::finals).
//!
//! All other calls are served by the best so far. Nothing is timed while something is being built: calls
//! are slower then, and what building costs is seen in when they come.
//!
//! What an earlier run of the program tried need not be tried again, but for its best: they are built and
//! compared with the default anew, since nothing may serve a call that this process has not seen run.

use super::account::Outlook;
use super::finals::{Finals, IMPROVEMENT, Timed};
use super::spending::{Spending, TooDear};
use crate::cache::Tried;
use cltune_search::{Confidence, Score, Search, Stagnation, Step};
use std::collections::HashSet;

/// A configuration's codes.
pub(super) type Codes = Box<[i64]>;

/// So many timed calls of the default come first.
const BASELINE: usize = 5;
/// So many timed calls of a configuration that is not clearly slower.
const SAMPLES: usize = 3;
/// What clearly slower means.
const SLOWER: f64 = 1.2;
/// So many of the best are compared with the default.
const FINALISTS: usize = 2;
/// So many of the best of an earlier run are tried again.
const RETRIED: usize = 3;

/// What serves a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The [usual](Explorer::usual) configuration, not timed.
    Usual,
    /// A configuration that has run before, timed.
    Timed(Codes),
    /// A configuration that has never run.
    Fresh(Codes),
}

/// What was found in the end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) codes: Codes,
    pub(super) time_us: f64,
    pub(super) default_us: f64,
    pub(super) evaluated: u64,
}

/// Decides, and remembers what it learned.
pub(super) struct Explorer {
    search: Search,
    stagnation: Stagnation,
    spending: Spending,
    default: Timed,
    /// The best so far, where it is better than the default.
    best: Option<(Codes, f64)>,
    is_building: bool,
    ready: Option<Codes>,
    trial: Option<Timed>,
    /// Nothing more comes from the search.
    exhausted: bool,
    /// Why not, where that is not the search's fault.
    too_dear: Option<TooDear>,
    finals: Option<Finals>,
    /// What an earlier run tried, until the default's time is known.
    earlier: Vec<Tried>,
    /// What this run tried and is not kept yet.
    tried: Vec<Tried>,
    /// What has run in this process, and has not failed since.
    ran: HashSet<Codes>,
}

impl Explorer {
    pub(super) fn new(search: Search, default: Codes, spending: Spending) -> Self {
        Self {
            search,
            stagnation: Stagnation::new(Confidence::default()),
            spending,
            default: Timed::new(default),
            best: None,
            is_building: false,
            ready: None,
            trial: None,
            exhausted: false,
            too_dear: None,
            finals: None,
            earlier: Vec::new(),
            tried: Vec::new(),
            ran: HashSet::new(),
        }
    }

    /// Goes on with what an earlier run tried.
    pub(super) fn go_on(&mut self, earlier: Vec<Tried>) {
        self.earlier = earlier;
    }

    /// What was tried since this was last asked.
    pub(super) fn take_tried(&mut self) -> Vec<Tried> {
        std::mem::take(&mut self.tried)
    }

    /// Whether something is being built.
    pub(super) fn is_building(&self) -> bool {
        self.is_building
    }

    /// How long calls take that are not timed; `None` before that is known.
    pub(super) fn usual_us(&self) -> Option<f64> {
        let default_us = self.default_us()?;
        Some(self.best.as_ref().map_or(default_us, |(_, time)| *time))
    }

    /// The configuration of calls that are not timed; `None`: the default.
    pub(super) fn usual(&self) -> Option<&Codes> {
        self.best.as_ref().map(|(codes, _)| codes)
    }

    /// How many configurations have a result.
    pub(super) fn evaluated(&self) -> usize {
        self.search.evaluated()
    }

    /// The next configuration to build, if one is wanted now.
    pub(super) fn wants(&mut self) -> Option<Codes> {
        let default_us = self.default_us()?;
        self.recall(default_us);
        while !(self.exhausted || self.is_building || self.ready.is_some() || self.trial.is_some())
        {
            if self.stagnation.is_reached() {
                self.exhausted = true;
                break;
            }
            match self.spending.may_build(default_us) {
                Ok(true) => {}
                Ok(false) => break,
                Err(too_dear) => {
                    self.too_dear = Some(too_dear);
                    self.exhausted = true;
                    break;
                }
            }
            match self.search.step() {
                Step::Measure(codes) if *codes == *self.default.codes => {
                    self.tell(&codes, Some(default_us));
                }
                Step::Measure(codes) => {
                    self.is_building = true;
                    return Some(codes.into());
                }
                Step::Wait => break,
                Step::Done => self.exhausted = true,
            }
        }
        None
    }

    /// A configuration that was wanted is built.
    pub(super) fn built(&mut self, codes: Codes) {
        self.is_building = false;
        self.ready = Some(codes);
    }

    /// A configuration that was wanted cannot be built.
    pub(super) fn not_built(&mut self, codes: &[i64]) {
        self.is_building = false;
        self.tell(codes, None);
    }

    /// What serves the next call.
    pub(super) fn turn(&mut self) -> Turn {
        if self.default.samples_us.len() < BASELINE {
            return Turn::Timed(self.default.codes.clone());
        }
        let Some(default_us) = self.default_us() else {
            return Turn::Usual;
        };
        if self.is_building {
            return Turn::Usual;
        }
        if let Some(finals) = &self.finals {
            let next = finals.next().cloned();
            return next.map_or(Turn::Usual, |next| self.timed(&next));
        }
        if let Some(trial) = self.trial.clone() {
            return self.timed(&trial);
        }
        match self.spending.may_try(default_us) {
            Outlook::Now => {
                if let Some(codes) = self.ready.take() {
                    self.trial = Some(Timed::new(codes.clone()));
                    return Turn::Fresh(codes);
                }
            }
            Outlook::Later => {}
            Outlook::Never => self.ready = None,
        }
        if self.exhausted && self.ready.is_none() {
            self.finals = Some(self.finalists());
        }
        Turn::Usual
    }

    /// A call was served by the usual configuration and not timed.
    pub(super) fn served(&mut self) {
        if let (Some(default_us), Some(usual_us)) = (self.default_us(), self.usual_us()) {
            self.spending.call(usual_us, default_us);
        }
    }

    /// A call was served by this configuration and took so long.
    pub(super) fn took(&mut self, codes: &[i64], time_us: f64) {
        if let Some(default_us) = self.default_us() {
            self.spending.call(time_us, default_us);
        }
        if let Some(finals) = &mut self.finals {
            finals.took(codes, time_us);
        } else if *self.default.codes == *codes {
            self.default.samples_us.push(time_us);
        } else {
            self.sample(codes, time_us);
        }
    }

    /// A configuration was tried besides the calls, which took so long, and is right. With all that belongs to
    /// that, the calls lost `cost_us`.
    pub(super) fn tried(&mut self, codes: &[i64], time_us: f64, cost_us: f64) {
        let default_us = self.default_us().unwrap_or(0.0);
        self.spending.checked(cost_us, default_us + time_us);
        self.sample(codes, time_us);
    }

    /// What was built has cost the calls so much.
    pub(super) fn build_cost(&mut self, cost_us: f64) {
        self.spending.built(cost_us);
    }

    /// Something was done besides the calls.
    pub(super) fn extra(&mut self, time_us: f64) {
        self.spending.extra(time_us);
    }

    /// A configuration does not run, or is wrong. It is out for good, and the next best takes its place.
    pub(super) fn failed(&mut self, codes: &[i64]) {
        if self.ran.remove(codes) {
            // The next run must not believe its time.
            self.tried.push(Tried {
                codes: codes.into(),
                part: None,
            });
        }
        if self.best.as_ref().is_some_and(|(best, _)| **best == *codes) {
            let default_us = self.default.median_us();
            let mut others = self.ran_best();
            others.retain(|(_, time_us)| *time_us <= IMPROVEMENT * default_us);
            self.best = others.into_iter().next();
        }
        if self.finals.is_some() {
            let others = self.may_win();
            if let Some(finals) = &mut self.finals {
                finals.remove(codes);
                let next = others.into_iter().find(|other| !finals.has(other));
                finals.add(next);
            }
        } else if self.trial.as_ref().is_some_and(|one| *one.codes == *codes) {
            self.trial = None;
            self.tell(codes, None);
        }
    }

    /// Why the search ended early.
    pub(super) fn too_dear(&self) -> Option<TooDear> {
        self.too_dear
    }

    /// What was found, once that is certain.
    pub(super) fn found(&self) -> Option<Found> {
        let (best, default_us) = self.finals.as_ref()?.winner()?;
        Some(Found {
            codes: best.codes.clone(),
            time_us: best.median_us(),
            default_us,
            evaluated: self.search.evaluated() as u64,
        })
    }

    /// Lets the search know what an earlier run tried, and try the best of that again.
    fn recall(&mut self, default_us: f64) {
        let mut earlier = std::mem::take(&mut self.earlier);
        let score = |one: &Tried| Score::of(one.part.map(|part| part * default_us));
        for one in &earlier {
            self.stagnation.observe(score(one));
        }
        let part = |one: &Tried| one.part.unwrap_or(f64::INFINITY);
        earlier.sort_by(|a, b| part(a).total_cmp(&part(b)));
        let better = earlier.partition_point(|one| part(one) <= IMPROVEMENT);
        let (again, known) = earlier.split_at(better.min(RETRIED));
        for one in known {
            if self.search.start_with(&one.codes) {
                self.search.know(&one.codes, score(one));
            }
        }
        for one in again {
            self.search.start_with(&one.codes);
        }
    }

    fn default_us(&self) -> Option<f64> {
        let is_known = self.default.samples_us.len() >= BASELINE;
        is_known.then(|| self.default.median_us())
    }

    /// A timed call of this configuration, as soon as that is affordable. Where it never will be, what is
    /// known of it has to do.
    fn timed(&mut self, one: &Timed) -> Turn {
        let Some(default_us) = self.default_us() else {
            return Turn::Usual;
        };
        let expected = one.samples_us.iter().copied().fold(0.0, f64::max);
        let is_default = one.codes == self.default.codes;
        if is_default || self.spending.affords(SLOWER * expected, default_us) {
            return Turn::Timed(one.codes.clone());
        }
        if self.spending.is_spent(default_us) {
            match &mut self.finals {
                Some(finals) => finals.remove(&one.codes),
                None => self.conclude(),
            }
        }
        Turn::Usual
    }

    fn sample(&mut self, codes: &[i64], time_us: f64) {
        let Some(trial) = self.trial.as_mut().filter(|one| *one.codes == *codes) else {
            return;
        };
        trial.samples_us.push(time_us);
        let best_us = match &self.best {
            Some((_, best_us)) => *best_us,
            None => self.default.median_us(),
        };
        let median_us = trial.median_us();
        if trial.samples_us.len() >= SAMPLES || median_us > SLOWER * best_us {
            self.conclude();
        }
    }

    /// The trial has ended.
    fn conclude(&mut self) {
        let Some(trial) = self.trial.take() else {
            return;
        };
        let median_us = trial.median_us();
        let default_us = self.default.median_us();
        let best_us = self.best.as_ref().map_or(default_us, |(_, time)| *time);
        self.tell(&trial.codes, Some(median_us));
        if median_us < best_us && median_us <= IMPROVEMENT * default_us {
            self.best = Some((trial.codes, median_us));
        }
    }

    fn tell(&mut self, codes: &[i64], time_us: Option<f64>) {
        let score = Score::of(time_us);
        self.search.tell(codes, score);
        self.stagnation.observe(score);
        if *codes == *self.default.codes {
            return;
        }
        let default_us = self.default.median_us();
        self.tried.push(Tried {
            codes: codes.into(),
            part: time_us.map(|time_us| time_us / default_us),
        });
        if time_us.is_some() {
            self.ran.insert(codes.into());
        }
    }

    /// The default, and the best of the others.
    fn finalists(&self) -> Finals {
        let others = self.may_win().into_iter().take(FINALISTS);
        Finals::new(self.default.codes.clone(), others)
    }

    /// What is not slower than the default, the fastest first.
    fn may_win(&self) -> Vec<Codes> {
        let default_us = self.default.median_us();
        let others = self.ran_best().into_iter();
        let others = others.filter(|(_, time_us)| *time_us <= default_us);
        others.map(|(codes, _)| codes).collect()
    }

    /// What has run in this process and has not failed, the fastest first.
    fn ran_best(&self) -> Vec<(Codes, f64)> {
        let mut ran: Vec<(Codes, f64)> = self
            .search
            .results()
            .filter(|(codes, _)| self.ran.contains(*codes))
            .filter_map(|(codes, score)| Some((codes.into(), score.time()?)))
            .collect();
        ran.sort_by(|a, b| a.1.total_cmp(&b.1));
        ran
    }
}

impl std::fmt::Debug for Explorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explorer")
            .field("search", &self.search)
            .field("best", &self.best)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
