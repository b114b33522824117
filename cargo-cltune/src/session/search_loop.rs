//! The search loop: configurations are evaluated until there is a reason to end.

use super::cost::Cost;
use super::evaluation::Evaluation;
use super::finalists::Choice;
use super::journal::{Interrupted, Journal, Recorded};
use super::messages::Messages;
use super::pipeline::EvaluationQueue;
use super::progress::Progress;
use super::quarantine::Quarantine;
use super::result::{Failures, SearchError, Stopped};
use super::workers::WorkerError;
use crate::interrupt::interrupted;
use crate::plan::Job;
use crate::threads::lock;
use cltune_search::{Confidence, Score, Search, Stagnation, Status, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// A configuration that was timed once, within this factor of the best, may be slow because of a
/// disturbance of the machine.
const DISTURBANCE: f64 = 4.0;
/// At most this many of those are timed again.
const DOUBTFUL: usize = 3;

/// A search under way, and all that each result is reported to.
pub(super) struct SearchLoop<'a> {
    pub(super) job: &'a Job,
    pub(super) search: Search,
    /// The confidence with which a stagnant search is ended.
    pub(super) stop_when_stagnant: Option<Confidence>,
    /// The default configuration.
    pub(super) default: Vec<i64>,
    journal: Arc<Mutex<Journal>>,
    messages: Messages,
    pub(super) progress: Progress,
    pub(super) failures: Failures,
    /// The configurations that failed, with their status.
    failed: BTreeMap<Vec<i64>, Status>,
    quarantine: Quarantine,
    /// Results from after the search, which replace those of the search: the costs of
    /// configurations that were skipped or measured again, `None` for those that have failed since.
    revised: BTreeMap<Vec<i64>, Option<Cost>>,
    /// What the configurations cost that worked in the search.
    costs: BTreeMap<Vec<i64>, Cost>,
    /// The times that converting buffers to images took, microseconds.
    conversions: BTreeMap<Vec<i64>, f64>,
    /// Configurations that were timed only once, since they were clearly slower than the best.
    timed_once: Vec<Vec<i64>>,
    /// Configurations that the search has skipped, since a session ended while they were measured.
    skipped: BTreeSet<Vec<i64>>,
    /// Configurations whose worker another process killed, twice.
    killed: Vec<Vec<i64>>,
}

impl<'a> SearchLoop<'a> {
    /// A loop that has not begun. `default` is the default configuration.
    pub(super) fn new(
        job: &'a Job,
        search: Search,
        default: Vec<i64>,
        journal: Arc<Mutex<Journal>>,
        messages: Messages,
        progress: Progress,
    ) -> Self {
        Self {
            job,
            search,
            stop_when_stagnant: None,
            default,
            journal,
            messages,
            progress,
            failures: Failures::new(),
            failed: BTreeMap::new(),
            quarantine: Quarantine::default(),
            revised: BTreeMap::new(),
            costs: BTreeMap::new(),
            conversions: BTreeMap::new(),
            timed_once: Vec::new(),
            skipped: BTreeSet::new(),
            killed: Vec::new(),
        }
    }

    /// Measures until the search is done or `over` is true. Where a search with results is stopped
    /// early, the reason is returned and the results are kept.
    ///
    /// # Errors
    /// The reason, where the search is stopped without a result.
    pub(super) fn run(
        &mut self,
        queue: &mut dyn EvaluationQueue,
        over: impl Fn() -> bool,
    ) -> Result<Option<Stopped>, SearchError> {
        let mut ending = false;
        let mut under_way = 0;
        let mut checked = None;
        loop {
            while !ending && under_way < queue.capacity() {
                match self.search.step() {
                    Step::Measure(codes) => {
                        queue.submit(codes);
                        under_way += 1;
                    }
                    Step::Wait => break,
                    Step::Done => ending = true,
                }
            }
            let noted = match queue.next() {
                // What is under way is abandoned, which is no configuration's fault.
                Ok(None) | Err(WorkerError::Interrupted) => return Ok(None),
                Ok(Some((codes, measured))) => {
                    let noted = self.note(&codes, &measured);
                    noted.and_then(|()| self.check_device(&codes, &measured, &mut checked))
                }
                Err(error) => Err(error.into()),
            };
            under_way -= 1;
            if let Ok(Some(check)) = &noted {
                queue.submit(check.clone());
                under_way += 1;
            }
            if let Err(error) = noted {
                queue.cancel();
                return self.stop(error);
            }
            if !ending && (over() || self.is_stagnant()) {
                queue.cancel();
                ending = true;
            }
        }
    }

    /// Takes in the results of an interrupted search. Returns the configurations under measurement
    /// when a session ended: after a crash, each is retried once, last. One with which several
    /// sessions ended is not tried again.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(super) fn resume(&mut self, left: Interrupted) -> Result<Vec<Vec<i64>>, SearchError> {
        self.messages.resumed(self.job, &left);
        self.progress.resumed(&left);
        for result in &left.results {
            let (codes, cost) = (&result.codes, result.cost());
            self.search.know(codes, self.score(cost));
            self.costs.extend(cost.map(|cost| (codes.clone(), cost)));
            if let Some(conversion_us) = result.conversion_us {
                self.conversions.insert(codes.clone(), conversion_us);
            }
            if *codes == self.default {
                self.progress.default(self.figure(cost));
            }
            self.count(result);
        }
        let mut again = Vec::new();
        for (codes, times) in left.unfinished {
            if times == 1 {
                self.search.know(&codes, Score::Failed);
                self.skipped.insert(codes.clone());
                again.push(codes);
            } else {
                let reason = format!("{times} sessions ended while it was being measured");
                self.note(&codes, &Evaluation::Interrupted(reason))?;
            }
        }
        Ok(again)
    }

    /// Measures configurations that the search has skipped, or whose results are doubtful. The new
    /// results replace the old ones.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) fn measure(
        &mut self,
        configurations: Vec<Vec<i64>>,
        queue: &mut dyn EvaluationQueue,
    ) -> Result<Option<Stopped>, SearchError> {
        let mut waiting = configurations.into_iter();
        let mut under_way = 0;
        loop {
            let room = queue.capacity().saturating_sub(under_way);
            for codes in waiting.by_ref().take(room) {
                queue.submit(codes);
                under_way += 1;
            }
            let noted = match queue.next() {
                Ok(None) | Err(WorkerError::Interrupted) => return Ok(None),
                Ok(Some((codes, measured))) => self.revise(&codes, &measured),
                Err(error) => Err(error.into()),
            };
            under_way -= 1;
            if let Err(error) = noted {
                queue.cancel();
                return self.stop(error);
            }
        }
    }

    /// How many configurations have a result: also those of a resumed search that are beyond this
    /// one's budget, since the best of all is chosen.
    pub(super) fn evaluated(&self) -> u64 {
        let worked = self.costs.keys().chain(self.revised.keys());
        let all: BTreeSet<&Vec<i64>> = worked.chain(self.failed.keys()).collect();
        all.len() as u64
    }

    /// Every configuration that works, with what it costs.
    pub(super) fn costs(&self) -> Vec<(Vec<i64>, Cost)> {
        let costs = self.costs.iter();
        let mut costs: BTreeMap<Vec<i64>, Option<Cost>> = costs
            .map(|(codes, cost)| (codes.clone(), Some(*cost)))
            .collect();
        costs.extend(self.revised.clone());
        let costs = costs.into_iter();
        costs
            .filter_map(|(codes, cost)| Some((codes, cost?)))
            .collect()
    }

    /// What the objective wants least of.
    fn figure(&self, cost: Option<Cost>) -> Option<f64> {
        let objective = self.job.declaration.measure.objective;
        cost.map(|cost| cost.figure(objective))
    }

    fn score(&self, cost: Option<Cost>) -> Score {
        Score::of(self.figure(cost))
    }

    /// Whether a configuration was measured, and works as far as is known.
    pub(super) fn works(&self, codes: &[i64]) -> Option<bool> {
        if let Some(cost) = self.revised.get(codes) {
            return Some(cost.is_some());
        }
        let mut results = self.search.results();
        let found = results.find(|(of, _)| *of == codes);
        found.map(|(_, score)| score.time().is_some())
    }

    /// A configuration, if the search has not measured it; it counts as skipped then.
    pub(super) fn untried(&mut self, codes: Vec<i64>) -> Option<Vec<i64>> {
        if self.works(&codes).is_some() {
            return None;
        }
        self.skipped.insert(codes.clone());
        Some(codes)
    }

    /// Configurations with doubtful results, which are measured again: those whose worker another
    /// process killed, and those whose only time is near enough to the best that a disturbance of
    /// the machine may have kept them from the finalists. Of the latter the fastest come first.
    pub(super) fn doubtful(&self) -> Vec<Vec<i64>> {
        let best = self.search.best().map_or(0.0, |(_, best)| best);
        let costs: BTreeMap<Vec<i64>, Cost> = self.costs().into_iter().collect();
        let once = self.timed_once.iter();
        let mut slow: Vec<(&Vec<i64>, f64)> = once
            .filter_map(|codes| Some((codes, self.figure(costs.get(codes).copied())?)))
            .filter(|(_, figure)| *figure <= best * DISTURBANCE)
            .collect();
        slow.sort_by(|a, b| a.1.total_cmp(&b.1));
        let slow = slow.into_iter().take(DOUBTFUL).map(|(codes, _)| codes);
        self.killed.iter().chain(slow).cloned().collect()
    }

    /// Tells the journal that the search ended by itself; one that was interrupted can be resumed,
    /// and so can one whose device was lost.
    pub(super) fn end(&mut self, stopped: Option<&Stopped>, choice: Option<&Choice>) {
        if stopped.is_none() && !interrupted() {
            let mut journal = lock(&self.journal);
            // All results are written; without this line the next session offers to resume.
            let _ = journal.end(self.job, "done", choice);
        }
    }

    fn stop(&self, error: SearchError) -> Result<Option<Stopped>, SearchError> {
        if self.search.best().is_none() {
            return Err(error);
        }
        let device_lost = matches!(error, SearchError::Worker(_) | SearchError::DeviceLost(_));
        Ok(Some(Stopped {
            reason: error.to_string(),
            device_lost,
        }))
    }

    pub(super) fn is_stagnant(&self) -> bool {
        self.stop_when_stagnant.is_some_and(|confidence| {
            // From all results, so that those known beforehand count.
            let scores = self.search.results().map(|(_, score)| score);
            Stagnation::of(confidence, scores).is_reached()
        })
    }

    /// Takes a result in. One that the journal cannot hold counts all the same.
    fn note(&mut self, codes: &[i64], evaluation: &Evaluation) -> Result<(), SearchError> {
        let Some(recorded) = Recorded::new(codes, evaluation) else {
            return self.abandon(codes);
        };
        let cost = recorded.cost();
        self.search.tell(codes, self.score(cost));
        self.costs.extend(cost.map(|cost| (codes.to_vec(), cost)));
        if let Some(conversion_us) = recorded.conversion_us {
            self.conversions.insert(codes.to_vec(), conversion_us);
        }
        if recorded.samples_us.len() == 1 {
            self.timed_once.push(codes.to_vec());
        }
        if recorded.killed {
            self.killed.push(codes.to_vec());
        }
        let configuration = || self.job.configuration(codes);
        let figure = self.figure(cost);
        self.progress.step(&recorded.status, figure, configuration);
        let written = self.report(&recorded, false);
        if let Some((best, _)) = self.search.best()
            && best == codes
            && let Some(cost) = cost
        {
            self.messages.best(self.job, best, cost);
        }
        written
    }

    /// Takes a result from after the search in, which replaces that of the search. A failure is
    /// final.
    pub(super) fn revise(
        &mut self,
        codes: &[i64],
        evaluation: &Evaluation,
    ) -> Result<(), SearchError> {
        let Some(mut recorded) = Recorded::new(codes, evaluation) else {
            return self.abandon(codes);
        };
        // Only the search itself measures it.
        recorded.conversion_us = self
            .conversion_us(codes)
            .filter(|_| recorded.time_us.is_some());
        self.revised.insert(codes.to_vec(), recorded.cost());
        let is_first = self.skipped.remove(codes);
        self.report(&recorded, !is_first)
    }

    /// The time that converting buffers to images took for a configuration, microseconds.
    pub(super) fn conversion_us(&self, codes: &[i64]) -> Option<f64> {
        self.conversions.get(codes).copied()
    }

    /// Reports a result to the journal, to tools and to the person who waits.
    fn report(&mut self, recorded: &Recorded, revised: bool) -> Result<(), SearchError> {
        let written = lock(&self.journal).result(self.job, recorded);
        self.messages.configuration(self.job, recorded, revised);
        if recorded.codes == self.default {
            self.progress.default(self.figure(recorded.cost()));
        }
        self.count(recorded);
        Ok(written?)
    }

    /// Counts a failure. A configuration that was measured again counts with its last result.
    fn count(&mut self, recorded: &Recorded) {
        let before = self.failed.remove(&recorded.codes);
        if let Some((count, _)) = before.and_then(|status| self.failures.get_mut(&status)) {
            *count -= 1;
        }
        self.failures.retain(|_, (count, _)| *count > 0);
        if let Some(detail) = &recorded.detail {
            let configuration = self.job.configuration(&recorded.codes);
            let first = || (0, format!("{configuration}: {detail}"));
            let failures = self.failures.entry(recorded.status.clone());
            failures.or_insert_with(first).0 += 1;
            self.failed
                .insert(recorded.codes.clone(), recorded.status.clone());
        }
    }

    /// Tells the journal that a configuration has no result, through no fault of its own.
    fn abandon(&mut self, codes: &[i64]) -> Result<(), SearchError> {
        let mut journal = lock(&self.journal);
        Ok(journal.abandon(self.job, codes)?)
    }

    /// Watches for repeated failures. After too many in a row, returns the best configuration so
    /// far, which is measured to check whether the device still works. `checked` is the one that is
    /// being measured for this.
    ///
    /// # Errors
    /// The device does not work any more.
    fn check_device(
        &mut self,
        codes: &[i64],
        measured: &Evaluation,
        checked: &mut Option<Vec<i64>>,
    ) -> Result<Option<Vec<i64>>, SearchError> {
        if checked.as_deref() == Some(codes) {
            *checked = None;
            if measured.time_us().is_none() {
                return Err(self.quarantine.given_up().into());
            }
            self.quarantine.reset();
            return Ok(None);
        }
        self.quarantine.note(measured);
        let best = self.search.best().map(|(codes, _)| codes.to_vec());
        if best.is_none() && self.quarantine.is_hopeless() {
            return Err(self.quarantine.given_up().into());
        }
        if checked.is_some() || !self.quarantine.is_suspicious() {
            return Ok(None);
        }
        checked.clone_from(&best);
        Ok(best)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/search_loop.rs"]
mod tests;
