//! The results of an interrupted search.

use super::line::{LARGEST, Line, Place, codes};
use crate::session::plan::Job;
use cltune_core::fingerprint;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The results of a search that ended before it was done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Interrupted {
    /// The configurations and their times, microseconds; `None` where one failed.
    pub(crate) results: Vec<(Vec<i64>, Option<f64>)>,
    /// Configurations whose measuring began and never ended, and how often: the session or the worker was killed
    /// meanwhile, or the machine went down with it.
    pub(crate) unfinished: Vec<(Vec<i64>, usize)>,
    /// Whether it ended by itself all the same.
    pub(crate) ended: bool,
}

impl Interrupted {
    /// The best time, microseconds.
    pub(crate) fn best_us(&self) -> Option<f64> {
        let times = self.results.iter().filter_map(|(_, time)| *time);
        times.reduce(f64::min)
    }
}

/// What the last search in a journal has left, with all that it was resumed from; nothing where
/// there is none of this declaration, way of verifying, place and driver.
pub(super) fn interrupted(path: &Path, job: &Job) -> Interrupted {
    cltune_files::open(path, LARGEST).map_or_else(
        |_| Interrupted::default(),
        |file| read(BufReader::new(file), job),
    )
}

fn read(journal: impl BufRead, job: &Job) -> Interrupted {
    let model = &job.declaration.model;
    let verification = fingerprint::of_verification(&job.declaration);
    let place = Place::of(job);
    let mut results = BTreeMap::new();
    let mut begun: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
    let mut order = Vec::new();
    let mut ours = false;
    let mut ended = false;
    for line in journal.split(b'\n').map_while(std::io::Result::ok) {
        match Line::of(&line) {
            Line::Header(header) => {
                let is_same = header.is_of(&job.declaration) && header.verification == verification;
                let (of, session) = header.parts();
                ours = is_same && of == place && session.driver == job.device.driver;
                if !ours || !session.resumed {
                    results.clear();
                    begun.clear();
                    order.clear();
                }
                ended = false;
            }
            Line::Begin(begin) if ours => {
                if let Some(codes) = codes(&begin.begin, model) {
                    *begun.entry(codes).or_default() += 1;
                }
            }
            Line::Abandoned(abandoned) if ours => {
                if let Some(codes) = codes(&abandoned.abandoned, model)
                    && let Some(times) = begun.get_mut(&codes)
                {
                    *times = times.saturating_sub(1);
                }
            }
            Line::Result(result) if ours => {
                if let Some(codes) = codes(&result.values, model) {
                    begun.remove(&codes);
                    if result.recorded.killed {
                        begun.insert(codes.clone(), 1);
                    } else if results
                        .insert(codes.clone(), result.recorded.time_us)
                        .is_none()
                    {
                        order.push(codes);
                    }
                }
            }
            Line::End => ended = true,
            Line::Damaged { header: true } => ours = false,
            Line::Begin(_) | Line::Abandoned(_) | Line::Result(_) | Line::Damaged { .. } => {}
        }
    }
    let results = order.into_iter().map(|codes| {
        let time = results.get(&codes).copied().flatten();
        (codes, time)
    });
    begun.retain(|_, times| *times > 0);
    Interrupted {
        results: results.collect(),
        unfinished: begun.into_iter().collect(),
        ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::worker::DeviceRecord;

    fn job() -> Job {
        Job {
            folder: "app".into(),
            declaration: samples::declaration("app::saxpy", "b3:1", &[8]),
            device: DeviceRecord::new(0, &samples::device("d")),
            twins: Vec::new(),
            dims: vec![8],
        }
    }

    fn header() -> String {
        let verification = fingerprint::of_verification(&job().declaration);
        format!(
            r#"{{"kernel":"app::saxpy","fingerprint":"b3:1","verification":"{verification}","platform":"platform","device":"d","driver":"1","dimensions":["n"],"problem":[8],"params":["WG"],"strategy":"auto","seed":0,"resumed":false}}"#
        )
    }

    fn left(journal: &str) -> Interrupted {
        read(journal.as_bytes(), &job())
    }

    #[test]
    fn a_configuration_whose_worker_was_killed_is_measured_again() {
        let header = header();
        let killed = r#"{"values":[32],"time_us":null,"status":"crashed","killed":true}"#;
        let journal = format!("{header}\n{{\"begin\":[32]}}\n{killed}\n");
        assert_eq!(left(&journal).results, []);
        assert_eq!(left(&journal).unfinished, [(vec![32], 1)]);
        let then = format!("{journal}{{\"values\":[32],\"time_us\":7}}\n");
        assert_eq!(left(&then).results, [(vec![32], Some(7.0))]);
        assert_eq!(left(&then).unfinished, []);
    }

    #[test]
    fn a_search_is_put_together_from_all_its_sessions() {
        let header = header();
        let resumed = header.replace("false", "true");
        let journal = format!(
            "{header}\n{{\"begin\":[256]}}\n{{\"values\":[256],\"time_us\":9}}\n{{\"end\":\"done\"}}\n\
             {header}\n{{\"begin\":[32]}}\n{{\"values\":[32],\"time_us\":2}}\n{{\"begin\":[64]}}\n\
             {resumed}\n{{\"begin\":[64]}}\n{{\"values\":[128],\"time_us\":null}}\n"
        );
        let expected = Interrupted {
            results: vec![(vec![32], Some(2.0)), (vec![128], None)],
            unfinished: vec![(vec![64], 2)],
            ended: false,
        };
        assert_eq!(left(&journal), expected);
        assert!(left(&format!("{journal}{{\"end\":\"budget\"}}\n")).ended);
    }

    #[test]
    fn what_fails_later_or_is_abandoned_is_no_result() {
        let header = header();
        let journal = format!(
            "{header}\n{{\"begin\":[32]}}\n{{\"values\":[32],\"time_us\":2}}\n{{\"begin\":[64]}}\n\
             {{\"abandoned\":[64]}}\n{{\"abandoned\":[64]}}\n\
             {{\"values\":[32],\"status\":\"wrong-result\",\"time_us\":null}}\n"
        );
        let expected = Interrupted {
            results: vec![(vec![32], None)],
            ..Interrupted::default()
        };
        assert_eq!(left(&journal), expected);
    }

    #[test]
    fn a_changed_kernel_driver_or_reference_leaves_nothing() {
        let result = "{\"values\":[32],\"time_us\":2}";
        let found = left(&format!("{}\n{result}\n", header()));
        assert_eq!(found.results.len(), 1);
        let verification = fingerprint::of_verification(&job().declaration);
        for (is, was) in [
            (&*verification, "b3:2"),
            // A release that did not write it.
            (&*verification, ""),
            ("b3:1", "b3:2"),
            (r#""driver":"1""#, r#""driver":"2""#),
            ("[8]", "[9]"),
        ] {
            let header = header().replace(is, was);
            assert_eq!(
                left(&format!("{header}\n{result}\n")),
                Interrupted::default()
            );
            // Nor what came before it.
            let journal = format!("{}\n{result}\n{header}\n", self::header());
            assert_eq!(left(&journal), Interrupted::default());
        }
    }
}
