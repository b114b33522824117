//! Unit tests of `session::search_loop`.

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

/// A search of the configurations 32, 64, 128 and 256, the first the default, with room for so many
/// lines in its journal.
fn search_loop(job: &Job, lines: usize) -> SearchLoop<'_> {
    let session = Session::default();
    let journal = Journal::start(Box::new(Full(lines)), job, session).unwrap();
    let search = Search::new(find("full").unwrap(), &setting(job));
    let journal = Arc::new(Mutex::new(journal));
    let messages = Messages { enabled: false };
    SearchLoop::new(job, search, vec![32], journal, messages, Progress::silent())
}

fn setting(job: &Job) -> Setting {
    let model = &job.declaration.model;
    let space = Space::build(&model.space_spec(&job.dims, &job.device.info().limits));
    Setting::new(Arc::new(space))
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
        stages: Vec::new(),
        build_seconds: 0.0,
        conversion_us: None,
        energy: None,
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
    assert_eq!(
        search.costs(),
        times.map(|(code, time)| (vec![code], Cost::of_time(time)))
    );
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
    let left = search.costs().into_iter().map(|(codes, _)| codes[0]);
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

#[test]
fn results_that_are_resumed_count_beyond_the_budget() {
    let job = job();
    let mut search = search_loop(&job, 99);
    search.search = Search::new(find("full").unwrap(), &setting(&job).budget(2));
    let result = |code: i64, time_us: Option<f64>| Recorded {
        codes: vec![code],
        time_us,
        detail: time_us.is_none().then(|| "boom".to_owned()),
        ..Recorded::default()
    };
    let left = Interrupted {
        results: vec![
            result(256, Some(1.0)),
            result(128, None),
            result(64, Some(2.0)),
        ],
        // Measured after the others.
        unfinished: vec![(vec![32], 1)],
        ended: false,
    };
    let again = search.resume(left).unwrap();
    let mut device = Device {
        measure: |codes: &[i64]| Ok(ok(codes)),
        waiting: Vec::new(),
    };
    assert_eq!(search.run(&mut device, || false).unwrap(), None);
    assert_eq!(search.evaluated(), 3);
    assert_eq!(search.measure(again, &mut device).unwrap(), None);
    assert_eq!(search.evaluated(), 4);
    let costs = search.costs().into_iter().map(|(codes, _)| codes[0]);
    assert_eq!(costs.collect::<Vec<_>>(), [32, 64, 256]);
}
