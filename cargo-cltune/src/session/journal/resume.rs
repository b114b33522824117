//! The results of an interrupted search.

use super::line::{LARGEST, Line, Place, Recorded, codes};
use crate::plan::Job;
use cltune_formats::fingerprint;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The results of a search that ended before it was done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Interrupted {
    /// The last result of each configuration, in the order of measuring.
    pub(crate) results: Vec<Recorded>,
    /// Configurations whose measuring began and never ended, and how often: the session or the
    /// worker was killed meanwhile, or the machine went down with it.
    pub(crate) unfinished: Vec<(Vec<i64>, usize)>,
    /// Whether it ended by itself all the same.
    pub(crate) ended: bool,
}

impl Interrupted {
    /// The best time, microseconds.
    pub(crate) fn best_us(&self) -> Option<f64> {
        let times = self.results.iter().filter_map(|result| result.time_us);
        times.reduce(f64::min)
    }
}

/// What the last search in a journal has left, with all that it was resumed from; nothing where
/// there is none of this declaration, way of verifying and timing, place and driver.
pub(super) fn interrupted(path: &Path, job: &Job) -> Interrupted {
    cltune_files::open(path, LARGEST).map_or_else(
        |_| Interrupted::default(),
        |file| read(BufReader::new(file), job),
    )
}

fn read(journal: impl BufRead, job: &Job) -> Interrupted {
    let model = &job.declaration.model;
    let verification = fingerprint::of_results(&job.declaration);
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
                ours = is_same && of.is(&place) && session.driver == job.device.driver;
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
                    } else {
                        let recorded = Recorded {
                            codes: codes.clone(),
                            ..result.recorded
                        };
                        if results.insert(codes.clone(), recorded).is_none() {
                            order.push(codes);
                        }
                    }
                }
            }
            Line::End(_) => ended = true,
            Line::Damaged { header: true } | Line::Newer(_) => ours = false,
            Line::Begin(_) | Line::Abandoned(_) | Line::Result(_) | Line::Damaged { .. } => {}
        }
    }
    let results = order.iter().filter_map(|codes| results.remove(codes));
    begun.retain(|_, times| *times > 0);
    Interrupted {
        results: results.collect(),
        unfinished: begun.into_iter().collect(),
        ended,
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/journal_resume.rs"]
mod tests;
