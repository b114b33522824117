//! `cargo cltune merge A B…`: unites lockfiles that were tuned on different machines, or databases.

use super::Exit;
use super::database::{self, DatabaseStoreError};
use crate::lockfile_store::{self, StoreError};
use cltune_formats::lockfile::{Lockfile, LockfileError, MergeReport, split_conflict};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Unites lockfiles that were tuned on different machines.
///
/// A file may also be one in which git left conflict markers: both sides are united. Where two
/// files hold results for the same device and problem, the faster one stays. Databases of template
/// defaults are united in the same way.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The lockfiles, or databases of template defaults.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where to write the result; it may be one of the files. Without it, standard output.
    #[arg(long, short, alias = "out", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Why lockfiles cannot be united.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MergeError {
    /// A file that does not exist. (Elsewhere that is an ordinary state; here it was named.)
    #[error("there is no file {}", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// A file that cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// One side of a file with conflict markers is not a lockfile.
    #[error("{}, {side}, with lines counted without the other side: {source}", path.display())]
    Side {
        /// The file.
        path: PathBuf,
        /// The file.
        side: &'static str,
        /// The mistake in it.
        source: Box<LockfileError>,
    },
    /// Databases that cannot be united.
    #[error(transparent)]
    Database(#[from] DatabaseStoreError),
    /// Standard output or standard error is closed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// A lockfile and what to call it in messages.
struct Source {
    name: String,
    lockfile: Lockfile,
}

/// Reads, unites, writes, and says what happened.
///
/// # Errors
/// See [`MergeError`]; nothing is written then.
pub(crate) fn run(
    args: &MergeArgs,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Exit, MergeError> {
    // It may be one of the files.
    let _held = args.output.as_deref().map(lockfile_store::lock);
    let mut texts = Vec::new();
    for path in &args.files {
        let no_file = || MergeError::NoFile { path: path.clone() };
        let text = lockfile_store::read_text(path)?.ok_or_else(no_file)?;
        texts.push((path.clone(), text));
    }
    if texts.iter().any(|(_, text)| database::is_database(text)) {
        return Ok(database::merge(
            &texts,
            args.output.as_deref(),
            stdout,
            stderr,
        )?);
    }
    let mut sources = Vec::new();
    for (path, text) in &texts {
        sources.extend(read_sources(path, text)?);
    }
    let mut united = Source {
        name: String::new(),
        lockfile: Lockfile::default(),
    };
    let mut outcome = Exit::Done;
    let mut messages = Vec::new();
    for source in sources {
        if united.name.is_empty() {
            united = source;
            continue;
        }
        let report = united.lockfile.merge(&source.lockfile);
        if !report.fingerprints.is_empty() {
            outcome = Exit::Reported;
        }
        describe(&mut messages, &report, &united.name, &source.name)?;
        united.name = format!("{} + {}", united.name, source.name);
    }
    match &args.output {
        Some(path) => lockfile_store::write(path, &united.lockfile)?,
        None => stdout.write_all(united.lockfile.to_text().as_bytes())?,
    }
    stderr.write_all(&messages)?;
    Ok(outcome)
}

/// The lockfile of a file, or the two of a file with conflict markers.
fn read_sources(path: &Path, text: &str) -> Result<Vec<Source>, MergeError> {
    let name = path.display().to_string();
    let Some(sides) = split_conflict(text) else {
        let lockfile = Lockfile::parse(text).map_err(|error| StoreError::Parse {
            path: path.to_owned(),
            source: Box::new(error),
        })?;
        return Ok(vec![Source { name, lockfile }]);
    };
    let side = |text: &str, side: &'static str| match Lockfile::parse(text) {
        Ok(lockfile) => Ok(Source {
            name: format!("{name} ({side})"),
            lockfile,
        }),
        Err(error) => Err(MergeError::Side {
            path: path.to_owned(),
            side,
            source: Box::new(error),
        }),
    };
    Ok(vec![
        side(&sides.ours, "our side")?,
        side(&sides.theirs, "their side")?,
    ])
}

fn describe(out: &mut impl Write, report: &MergeReport, into: &str, from: &str) -> io::Result<()> {
    let entries = if report.added_entries == 1 {
        "entry"
    } else {
        "entries"
    };
    write!(out, "{from}: {} new {entries}", report.added_entries)?;
    if !report.added_devices.is_empty() {
        write!(out, ", new devices: {}", report.added_devices.join(", "))?;
    }
    writeln!(out)?;
    for (old, new) in &report.renamed_devices {
        writeln!(
            out,
            "  device {old} of {into} is now called {new}: {from} has another {old}"
        )?;
    }
    for conflict in &report.results {
        writeln!(out, "  {conflict}")?;
    }
    for conflict in &report.fingerprints {
        writeln!(out, "warning: {conflict}")?;
        writeln!(
            out,
            "  kept those of {into}; if `cargo cltune check` calls them stale, {from} is the newer \
             one: name it first, or tune again"
        )?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../tests/unit/merge.rs"]
mod tests;
