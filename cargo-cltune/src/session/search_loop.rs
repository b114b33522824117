//! The search loop: configurations are evaluated until there is a reason to end.

use super::evaluation::Evaluation;
use super::journal::{Interrupted, Journal, Recorded};
use super::messages::Messages;
use super::pipeline::EvaluationQueue;
use super::plan::Job;
use super::progress::Progress;
use super::quarantine::Quarantine;
use super::result::{Failures, SearchError, Stopped};
use super::workers::WorkerError;
use crate::interrupt::interrupted;
use crate::threads::lock;
use cltune_search::{Confidence, Score, Search, Stagnation, Status, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// A configuration whose only time is within this factor of the best may owe it to a hiccup of the machine.
const HICCUP: f64 = 4.0;
/// So many of those are timed again at most.
const DOUBTFUL: usize = 3;

/// A search under way, and all that each result is reported to.
pub(super) struct SearchLoop<'a> {
    pub(super) job: &'a Job,
    pub(super) search: Search,
    /// With which confidence a search that leads nowhere is ended.
    pub(super) stop_when_stagnant: Option<Confidence>,
    /// The default configuration.
    pub(super) default: Vec<i64>,
    pub(super) journal: Arc<Mutex<Journal>>,
    pub(super) messages: Messages,
    pub(super) progress: Progress,
    pub(super) failures: Failures,
    /// What failed, and how.
    pub(super) failed: BTreeMap<Vec<i64>, Status>,
    pub(super) quarantine: Quarantine,
    /// What was found after the search: the times of what it had stepped over or was measured again, `None`
    /// for what has failed since. These replace the search's results.
    pub(super) revised: BTreeMap<Vec<i64>, Option<f64>>,
    /// What was timed only once, since that was clearly slower than the best.
    pub(super) timed_once: Vec<Vec<i64>>,
    /// What the search has stepped over, since a session ended with it.
    pub(super) stepped_over: BTreeSet<Vec<i64>>,
    /// What somebody killed the worker of, twice.
    pub(super) killed: Vec<Vec<i64>>,
}

impl SearchLoop<'_> {
    /// Measures until the search is done or `over` says so. What stops a search early is returned
    /// once something was found, which then is kept.
    ///
    /// # Errors
    /// What stopped it before anything was found.
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
                    noted.and_then(|()| self.suspect(&codes, &measured, &mut checked))
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

    /// Takes in what an interrupted search has left. Returns what is to be measured in the end, when
    /// all else is safe: configurations with which a session ended, once. One with which several
    /// did is not tried again.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(super) fn resume(&mut self, left: Interrupted) -> Result<Vec<Vec<i64>>, SearchError> {
        self.messages.resumed(self.job, &left);
        self.progress.resumed(&left);
        for (codes, time) in &left.results {
            self.search.know(codes, Score::of(*time));
            if *codes == self.default {
                self.progress.default(*time);
            }
        }
        let mut again = Vec::new();
        for (codes, times) in left.unfinished {
            if times == 1 {
                self.search.know(&codes, Score::Failed);
                self.stepped_over.insert(codes.clone());
                again.push(codes);
            } else {
                let reason = format!("{times} sessions ended while it was being measured");
                self.note(&codes, &Evaluation::Interrupted(reason))?;
            }
        }
        Ok(again)
    }

    /// Measures what the search has stepped over, or measured badly; the results replace those that there
    /// are.
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

    /// Every configuration that works, with its time.
    pub(super) fn times(&self) -> Vec<(Vec<i64>, f64)> {
        let results = self.search.results();
        let mut times: BTreeMap<Vec<i64>, Option<f64>> = results
            .map(|(codes, score)| (codes.to_vec(), score.time()))
            .collect();
        times.extend(self.revised.clone());
        let times = times.into_iter();
        times
            .filter_map(|(codes, time)| Some((codes, time?)))
            .collect()
    }

    /// Whether a configuration was measured, and works as far as is known.
    pub(super) fn works(&self, codes: &[i64]) -> Option<bool> {
        if let Some(time) = self.revised.get(codes) {
            return Some(time.is_some());
        }
        let mut results = self.search.results();
        let found = results.find(|(of, _)| *of == codes);
        found.map(|(_, score)| score.time().is_some())
    }

    /// Those of which little is known: whoever killed their workers may have ended by now; and so has a hiccup
    /// of the machine that may be all there is to an only time, where that is so little above the best that
    /// they may be among the finalists. Of these the fastest first.
    pub(super) fn doubtful(&self) -> Vec<Vec<i64>> {
        let best_us = self.search.best().map_or(0.0, |(_, best_us)| best_us);
        let times: BTreeMap<Vec<i64>, f64> = self.times().into_iter().collect();
        let once = self.timed_once.iter();
        let mut slow: Vec<(&Vec<i64>, f64)> = once
            .filter_map(|codes| Some((codes, *times.get(codes)?)))
            .filter(|(_, time_us)| *time_us <= best_us * HICCUP)
            .collect();
        slow.sort_by(|a, b| a.1.total_cmp(&b.1));
        let slow = slow.into_iter().take(DOUBTFUL).map(|(codes, _)| codes);
        self.killed.iter().chain(slow).cloned().collect()
    }

    /// Tells the journal that the search ended by itself; one that was interrupted can be resumed,
    /// and so can one whose device was lost.
    pub(super) fn end(&mut self, stopped: Option<&Stopped>) {
        if stopped.is_none() && !interrupted() {
            let mut journal = lock(&self.journal);
            // All results are there; without this line the next session offers to go on.
            let _ = journal.end("done");
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
        self.search.tell(codes, Score::of(recorded.time_us));
        if recorded.samples_us.len() == 1 {
            self.timed_once.push(codes.to_vec());
        }
        if recorded.killed {
            self.killed.push(codes.to_vec());
        }
        let configuration = || self.job.configuration(codes);
        self.progress
            .step(&recorded.status, recorded.time_us, configuration);
        let written = self.report(&recorded, false);
        if let Some((best, time_us)) = self.search.best()
            && best == codes
        {
            self.messages.best(self.job, best, time_us);
        }
        written
    }

    /// Takes in what was found after the search; it replaces what the search knows of the configuration. A
    /// failure is one for good.
    pub(super) fn revise(
        &mut self,
        codes: &[i64],
        evaluation: &Evaluation,
    ) -> Result<(), SearchError> {
        let Some(recorded) = Recorded::new(codes, evaluation) else {
            return self.abandon(codes);
        };
        self.revised.insert(codes.to_vec(), recorded.time_us);
        let is_first = self.stepped_over.remove(codes);
        self.report(&recorded, !is_first)
    }

    /// Reports a result to the journal, to tools and to the person who waits.
    fn report(&mut self, recorded: &Recorded, revised: bool) -> Result<(), SearchError> {
        let written = lock(&self.journal).result(self.job, recorded);
        self.messages.configuration(self.job, recorded, revised);
        if recorded.codes == self.default {
            self.progress.default(recorded.time_us);
        }
        self.count(recorded);
        Ok(written?)
    }

    /// Counts a failure, and one no longer that was measured again.
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

    /// After too many failures in a row, what is to be measured to learn whether the device still
    /// works: the best configuration so far. `checked` is the one that is being measured for this.
    ///
    /// # Errors
    /// It does not work any more.
    fn suspect(
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
mod tests {
    use super::super::journal::{Disk, Session};
    use super::*;
    use crate::samples;
    use crate::worker::DeviceRecord;
    use cltune_runtime::tuning::{Measurement, Outcome};
    use cltune_search::space::Space;
    use cltune_search::{Setting, find};
    use std::io::{self, Write};

    /// A disk with room for so many lines.
    struct Full(usize);

    impl Disk for Full {
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A device that measures one after another.
    struct Device<F> {
        measure: F,
        waiting: Vec<Vec<i64>>,
    }

    impl<F: FnMut(&[i64]) -> Result<Evaluation, WorkerError>> EvaluationQueue for Device<F> {
        fn capacity(&self) -> usize {
            1
        }

        fn submit(&mut self, codes: Vec<i64>) {
            self.waiting.push(codes);
        }

        fn next(&mut self) -> Result<Option<(Vec<i64>, Evaluation)>, WorkerError> {
            let Some(codes) = self.waiting.pop() else {
                return Ok(None);
            };
            (self.measure)(&codes).map(|measured| Some((codes, measured)))
        }

        fn cancel(&mut self) {
            self.waiting.clear();
        }
    }

    /// A search of the configurations 32, 64, 128 and 256, the first the default, with room for so many lines
    /// in its journal.
    fn search_loop(job: &Job, lines: usize) -> SearchLoop<'_> {
        let model = &job.declaration.model;
        let space = Space::build(&model.space_spec(&job.dims, &job.device.info().limits));
        let session = Session::default();
        let journal = Journal::start(Box::new(Full(lines)), job, session).unwrap();
        SearchLoop {
            job,
            search: Search::new(find("full").unwrap(), &Setting::new(Arc::new(space))),
            stop_when_stagnant: None,
            default: vec![32],
            journal: Arc::new(Mutex::new(journal)),
            messages: Messages { enabled: false },
            progress: Progress::silent(),
            failures: Failures::new(),
            failed: BTreeMap::new(),
            quarantine: Quarantine::default(),
            revised: BTreeMap::new(),
            timed_once: Vec::new(),
            stepped_over: BTreeSet::new(),
            killed: Vec::new(),
        }
    }

    fn job() -> Job {
        Job {
            folder: "app".into(),
            declaration: samples::declaration("app::saxpy", "b3:1", &[8]),
            device: DeviceRecord::new(0, &samples::device("x")),
            twins: Vec::new(),
            dims: vec![8],
        }
    }

    /// What a search of four configurations says at its end, its results, and how many failed.
    fn outcome(
        lines: usize,
        measure: impl Fn(&[i64]) -> Result<Evaluation, WorkerError>,
    ) -> (Result<Option<Stopped>, String>, Vec<f64>, u64) {
        let job = job();
        let mut search = search_loop(&job, lines);
        let mut device = Device {
            measure,
            waiting: Vec::new(),
        };
        let end = search.run(&mut device, || false);
        let times = search.search.results();
        let times = times.filter_map(|(_, score)| score.time()).collect();
        let failed = search.failures.values().map(|(count, _)| count).sum();
        (end.map_err(|error| error.to_string()), times, failed)
    }

    fn timed(samples_us: &[f64]) -> Evaluation {
        Evaluation::Answered(Outcome::Ok(Measurement {
            time_us: samples_us[0],
            samples_us: samples_us.to_vec(),
            build_seconds: 0.0,
        }))
    }

    fn ok(codes: &[i64]) -> Evaluation {
        timed(&[codes[0] as f64])
    }

    #[test]
    fn what_was_timed_once_and_may_be_fast_is_timed_again() {
        let job = job();
        let mut search = search_loop(&job, 99);
        let mut asked = Vec::new();
        let mut device = Device {
            measure: |codes: &[i64]| {
                asked.push(codes[0]);
                let again = asked.iter().filter(|of| **of == codes[0]).count() > 1;
                Ok(match codes[0] {
                    32 => timed(&[10.0; 6]),
                    // A hiccup; as slow as it looked; too slow for either.
                    64 if again => timed(&[8.0; 6]),
                    64 => timed(&[30.0]),
                    128 => timed(&[25.0]),
                    _ => timed(&[100.0]),
                })
            },
            waiting: Vec::new(),
        };
        assert_eq!(search.run(&mut device, || false).unwrap(), None);
        let doubtful = search.doubtful();
        assert_eq!(doubtful, [[128], [64]]);
        assert_eq!(search.measure(doubtful, &mut device).unwrap(), None);
        assert_eq!(asked, [32, 64, 128, 256, 128, 64]);
        let times = [(32, 10.0), (64, 8.0), (128, 25.0), (256, 100.0)];
        assert_eq!(search.times(), times.map(|(code, time)| (vec![code], time)));
    }

    #[test]
    fn what_fails_after_the_search_is_no_result_of_it() {
        let job = job();
        let mut search = search_loop(&job, 99);
        let mut device = Device {
            measure: |codes: &[i64]| Ok(ok(codes)),
            waiting: Vec::new(),
        };
        assert_eq!(search.run(&mut device, || false).unwrap(), None);
        assert_eq!(search.works(&[64]), Some(true));
        let crash = Evaluation::Crashed("boom".into());
        search.revise(&[64], &crash).unwrap();
        assert_eq!(search.works(&[64]), Some(false));
        assert_eq!(search.works(&[512]), None);
        let left = search.times().into_iter().map(|(codes, _)| codes[0]);
        assert_eq!(left.collect::<Vec<_>>(), [32, 128, 256]);
        assert_eq!(
            search.failures[&Status::Crashed],
            (1, "WG = 64: boom".to_owned())
        );
        // One whose worker was killed may be measured after all.
        search.revise(&[64], &timed(&[1.0])).unwrap();
        assert_eq!(search.works(&[64]), Some(true));
        assert!(search.failures.is_empty());
    }

    #[test]
    fn a_full_disk_ends_the_search_and_loses_nothing() {
        let (end, times, _) = outcome(3, |codes| Ok(ok(codes)));
        let stopped = end.unwrap().unwrap();
        assert!(stopped.reason.starts_with("cannot write the journal"));
        assert!(!stopped.device_lost);
        // The third result was measured, though the journal does not have it.
        assert_eq!(times, [32.0, 64.0, 128.0]);
    }

    #[test]
    fn an_early_end_with_nothing_found_is_an_error() {
        let crash = |_: &[i64]| Ok(Evaluation::Crashed("boom".into()));
        let (end, times, failed) = outcome(3, crash);
        assert!(end.unwrap_err().starts_with("cannot write the journal"));
        assert_eq!((times.len(), failed), (0, 3));

        let gone = |_: &[i64]| Err(WorkerError::Refused("no device".into()));
        let (end, ..) = outcome(9, gone);
        assert_eq!(end.unwrap_err(), "no device");
    }

    #[test]
    fn a_device_that_is_lost_ends_the_search_and_loses_nothing() {
        let (end, times, failed) = outcome(9, |codes| match codes[0] {
            32 => Ok(Evaluation::TimedOut("late".into())),
            256 => Err(WorkerError::Refused("no device".into())),
            _ => Ok(ok(codes)),
        });
        let expected = Stopped {
            reason: "no device".into(),
            device_lost: true,
        };
        assert_eq!(end.unwrap(), Some(expected));
        assert_eq!((times.as_slice(), failed), (&[64.0, 128.0][..], 1));
    }
}
