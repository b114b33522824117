//! The file of a part, beside its journals: which part of which units it is, and what it has done.
//!
//! It is read by whoever unites the parts, on another machine. Its lines are JSON objects with
//! checksums, as in a journal: a header, the units of all parts, then an outcome for each search of
//! this part that has ended.

use super::partition::Partition;
use super::unit::Unit;
use crate::lockfile_store::replace;
use crate::newer_version::NewerVersion;
use crate::session::{is_whole, seal};
use crate::threads::lock;
use cltune_formats::lockfile::Lockfile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The file's name in that folder.
const NAME: &str = "part.jsonl";
/// The version of the format.
const VERSION: u32 = 1;
/// The size of a file, bytes: some five million units.
const LARGEST: u64 = 1 << 30;

/// Which part it is, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) partition: Partition,
    /// [`artifact_fingerprint`](super::artifact_fingerprint).
    pub(crate) artifact: String,
    /// The name of the lockfile, which lies beside the folder of this file.
    pub(crate) lockfile: String,
    /// The units of all parts, sorted.
    pub(crate) units: Vec<Unit>,
}

/// A part, and what it has done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PartFile {
    pub(crate) part: Part,
    /// By the position of the unit.
    pub(crate) outcomes: BTreeMap<usize, UnitResult>,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnitResult {
    /// Its result is in the part's lockfile.
    Tuned,
    /// There is no result, for this reason.
    Failed(String),
}

/// The first line.
#[derive(Deserialize, Serialize)]
struct Header {
    cltune_part: u32,
    /// The release that wrote it.
    cltune: String,
    partition: String,
    artifact: String,
    lockfile: String,
    /// How many units follow.
    units: usize,
}

/// As much of the first line as every version has.
#[derive(Deserialize)]
struct AnyHeader {
    cltune_part: u32,
    #[serde(default)]
    cltune: String,
}

/// The end of a search.
#[derive(Deserialize, Serialize)]
struct UnitResultLine {
    /// The position of the unit, from 0.
    unit: usize,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// Why the file of a part cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartFileError {
    /// It cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A newer release wrote it.
    #[error("{}: {newer}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        newer: NewerVersion,
    },
    /// It is damaged where that matters.
    #[error(
        "{}, line {line}: {reason}; remove that file, and go on with the part by `--resume`: the journals beside it have \
         what was measured",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The folder is another part's.
    #[error(
        "{} is of {found}, and this is {asked}: name a folder of its own for each part, artifact, `--measure` and \
         `--objective` with --lockfile FOLDER/cltune.lock, or remove that file to begin anew",
        path.display()
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// The part it is of.
        found: String,
        /// The part that is to be tuned.
        asked: String,
    },
}

impl PartFile {
    /// Reads the file in a folder of state; `None` where there is none.
    ///
    /// # Errors
    /// See [`PartFileError`].
    pub(crate) fn read(state: &Path) -> Result<Option<Self>, PartFileError> {
        let path = state.join(NAME);
        match cltune_files::read(&path, LARGEST) {
            Ok(bytes) => parse(&bytes, &path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(PartFileError::Io { path, source }),
        }
    }

    /// Whether each unit is this part's own.
    pub(crate) fn own(&self) -> Vec<bool> {
        self.part.partition.own(&self.part.units)
    }
}

/// Understands a file. Damage may have made it no text, thus it is read by lines of bytes.
fn parse(bytes: &[u8], path: &Path) -> Result<PartFile, PartFileError> {
    let damaged = |line: usize, reason: String| PartFileError::Damaged {
        path: path.to_owned(),
        line,
        reason,
    };
    let unreadable = |line: usize| damaged(line, "the line is damaged".to_owned());
    let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut lines = lines.split(|byte| *byte == b'\n').zip(1..);
    let (first, _) = lines.next().ok_or_else(|| unreadable(1))?;
    // Before the checksum: a newer version may have another one.
    let any: AnyHeader = serde_json::from_slice(first).map_err(|_| unreadable(1))?;
    NewerVersion::check(any.cltune_part, VERSION, any.cltune).map_err(|newer| {
        PartFileError::Newer {
            path: path.to_owned(),
            newer,
        }
    })?;
    let header: Header = whole(first).ok_or_else(|| unreadable(1))?;
    let partition = header.partition.parse();
    let partition: Partition = partition.map_err(|error| damaged(1, format!("{error}")))?;
    let mut units = Vec::new();
    for (line, number) in lines.by_ref().take(header.units) {
        let unit: Unit = whole(line).ok_or_else(|| unreadable(number))?;
        units.push(unit);
    }
    if units.len() != header.units {
        let (found, stated) = (units.len(), header.units);
        return Err(damaged(
            units.len() + 2,
            format!("the file ends after {found} of {stated} units"),
        ));
    }
    if !units.is_sorted() {
        return Err(damaged(2, "the units are not in order".to_owned()));
    }
    // A damaged outcome costs that search once more.
    let outcomes = lines.filter_map(|(line, _)| whole::<UnitResultLine>(line));
    let outcomes = outcomes.map(|line| {
        let outcome = line.failed.map_or(UnitResult::Tuned, UnitResult::Failed);
        (line.unit, outcome)
    });
    Ok(PartFile {
        outcomes: outcomes.filter(|(unit, _)| *unit < units.len()).collect(),
        part: Part {
            partition,
            artifact: header.artifact,
            lockfile: header.lockfile,
            units,
        },
    })
}

/// What a line holds, if it is as it was written.
fn whole<T: for<'de> Deserialize<'de>>(line: &[u8]) -> Option<T> {
    is_whole(line)
        .then(|| serde_json::from_slice(line).ok())
        .flatten()
}

impl Part {
    fn text(&self) -> serde_json::Result<String> {
        let mut text = seal(&Header {
            cltune_part: VERSION,
            cltune: env!("CARGO_PKG_VERSION").to_owned(),
            partition: self.partition.to_string(),
            artifact: self.artifact.clone(),
            lockfile: self.lockfile.clone(),
            units: self.units.len(),
        })?;
        for unit in &self.units {
            text += &seal(unit)?;
        }
        Ok(text)
    }

    /// What distinguishes this part from another, in words.
    fn describe(&self, other: &Self) -> String {
        let partition = self.partition;
        if self.artifact != other.artifact {
            return format!("{partition} of artifact {}", self.artifact);
        }
        if self.lockfile != other.lockfile {
            return format!("{partition} with the results in {}", self.lockfile);
        }
        format!("{partition} of {} units", self.units.len())
    }
}

/// A part that is to be tuned, of which nothing is written yet.
pub(crate) struct PartPlan {
    part: Part,
    /// The outcomes that were there before.
    known: BTreeMap<usize, UnitResult>,
    path: PathBuf,
    /// Whether it goes on with what is in the file.
    resumes: bool,
}

/// The outcomes of a part, written as its searches end.
pub(crate) struct PartLog {
    part: Part,
    path: PathBuf,
    to: Mutex<File>,
}

impl PartPlan {
    /// Plans a part. With the lockfile of one that is gone on with, what it has done is kept, as
    /// far as its results are there: somebody may have removed the lockfile.
    ///
    /// # Errors
    /// See [`PartFileError`].
    pub(crate) fn new(
        state: &Path,
        part: Part,
        resumed: Option<&Lockfile>,
    ) -> Result<Self, PartFileError> {
        let path = state.join(NAME);
        let existing = PartFile::read(state)?;
        if let Some(existing) = &existing
            && existing.part != part
        {
            return Err(PartFileError::Other {
                found: existing.part.describe(&part),
                asked: part.describe(&existing.part),
                path,
            });
        }
        let gone_on_with = existing.zip(resumed);
        let resumes = gone_on_with.is_some();
        let known = gone_on_with.map(|(existing, lockfile)| {
            let mut outcomes = existing.outcomes;
            outcomes.retain(|at, outcome| {
                *outcome != UnitResult::Tuned || part.units[*at].is_in(lockfile)
            });
            outcomes
        });
        Ok(Self {
            known: known.unwrap_or_default(),
            part,
            path,
            resumes,
        })
    }

    /// Begins the part, or goes on with it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn begin(self) -> Result<PartLog, PartFileError> {
        let Self { part, path, .. } = self;
        let io = |source| PartFileError::Io {
            path: path.clone(),
            source,
        };
        if !self.resumes {
            let text = part.text().map_err(|error| io(error.into()))?;
            replace(&path, text).map_err(io)?;
        }
        let mut file = OpenOptions::new().append(true).open(&path).map_err(io)?;
        // After half a line, which a killed session leaves. Empty lines are no outcomes.
        file.write_all(b"\n").map_err(io)?;
        let to = Mutex::new(file);
        Ok(PartLog { part, path, to })
    }

    /// Whether a unit is this part's own and has no result yet.
    pub(crate) fn is_open(&self) -> impl Fn(&Unit) -> bool {
        let own = self.part.partition.own(&self.part.units);
        move |unit| {
            let at = self.part.units.binary_search(unit);
            at.is_ok_and(|at| own[at] && self.known.get(&at) != Some(&UnitResult::Tuned))
        }
    }
}

impl PartLog {
    /// Notes how the search of a unit ended.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn note(&self, unit: &Unit, outcome: &UnitResult) -> Result<(), PartFileError> {
        let Ok(unit) = self.part.units.binary_search(unit) else {
            return Ok(());
        };
        let failed = match outcome {
            UnitResult::Tuned => None,
            UnitResult::Failed(reason) => Some(reason.clone()),
        };
        let mut file = lock(&self.to);
        let written = seal(&UnitResultLine { unit, failed })
            .map_err(io::Error::from)
            .and_then(|line| file.write_all(line.as_bytes()))
            .and_then(|()| file.sync_data());
        written.map_err(|source| PartFileError::Io {
            path: self.path.clone(),
            source,
        })
    }
}

impl fmt::Display for PartPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Part {
            partition, units, ..
        } = &self.part;
        let own = partition.own(units).into_iter().filter(|own| *own).count();
        write!(f, "{partition}: {own} of {} units", units.len())?;
        let tuned = |outcome: &&UnitResult| **outcome == UnitResult::Tuned;
        match self.known.values().filter(tuned).count() {
            0 => Ok(()),
            done => write!(f, "; {done} are done, and left as they are"),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/fleet_part_file.rs"]
pub(super) mod tests;
