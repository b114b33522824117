//! The journal: every result as it comes, in JSON lines, so that nothing measured is ever lost.
//!
//! A configuration has two lines: one before it is measured, so that a configuration that brings
//! the session or the machine down is known afterwards, and one with its result. One that is
//! measured again or fails among the finalists has a third line, which counts. Each line is written
//! at once and ends with a checksum; the disk is asked to keep them twice a second. `kill -9` at
//! any moment costs half a line, which is dropped; a whole one without its newline counts.
//!
//! | file | owns |
//! |---|---|
//! | `line` | the lines of a journal, and their checksum |
//! | `repair` | torn and damaged journals |
//! | `resume` | the results of an interrupted search |
//! | `read` | the results of all journals on a kernel |

mod line;
mod read;
mod repair;
mod resume;

pub(crate) use line::{NewerJournal, Place, Recorded, Session, is_whole, seal};
pub(crate) use read::{LeftOut, Recalled, recall};
pub(crate) use resume::Interrupted;

use super::finalists::Choice;
use crate::json;
use crate::plan::Job;
use cltune_core::device::DeviceKey;
use cltune_core::measure::Measure;
use cltune_core::model::Model;
use cltune_formats::declaration::Declaration;
use cltune_formats::fingerprint;
use line::{Abandoned, Begin, End, Finalist, Header, ResultLine};
use repair::{Repair, repair};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The folder of all journals, in that of the session's state.
pub(crate) const JOURNALS: &str = "journal";
/// The ending of journals' names.
const EXTENSION: &str = "jsonl";
/// The bytes that a file's name may have.
const LONGEST_NAME: usize = 255;
/// The bytes of a longer name that are kept for people.
const READABLE: usize = 160;
/// The interval at which the disk is asked to keep what was written.
const SYNC_EVERY: Duration = Duration::from_millis(500);

/// The journal of one kernel, device and problem. Sessions are appended.
pub(crate) struct Journal {
    to: Box<dyn Disk>,
    synced: Instant,
}

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    /// The journal cannot be written.
    #[error("cannot write the journal: {0}")]
    Write(#[from] io::Error),
    /// The journal cannot be opened, or its session not begun.
    #[error("cannot write the journal {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A newer release wrote to the journal, which is left as it is.
    #[error("{0}, or move that file elsewhere, and the search begins a new one")]
    Newer(#[from] NewerJournal),
}

/// The file of a journal.
pub(crate) trait Disk: Write + Send {
    /// Blocks until what was written would survive a power cut.
    fn sync(&mut self) -> io::Result<()>;
}

impl Disk for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A journal that a session is about to write to.
pub(crate) struct Opened {
    pub(crate) journal: Journal,
    /// The results of the search before, whether or not it is resumed.
    pub(crate) interrupted: Interrupted,
    /// The damage of the journal, for people.
    pub(crate) warning: Option<String>,
}

impl Journal {
    /// Opens the journal's file, mends it, and begins a session.
    ///
    /// # Errors
    /// The file can be neither read nor written, or a newer release wrote to it.
    pub(crate) fn open(state: &Path, job: &Job, session: Session) -> Result<Opened, JournalError> {
        let path = path(state, job);
        Self::open_file(&path, job, session).map_err(|error| match error {
            JournalError::Write(source) => JournalError::Open { path, source },
            error => error,
        })
    }

    fn open_file(path: &Path, job: &Job, session: Session) -> Result<Opened, JournalError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let warning = match repair(path)? {
            Repair::Sound => None,
            Repair::Damaged { lines, kept } => Some(format!(
                "{lines} damaged lines were left out of {}; the journal as it was is kept as {}",
                path.display(),
                kept.display()
            )),
        };
        let interrupted = resume::interrupted(path, job);
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Opened {
            journal: Self::start(Box::new(file), job, session)?,
            interrupted,
            warning,
        })
    }

    /// Writes the session's header.
    pub(super) fn start(
        to: Box<dyn Disk>,
        job: &Job,
        session: Session,
    ) -> Result<Self, JournalError> {
        let mut journal = Self {
            to,
            synced: Instant::now(),
        };
        journal.line(&Header::new(job, session))?;
        journal.to.sync()?;
        Ok(journal)
    }

    /// A configuration is about to be measured.
    pub(crate) fn begin(&mut self, job: &Job, codes: &[i64]) -> Result<(), JournalError> {
        let begin = json::values(&job.declaration.model, codes);
        self.line(&Begin { begin })
    }

    /// A configuration that was begun is not measured now, through no fault of its own.
    pub(crate) fn abandon(&mut self, job: &Job, codes: &[i64]) -> Result<(), JournalError> {
        let abandoned = json::values(&job.declaration.model, codes);
        self.line(&Abandoned { abandoned })
    }

    /// The result of a configuration. A later line about the same one replaces an earlier.
    pub(crate) fn result(&mut self, job: &Job, recorded: &Recorded) -> Result<(), JournalError> {
        self.line(&ResultLine {
            values: json::values(&job.declaration.model, &recorded.codes),
            recorded,
        })
    }

    /// The search ended by itself, with this choice.
    pub(crate) fn end(
        &mut self,
        job: &Job,
        reason: &str,
        choice: Option<&Choice>,
    ) -> Result<(), JournalError> {
        let finalists = choice.map_or(&[][..], |choice| &choice.finalists);
        let finalists = finalists.iter().map(|of| Finalist {
            values: json::values(&job.declaration.model, &of.codes),
            samples_us: of.samples_us.clone(),
            energies_j: of.energies_j.clone(),
        });
        self.line(&End {
            reason: reason.to_owned(),
            finalists: finalists.collect(),
            repeatability: choice.and_then(|choice| choice.repeatability),
        })?;
        Ok(self.to.sync()?)
    }

    /// Appends a line in one write.
    fn line(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let line = seal(line).map_err(io::Error::from)?;
        self.to.write_all(line.as_bytes())?;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.to.sync()?;
            self.synced = Instant::now();
        }
        Ok(())
    }
}

/// Where the journal of a job is.
fn path(state: &Path, job: &Job) -> PathBuf {
    let device = job.device.key();
    let Declaration { model, measure, .. } = &job.declaration;
    let name = file_name(model, device, &job.dims, *measure, EXTENSION);
    state.join(JOURNALS).join(name)
}

/// A file's name for what was measured of a kernel on a device for a problem. One that would be too
/// long for a file is its beginning, for people, and a hash.
pub(crate) fn file_name(
    model: &Model,
    device: DeviceKey<'_>,
    problem: &[i64],
    measure: Measure,
    ending: &str,
) -> String {
    let words = measure
        .words()
        .fold(String::new(), |words, word| words + word + ".");
    let ending = words + ending;
    let problem = model.dimensions.iter().zip(problem);
    let problem: Vec<String> = problem
        .map(|(dimension, size)| format!("{dimension}{size}"))
        .collect();
    let parts = [
        &*model.name,
        device.platform,
        device.name,
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
            let device = DeviceKey {
                platform: "p",
                name: "d",
                vendor: "v",
            };
            let problem = vec![size; dimensions];
            let cold = file_name(&model, device, &problem, Measure::COLD, ending);
            assert!(
                cold.len() <= LONGEST_NAME && cold.ends_with(&format!(".cold.{ending}")),
                "{cold}"
            );
            file_name(&model, device, &problem, Measure::WARM, ending)
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
