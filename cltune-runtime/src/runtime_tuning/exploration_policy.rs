//! The exploration policy of on-line tuning: the configuration that serves the next call of a
//! program that tunes itself. It knows nothing of OpenCL.
//!
//! 1. A few calls are timed with the default.
//! 2. When the [overhead budget](super::overhead) affords it, a configuration that the search
//!    proposed is built. When the budget affords a trial, that configuration serves a call, and two
//!    more unless it is clearly slower than the incumbent.
//! 3. When the search is done or leads nowhere, the best serve calls in turns with the default,
//!    which wins ties.
//!
//! All other calls are served by the incumbent: the best configuration so far. Nothing is timed
//! while something is being built: calls are slower then, and the cost of building is seen in when
//! they come.
//!
//! The trials of an earlier run of the program are not repeated, except those of its best
//! configurations: they are built and compared with the default anew, since nothing may serve a
//! call that this process has not seen run.

use super::overhead::{Affordable, OverBudget, OverheadBudget};
use crate::cache::Tried;
use crate::tuning::median;
use cltune_search::{Confidence, Score, Search, Stagnation, Step};
use std::collections::HashSet;

/// A configuration's codes.
pub(super) type Codes = Box<[i64]>;

/// So many timed calls of the default come first.
const BASELINE: usize = 5;
/// So many timed calls of a configuration that is not clearly slower.
const SAMPLES: usize = 3;
/// A configuration is clearly slower by this factor.
const SLOWER: f64 = 1.2;
/// So many of the best are compared with the default.
const FINALISTS: usize = 2;
/// So many of the best of an earlier run are tried again.
const RETRIED: usize = 3;

/// The configuration that serves the next call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextCall {
    /// The [incumbent](ExplorationPolicy::incumbent), not timed.
    Incumbent,
    /// A configuration that has run before, timed.
    Timed(Codes),
    /// A configuration that has never run.
    Fresh(Codes),
}

/// The result of on-line tuning.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TuningResult {
    pub(super) codes: Codes,
    pub(super) time_us: f64,
    pub(super) default_us: f64,
    pub(super) evaluated: u64,
}

/// Decides which configuration serves a call, and remembers what it learned.
pub(super) struct ExplorationPolicy {
    search: Search,
    stagnation: Stagnation,
    budget: OverheadBudget,
    default: Timed,
    /// The best so far, where it is better than the default.
    best: Option<(Codes, f64)>,
    is_building: bool,
    ready: Option<Codes>,
    trial: Option<Timed>,
    /// Nothing more comes from the search.
    exhausted: bool,
    /// The step that the budget never allows.
    over_budget: Option<OverBudget>,
    finals: Option<Finals>,
    /// The trials of an earlier run, until the default's time is known.
    earlier: Vec<Tried>,
    /// Trials of this run that are not kept yet.
    tried: Vec<Tried>,
    /// Configurations that ran in this process and have not failed since.
    ran: HashSet<Codes>,
}

impl ExplorationPolicy {
    pub(super) fn new(search: Search, default: Codes, budget: OverheadBudget) -> Self {
        Self {
            search,
            stagnation: Stagnation::new(Confidence::default()),
            budget,
            default: Timed::new(default),
            best: None,
            is_building: false,
            ready: None,
            trial: None,
            exhausted: false,
            over_budget: None,
            finals: None,
            earlier: Vec::new(),
            tried: Vec::new(),
            ran: HashSet::new(),
        }
    }

    /// Continues after the trials of an earlier run.
    pub(super) fn resume(&mut self, earlier: Vec<Tried>) {
        self.earlier = earlier;
    }

    /// The trials since this was last called.
    pub(super) fn take_tried(&mut self) -> Vec<Tried> {
        std::mem::take(&mut self.tried)
    }

    /// Whether something is being built.
    pub(super) fn is_building(&self) -> bool {
        self.is_building
    }

    /// The time of calls that are not timed; `None` before that is known.
    pub(super) fn incumbent_us(&self) -> Option<f64> {
        let default_us = self.default_us()?;
        Some(self.best.as_ref().map_or(default_us, |(_, time)| *time))
    }

    /// The configuration of calls that are not timed; `None`: the default.
    pub(super) fn incumbent(&self) -> Option<&Codes> {
        self.best.as_ref().map(|(codes, _)| codes)
    }

    /// The number of configurations with a result.
    pub(super) fn evaluated(&self) -> usize {
        self.search.evaluated()
    }

    /// The next configuration to build, if one is wanted now.
    pub(super) fn next_to_build(&mut self) -> Option<Codes> {
        let default_us = self.default_us()?;
        self.warm_start(default_us);
        while !(self.exhausted || self.is_building || self.ready.is_some() || self.trial.is_some())
        {
            if self.stagnation.is_reached() {
                self.exhausted = true;
                break;
            }
            match self.budget.may_build(default_us) {
                Ok(true) => {}
                Ok(false) => break,
                Err(over_budget) => {
                    self.over_budget = Some(over_budget);
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

    /// The configuration that serves the next call.
    pub(super) fn next_call(&mut self) -> NextCall {
        if self.default.samples_us.len() < BASELINE {
            return NextCall::Timed(self.default.codes.clone());
        }
        let Some(default_us) = self.default_us() else {
            return NextCall::Incumbent;
        };
        if self.is_building {
            return NextCall::Incumbent;
        }
        if let Some(finals) = &self.finals {
            let next = finals.next().cloned();
            return next.map_or(NextCall::Incumbent, |next| self.timed(&next));
        }
        if let Some(trial) = self.trial.clone() {
            return self.timed(&trial);
        }
        match self.budget.may_try(default_us) {
            Affordable::Now => {
                if let Some(codes) = self.ready.take() {
                    self.trial = Some(Timed::new(codes.clone()));
                    return NextCall::Fresh(codes);
                }
            }
            Affordable::Later => {}
            Affordable::Never => self.ready = None,
        }
        if self.exhausted && self.ready.is_none() {
            self.finals = Some(self.finalists());
        }
        NextCall::Incumbent
    }

    /// A call was served by the incumbent configuration and not timed.
    pub(super) fn served(&mut self) {
        if let (Some(default_us), Some(incumbent_us)) = (self.default_us(), self.incumbent_us()) {
            self.budget.call(incumbent_us, default_us);
        }
    }

    /// A call was served by this configuration and took so long.
    pub(super) fn took(&mut self, codes: &[i64], time_us: f64) {
        if let Some(default_us) = self.default_us() {
            self.budget.call(time_us, default_us);
        }
        if let Some(finals) = &mut self.finals {
            finals.took(codes, time_us);
        } else if *self.default.codes == *codes {
            self.default.samples_us.push(time_us);
        } else {
            self.sample(codes, time_us);
        }
    }

    /// A configuration was tried besides the calls, which took so long, and is right. With all that
    /// belongs to that, the calls lost `cost_us`.
    pub(super) fn tried(&mut self, codes: &[i64], time_us: f64, cost_us: f64) {
        let default_us = self.default_us().unwrap_or(0.0);
        self.budget.checked(cost_us, default_us + time_us);
        self.sample(codes, time_us);
    }

    /// A build has cost the calls so much.
    pub(super) fn build_cost(&mut self, cost_us: f64) {
        self.budget.built(cost_us);
    }

    /// Something was done besides the calls.
    pub(super) fn extra(&mut self, time_us: f64) {
        self.budget.extra(time_us);
    }

    /// A configuration does not run, or is wrong. It is out for good, and the next best takes its
    /// place.
    pub(super) fn failed(&mut self, codes: &[i64]) {
        if self.ran.remove(codes) {
            // The next run must not rely on its time.
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

    /// The step that the budget never allows, where that ended the search early.
    pub(super) fn over_budget(&self) -> Option<OverBudget> {
        self.over_budget
    }

    /// The result, once it is certain.
    pub(super) fn result(&self) -> Option<TuningResult> {
        let (best, default_us) = self.finals.as_ref()?.winner()?;
        Some(TuningResult {
            codes: best.codes.clone(),
            time_us: best.median_us(),
            default_us,
            evaluated: self.search.evaluated() as u64,
        })
    }

    /// Gives the search the results of an earlier run, and has it try the best of them again.
    fn warm_start(&mut self, default_us: f64) {
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

    /// A timed call of this configuration, as soon as that is affordable. Where it never will be,
    /// the samples so far have to do.
    fn timed(&mut self, one: &Timed) -> NextCall {
        let Some(default_us) = self.default_us() else {
            return NextCall::Incumbent;
        };
        let expected = one.samples_us.iter().copied().fold(0.0, f64::max);
        let is_default = one.codes == self.default.codes;
        if is_default || self.budget.affords(SLOWER * expected, default_us) {
            return NextCall::Timed(one.codes.clone());
        }
        if self.budget.is_spent(default_us) {
            match &mut self.finals {
                Some(finals) => finals.remove(&one.codes),
                None => self.conclude(),
            }
        }
        NextCall::Incumbent
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

    /// Configurations that are not slower than the default, the fastest first.
    fn may_win(&self) -> Vec<Codes> {
        let default_us = self.default.median_us();
        let others = self.ran_best().into_iter();
        let others = others.filter(|(_, time_us)| *time_us <= default_us);
        others.map(|(codes, _)| codes).collect()
    }

    /// Configurations that ran in this process and have not failed, the fastest first.
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

impl std::fmt::Debug for ExplorationPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExplorationPolicy")
            .field("search", &self.search)
            .field("best", &self.best)
            .finish_non_exhaustive()
    }
}

/// So many timed calls of each finalist.
const FINAL_SAMPLES: usize = 7;
/// The least improvement over the default that counts.
const IMPROVEMENT: f64 = 0.98;

/// A configuration and its times, microseconds.
#[derive(Clone, Debug)]
struct Timed {
    codes: Codes,
    samples_us: Vec<f64>,
}

/// The comparison at the end of a search: the default and the best of the others serve calls in
/// turns.
#[derive(Clone, Debug)]
struct Finals(Vec<Timed>);

impl Timed {
    fn new(codes: Codes) -> Self {
        Self {
            codes,
            samples_us: Vec::new(),
        }
    }

    fn median_us(&self) -> f64 {
        median(&self.samples_us).unwrap_or(f64::INFINITY)
    }
}

impl Finals {
    fn new(default: Codes, others: impl Iterator<Item = Codes>) -> Self {
        let all = std::iter::once(default).chain(others);
        Self(all.map(Timed::new).collect())
    }

    /// The next one to be timed; `None` when all have been.
    fn next(&self) -> Option<&Timed> {
        let next = self.0.iter().min_by_key(|one| one.samples_us.len());
        next.filter(|one| one.samples_us.len() < FINAL_SAMPLES)
    }

    fn took(&mut self, codes: &[i64], time_us: f64) {
        let one = self.0.iter_mut().find(|one| *one.codes == *codes);
        if let Some(one) = one {
            one.samples_us.push(time_us);
        }
    }

    /// Whether it is one of them.
    fn has(&self, codes: &[i64]) -> bool {
        self.0.iter().any(|one| *one.codes == *codes)
    }

    /// Takes another one in.
    fn add(&mut self, other: Option<Codes>) {
        self.0.extend(other.map(Timed::new));
    }

    /// Leaves one out.
    fn remove(&mut self, codes: &[i64]) {
        self.0.retain(|one| *one.codes != *codes);
    }

    /// The best and the default's time, once all have been timed.
    fn winner(&self) -> Option<(&Timed, f64)> {
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

#[cfg(test)]
#[path = "../../tests/unit/runtime_tuning_exploration_policy.rs"]
mod tests;
