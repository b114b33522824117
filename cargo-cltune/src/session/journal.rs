//! Every result as it comes: JSON lines, so that nothing measured is ever lost.
//!
//! A configuration has two lines: one before it is measured, so that what brings the session down
//! (or the machine) is known afterwards, and one with what became of it. One that is measured again or fails
//! among the finalists has a third, which counts. Each line is written at once
//! and ends with a checksum; the disk is asked to keep them twice a second. `kill -9` at any moment
//! costs half a line, which is dropped.
//!
//! | file | owns |
//! |---|---|
//! | `checksum` | the checksum of a line |
//! | `entry` | what lines there are |
//! | `repair` | torn and damaged journals |
//! | `resume` | what an interrupted search has left |
//! | `read` | what all journals know of a kernel |

mod checksum;
mod entry;
mod read;
mod repair;
mod resume;

pub(crate) use read::{Place, Recalled, Recorded, Session, recall};
pub(crate) use resume::Interrupted;

use super::bench::Measured;
use super::plan::Job;
use super::progress::time;
use crate::json;
use checksum::seal;
use cltune_core::fingerprint;
use cltune_core::model::Model;
use cltune_runtime::tuning::Outcome;
use repair::{Repair, repair};
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The folder of all journals, in that of the session's state.
const FOLDER: &str = "journal";
/// How journals' names end.
const EXTENSION: &str = "jsonl";
/// The bytes that a file's name may have.
const LONGEST_NAME: usize = 255;
/// How many of a longer one are left for people.
const READABLE: usize = 160;
/// How often the disk is asked to keep what was written.
const SYNC_EVERY: Duration = Duration::from_millis(500);

/// The journal of one kernel, device and problem. Sessions are appended.
pub(crate) struct Journal {
    to: Box<dyn Disk>,
    synced: Instant,
}

/// What a journal is written to.
pub(crate) trait Disk: Write + Send {
    /// Blocks until what was written would survive a power cut.
    fn sync(&mut self) -> io::Result<()>;
}

impl Disk for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// How a session searches.
#[derive(Clone, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) strategy: &'a str,
    pub(crate) seed: u64,
    /// Whether to go on where the session before ended.
    pub(crate) resume: bool,
}

/// A journal that a session is about to write to.
pub(crate) struct Opened {
    pub(crate) journal: Journal,
    /// What the search before has left, whether or not it is resumed.
    pub(crate) interrupted: Interrupted,
    /// What is wrong with the journal, for people.
    pub(crate) warning: Option<String>,
}

/// One line: a configuration and what became of it.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    pub(crate) values: Vec<serde_json::Value>,
    pub(crate) status: &'static str,
    pub(crate) time_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) samples_us: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) build_seconds: Option<f64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<Cow<'a, str>>,
    /// Whether somebody else ended its worker, so that it is measured once more when the search is resumed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) killed: bool,
}

impl<'a> Line<'a> {
    /// `None` of a configuration of which nothing is known.
    pub(crate) fn new(job: &Job, codes: &[i64], measured: &'a Measured) -> Option<Self> {
        let line = Self {
            values: json::values(&job.declaration.model, codes),
            status: "ok",
            time_us: None,
            samples_us: None,
            build_seconds: None,
            detail: None,
            killed: matches!(measured, Measured::Killed(_)),
        };
        let (status, detail): (_, Cow<'a, str>) = match measured {
            Measured::Outcome(Outcome::Ok(measurement)) => {
                return Some(Self {
                    time_us: Some(measurement.time_us),
                    samples_us: Some(&measurement.samples_us),
                    build_seconds: Some(measurement.build_seconds),
                    ..line
                });
            }
            Measured::Outcome(Outcome::BuildFailed { log }) => ("build-failed", log.into()),
            Measured::Outcome(Outcome::LaunchFailed { error }) => ("launch-failed", error.into()),
            // Of a new worker, in which nobody else was before it.
            Measured::Outcome(Outcome::Unjudged { reason }) => ("wrong-result", reason.into()),
            Measured::Outcome(Outcome::WrongResult(wrong)) => {
                ("wrong-result", wrong.to_string().into())
            }
            Measured::Outcome(Outcome::TooSlow {
                at_least_us,
                best_us,
            }) => {
                let (slow, best) = (time(*at_least_us), time(*best_us));
                let text = format!(
                    "a part of its work-groups shows that it takes {slow} or more; the best takes {best}"
                );
                ("too-slow", text.into())
            }
            Measured::Outcome(Outcome::SkipsWork(skips)) => {
                ("skips-work", skips.to_string().into())
            }
            Measured::TimedOut(reason) => ("timed-out", reason.into()),
            Measured::Crashed(reason) | Measured::Killed(reason) => ("crashed", reason.into()),
            Measured::Unsound(reason) => ("unsound", reason.into()),
            Measured::Interrupted(reason) => ("interrupted", reason.into()),
            Measured::Abandoned => return None,
        };
        Some(Self {
            status,
            detail: Some(detail),
            ..line
        })
    }
}

#[derive(Serialize)]
struct Header<'a> {
    kernel: &'a str,
    fingerprint: &'a str,
    verification: String,
    platform: &'a str,
    device: &'a str,
    driver: &'a str,
    dimensions: &'a [cltune_core::Text],
    problem: &'a [i64],
    params: Vec<&'a str>,
    strategy: &'a str,
    seed: u64,
    resumed: bool,
}

impl Journal {
    /// Opens the journal's file, mends it, and begins a session.
    ///
    /// # Errors
    /// The file can be neither read nor written.
    pub(crate) fn open(state: &Path, job: &Job, search: &Search<'_>) -> io::Result<Opened> {
        let path = path(state, job);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let warning = match repair(&path)? {
            Repair::Sound => None,
            Repair::Damaged { lines, kept } => Some(format!(
                "{lines} damaged lines were left out of {}; the journal as it was is kept as {}",
                path.display(),
                kept.display()
            )),
        };
        let interrupted = resume::interrupted(&path, job, &place(job));
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        Ok(Opened {
            journal: Self::start(Box::new(file), job, search)?,
            interrupted,
            warning,
        })
    }

    /// Writes the session's header.
    pub(super) fn start(to: Box<dyn Disk>, job: &Job, search: &Search<'_>) -> io::Result<Self> {
        let model = &job.declaration.model;
        let parameters = model.parameters.iter();
        let mut journal = Self {
            to,
            synced: Instant::now(),
        };
        journal.line(&Header {
            kernel: &model.name,
            fingerprint: &model.fingerprint,
            verification: fingerprint::of_verification(&job.declaration),
            platform: &job.device.platform,
            device: &job.device.name,
            driver: &job.device.driver,
            dimensions: &model.dimensions,
            problem: &job.dims,
            params: parameters.map(|parameter| &*parameter.name).collect(),
            strategy: search.strategy,
            seed: search.seed,
            resumed: search.resume,
        })?;
        journal.to.sync()?;
        Ok(journal)
    }

    /// A configuration is about to be measured.
    pub(crate) fn begin(&mut self, job: &Job, codes: &[i64]) -> io::Result<()> {
        self.line(&json!({ "begin": json::values(&job.declaration.model, codes) }))
    }

    /// A configuration that was begun is not measured now, for no fault of its own.
    pub(crate) fn abandon(&mut self, job: &Job, codes: &[i64]) -> io::Result<()> {
        self.line(&json!({ "abandoned": json::values(&job.declaration.model, codes) }))
    }

    /// What became of a configuration. A later line about the same one replaces an earlier.
    pub(crate) fn result(&mut self, line: &Line<'_>) -> io::Result<()> {
        self.line(line)
    }

    /// The search ended by itself.
    pub(crate) fn end(&mut self, reason: &str) -> io::Result<()> {
        self.line(&json!({ "end": reason }))?;
        self.to.sync()
    }

    /// Appends a line in one write.
    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.to.write_all(seal(line)?.as_bytes())?;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.to.sync()?;
            self.synced = Instant::now();
        }
        Ok(())
    }
}

/// Where the journal of a job is.
fn path(state: &Path, job: &Job) -> PathBuf {
    let name = file_name(&job.declaration.model, &place(job), EXTENSION);
    state.join(FOLDER).join(name)
}

/// Where and for what a job measures.
fn place(job: &Job) -> Place {
    Place {
        platform: job.device.platform.clone(),
        device: job.device.name.clone(),
        problem: job.dims.clone(),
    }
}

/// A file's name for what was measured of a kernel at a place. One that would be too long for a file is its
/// beginning, for people, and a hash.
pub(crate) fn file_name(model: &Model, place: &Place, ending: &str) -> String {
    let problem = model.dimensions.iter().zip(&place.problem);
    let problem: Vec<String> = problem
        .map(|(dimension, size)| format!("{dimension}{size}"))
        .collect();
    let parts = [
        &*model.name,
        &place.platform,
        &place.device,
        &problem.join("-"),
    ];
    let name = parts.join("-");
    let plain = name.chars();
    let plain: String = plain
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    // Different names may be alike once what files may not be called is replaced.
    let whole = parts.join("\0");
    let distinct = crc32fast::hash(whole.as_bytes());
    let name = format!("{plain}-{distinct:08x}.{ending}");
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let hash = fingerprint::of_text(&whole);
    let hash: String = hash.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{}-{hash}.{ending}", &plain[..READABLE.min(plain.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_long_name_is_cut_and_stays_distinct() {
        let name = |dimensions: usize, size: i64, ending: &str| {
            let mut model = samples::declaration("app::saxpy", "b3:1", &[8]).model;
            let names = (0..dimensions).map(|at| format!("number_of_output_channels_{at}").into());
            model.dimensions = names.collect::<Vec<_>>().into();
            let place = Place {
                platform: "p".into(),
                device: "d".into(),
                problem: vec![size; dimensions],
            };
            file_name(&model, &place, ending)
        };
        // Those that were possible before are as they were.
        let short = "app--saxpy-p-d-number-of-output-channels-08-e44c01ca.csv";
        assert_eq!(name(1, 8, "csv"), short);
        for (dimensions, ending, is_cut) in [
            (7, EXTENSION, false),
            (7, "kernel-tuner.json", true),
            (8, EXTENSION, true),
            (400, EXTENSION, true),
        ] {
            let (first, second) = (
                name(dimensions, 1024, ending),
                name(dimensions, 1025, ending),
            );
            assert!(first.len() <= LONGEST_NAME && first.is_ascii(), "{first}");
            assert_ne!(first, second);
            let begin = "app--saxpy-p-d-number-of-output-channels-01024-number";
            assert!(
                first.starts_with(begin) && first.ends_with(&format!(".{ending}")),
                "{first}"
            );
            assert_eq!(
                first.len() == READABLE + 68 + ending.len(),
                is_cut,
                "{first}"
            );
        }
    }
}
