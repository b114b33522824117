//! The course of a search: one configuration after another, until there is a reason to end.

use super::bench::{BenchError, Measured};
use super::journal::{Journal, Line};
use super::messages::Messages;
use super::plan::Job;
use super::progress::Progress;
use super::search::SearchError;
use cltune_runtime::search::{Confidence, Score, Search, Stagnation, Step};
use std::collections::BTreeMap;

/// How many configurations failed, by status, and the first reason of each.
pub(crate) type Failures = BTreeMap<&'static str, (u64, String)>;

/// A search under way, and all who learn of each result.
pub(super) struct Course<'a> {
    pub(super) job: &'a Job,
    pub(super) search: Search,
    /// With which confidence a search that leads nowhere is ended.
    pub(super) stop_when_stagnant: Option<Confidence>,
    /// The default configuration.
    pub(super) default: Vec<i64>,
    pub(super) journal: Journal,
    pub(super) messages: Messages,
    pub(super) progress: Progress,
    pub(super) failures: Failures,
}

impl Course<'_> {
    /// Measures until the search is done or `over` says so. `measure` is given a configuration
    /// and the best time so far. What stops a search early is returned as text once something
    /// was found, which then is kept.
    ///
    /// # Errors
    /// What stopped it before anything was found.
    pub(super) fn run(
        &mut self,
        mut measure: impl FnMut(&[i64], Option<f64>) -> Result<Measured, BenchError>,
        over: impl Fn() -> bool,
    ) -> Result<Option<String>, SearchError> {
        while !over()
            && !self.is_stagnant()
            && let Step::Measure(codes) = self.search.step()
        {
            let best_us = self.search.best().map(|(_, time_us)| time_us);
            let noted = measure(&codes, best_us)
                .map_err(SearchError::from)
                .and_then(|measured| self.note(&codes, &measured));
            match noted {
                Ok(()) => {}
                Err(error) if self.search.best().is_none() => return Err(error),
                Err(error) => return Ok(Some(error.to_string())),
            }
        }
        Ok(None)
    }

    pub(super) fn is_stagnant(&self) -> bool {
        self.stop_when_stagnant.is_some_and(|confidence| {
            // From all results, so that those known beforehand count.
            let scores = self.search.results().map(|(_, score)| score);
            Stagnation::of(confidence, scores).is_reached()
        })
    }

    /// Takes a result in. One that the journal cannot hold counts all the same.
    fn note(&mut self, codes: &[i64], measured: &Measured) -> Result<(), SearchError> {
        let line = Line::new(self.job, codes, measured);
        let written = self.journal.line(&line);
        self.messages.configuration(self.job, &line);
        self.search.tell(codes, Score::of(line.time_us));
        if codes == self.default {
            self.progress.default(line.time_us);
        }
        let configuration = || self.job.configuration(codes);
        self.progress.step(line.time_us, configuration);
        if let Some((best, time_us)) = self.search.best()
            && best == codes
        {
            self.messages.best(self.job, best, time_us);
        }
        if let Some(detail) = line.detail {
            let first = || (0, format!("{}: {detail}", configuration()));
            self.failures.entry(line.status).or_insert_with(first).0 += 1;
        }
        Ok(written?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::worker::DeviceRecord;
    use cltune_core::space::Space;
    use cltune_runtime::search::{Setting, find};
    use cltune_runtime::tuning::{Measurement, Outcome};
    use std::io::{self, Write};
    use std::sync::Arc;

    /// A disk with room for so many lines.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What a search of four configurations says at its end, its results, and how many failed.
    fn outcome(
        lines: usize,
        measure: impl Fn(&[i64]) -> Result<Measured, BenchError>,
    ) -> (Result<Option<String>, String>, Vec<f64>, u64) {
        let job = Job {
            folder: "app".into(),
            declaration: samples::declaration("app::saxpy", "b3:1", &[8]),
            device: DeviceRecord::new(0, &samples::device("x")),
            dims: vec![8],
        };
        let model = &job.declaration.model;
        let space = Space::build(&model.space_spec(&job.dims, &job.device.info().limits));
        let mut course = Course {
            job: &job,
            search: Search::new(find("full").unwrap(), &Setting::new(Arc::new(space))),
            stop_when_stagnant: None,
            default: vec![32],
            journal: Journal::begin(Box::new(Disk(lines)), &job, "full", 0).unwrap(),
            messages: Messages { enabled: false },
            progress: Progress::new("", None, None, true),
            failures: Failures::new(),
        };
        let end = course.run(|codes, _| measure(codes), || false);
        let times = course.search.results();
        let times = times.filter_map(|(_, score)| score.time()).collect();
        let failed = course.failures.values().map(|(count, _)| count).sum();
        (end.map_err(|error| error.to_string()), times, failed)
    }

    fn ok(codes: &[i64]) -> Measured {
        Measured::Outcome(Outcome::Ok(Measurement {
            time_us: codes[0] as f64,
            samples_us: vec![codes[0] as f64],
            build_seconds: 0.0,
        }))
    }

    #[test]
    fn a_full_disk_ends_the_search_and_loses_nothing() {
        let (end, times, _) = outcome(3, |codes| Ok(ok(codes)));
        let reason = end.unwrap().unwrap();
        assert!(reason.starts_with("cannot write the journal"), "{reason}");
        // The third result was measured, though the journal does not have it.
        assert_eq!(times, [32.0, 64.0, 128.0]);
    }

    #[test]
    fn an_early_end_with_nothing_found_is_an_error() {
        let crash = |_: &[i64]| Ok(Measured::Crashed("boom".into()));
        let (end, times, failed) = outcome(3, crash);
        assert!(end.unwrap_err().starts_with("cannot write the journal"));
        assert_eq!((times.len(), failed), (0, 3));

        let gone = |_: &[i64]| Err(BenchError::Refused("no device".into()));
        let (end, ..) = outcome(9, gone);
        assert_eq!(end.unwrap_err(), "no device");
    }

    #[test]
    fn a_device_that_is_lost_ends_the_search_and_loses_nothing() {
        let (end, times, failed) = outcome(9, |codes| match codes[0] {
            32 => Ok(Measured::TimedOut("late".into())),
            256 => Err(BenchError::Refused("no device".into())),
            _ => Ok(ok(codes)),
        });
        assert_eq!(end.unwrap().as_deref(), Some("no device"));
        assert_eq!((times.as_slice(), failed), (&[64.0, 128.0][..], 1));
    }
}
