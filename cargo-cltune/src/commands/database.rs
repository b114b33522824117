//! Files of template defaults: made from lockfiles for `export --database`, and united for `merge`.

use super::Exit;
use super::tuned::Tuned;
use crate::lockfile_store::{self, StoreError};
use cltune_core::database::{Database, DatabaseError, Entry};
use cltune_core::device::{DeviceKey, DeviceLimits};
use cltune_core::expr::Env;
use cltune_core::measure::Measure;
use cltune_formats::database::to_text;
use cltune_formats::lockfile::split_conflict;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A database that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseStoreError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The text is not a database.
    #[error("{}, {source}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The mistake, its line, and the remedy.
        source: DatabaseError,
    },
    /// A lockfile beside a database.
    #[error(
        "{} is no database of template defaults, and another file is one: name files of one kind",
        path.display()
    )]
    Mixed {
        /// The lockfile.
        path: PathBuf,
    },
    /// Standard output or standard error is closed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
    /// There is nothing to write.
    #[error(
        "no lockfile has values of a fused tunable as it is now, for these filters: the database \
         has values of `#[fused]` functions only. Tune one first, with `cargo cltune`"
    )]
    Nothing,
}

/// Adds what lockfiles hold of fused tunables to the database in a file, which is made where there
/// is none, but for what was measured with cold caches or not chosen by time. `is_wanted` says it of
/// a tunable's position, a device and a problem.
pub(super) fn export(
    path: &Path,
    tuned: &[Tuned],
    is_wanted: impl Fn(usize, DeviceKey<'_>, &[i64]) -> bool,
    stdout: &mut dyn Write,
) -> Result<Exit, Box<dyn std::error::Error>> {
    let _held = lockfile_store::lock(path);
    let mut database = match lockfile_store::read_text(path).map_err(DatabaseStoreError::Store)? {
        Some(text) => parse(&text, path)?,
        None => Database::default(),
    };
    let (mut written, mut added, mut left_out) = (0, 0, 0);
    for (position, one) in tuned.iter().enumerate() {
        for (result, measure) in one.table.results.iter().zip(&one.measures) {
            let device = &one.table.devices[usize::from(result.device)];
            if !is_wanted(position, device.key(), &result.problem) {
                continue;
            }
            // Times that do not compare: of two for the same expression the faster one stays.
            if *measure != Measure::WARM {
                left_out += 1;
                continue;
            }
            if let Some(entry) = entry(one, &result.problem, &result.values, result.time_us) {
                written += 1;
                added += usize::from(database.put(device, entry));
            }
        }
    }
    if left_out > 0 {
        writeln!(
            stdout,
            "{left_out} left out, which were measured with cold caches or not chosen by time: template defaults are the \
             fastest with warm ones"
        )?;
    }
    if written == 0 {
        return Err(DatabaseStoreError::Nothing.into());
    }
    lockfile_store::write_text(path, &to_text(&database)).map_err(DatabaseStoreError::Store)?;
    let known = database.entries.len();
    writeln!(
        stdout,
        "{}: {written} written, {added} of them new; {known} entries",
        path.display()
    )?;
    Ok(Exit::Done)
}

/// The entry of a result; `None` for a tunable without a template.
fn entry(tuned: &Tuned, dims: &[i64], codes: &[i64], time_us: f64) -> Option<Entry> {
    let model = &tuned.declaration.model;
    let template = model.template.as_ref()?;
    let env = Env {
        params: &[],
        dims,
        device: &DeviceLimits::NONE,
    };
    let values = model.parameters.iter().zip(codes);
    let values = values.map(|(parameter, code)| {
        Some((parameter.name.to_string(), parameter.domain.value(*code)?))
    });
    Some(Entry {
        device: 0,
        template: template.name.to_string(),
        scalar_size: template.scalar_size,
        vectors: template.vectors,
        elements: template.elements.eval(&env).ok()?,
        kernel: model.name.to_string(),
        values: values.collect::<Option<_>>()?,
        time_us,
    })
}

/// Whether a text is a database and no lockfile.
pub(super) fn is_database(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| matches!(line.trim(), "devices = [" | "entries = ["))
}

/// Unites databases; of two entries for the same expression, device and size the faster one stays.
///
/// # Errors
/// See [`DatabaseStoreError`]; nothing is written then.
pub(super) fn merge(
    texts: &[(PathBuf, String)],
    output: Option<&Path>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Exit, DatabaseStoreError> {
    let mut united = Database::default();
    let mut messages = Vec::new();
    for (path, text) in texts {
        if !is_database(text) {
            return Err(DatabaseStoreError::Mixed { path: path.clone() });
        }
        let mut added = 0;
        match split_conflict(text) {
            None => added += united.merge(&parse(text, path)?),
            Some(sides) => {
                for side in [&sides.ours, &sides.theirs] {
                    added += united.merge(&parse(side, path)?);
                }
            }
        }
        let entries = if added == 1 { "entry" } else { "entries" };
        messages.push(format!("{}: {added} new {entries}", path.display()));
    }
    match output {
        Some(path) => lockfile_store::write_text(path, &to_text(&united))?,
        None => stdout.write_all(to_text(&united).as_bytes())?,
    }
    for message in messages {
        writeln!(stderr, "{message}")?;
    }
    Ok(Exit::Done)
}

fn parse(text: &str, path: &Path) -> Result<Database, DatabaseStoreError> {
    Database::parse(text).map_err(|source| DatabaseStoreError::Parse {
        path: path.to_owned(),
        source,
    })
}
