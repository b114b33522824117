//! The progress of on-line tuning: its measurements so far, for the program's next run.
//!
//! A line for each configuration, added as soon as its time is known. A program may end in the
//! middle of one, so each line has a checksum of its own; one that does not have it counts as not
//! there. Only who holds the kernel's [`Trial`] has such a file.

use super::file;
use super::folder::{self, CacheError};
use super::notes::{codes, line, list, value_items, value_list, values};
use super::trial::Trial;
use cltune_core::device::DeviceInfo;
use cltune_core::model::Model;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The beginning of the first line, with the version of the format.
const HEADER: &str = "cltune-progress 1";
/// The mark in the place of the time of a configuration that failed.
const FAILED: &str = "failed";
/// A larger file was not written by cltune, bytes.
const LARGEST: u64 = 1 << 24;

/// A configuration that was tried.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tried {
    pub(crate) codes: Box<[i64]>,
    /// Its time as a part of the default's in the same run, since the machine may be faster or
    /// slower in the next; `None` where it failed.
    pub(crate) part: Option<f64>,
}

/// Under which conditions results of another run are results of this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions<'a> {
    pub(crate) model: &'a Model,
    pub(crate) info: &'a DeviceInfo,
    pub(crate) dims: &'a [i64],
    /// The default, of whose time other times are parts.
    pub(crate) default: &'a [i64],
    /// Whether results were compared with the default's.
    pub(crate) checked: bool,
}

/// The file of a search that is under way.
#[derive(Debug)]
pub(crate) struct Progress {
    file: File,
    path: PathBuf,
    header: String,
}

impl Progress {
    /// The trials of earlier runs under these conditions, and the file for those of this one. A
    /// file of other conditions (another driver, another default) is begun anew.
    ///
    /// # Errors
    /// [`CacheError`]: the file cannot be written, or others could have written it.
    pub(crate) fn go_on(
        trial: &Trial,
        conditions: &Conditions<'_>,
    ) -> Result<(Self, Vec<Tried>), CacheError> {
        let path = trial.path().with_extension("progress");
        let header = conditions.header();
        let tried = read(&path, &header, conditions.model)?;
        let io = |source| CacheError::Io {
            path: path.clone(),
            source,
        };
        // Written anew, without what is damaged or came twice.
        let temporary = file::temporary(&path);
        let mut progress = Self {
            file: file::create(&temporary).map_err(io)?,
            path: path.clone(),
            header: header.clone(),
        };
        let written = progress
            .write(&header)
            .and_then(|()| progress.add_all(conditions.model, &tried))
            .and_then(|()| std::fs::rename(&temporary, &path));
        written.map_err(|source| {
            let _ = std::fs::remove_file(&temporary);
            io(source)
        })?;
        Ok((progress, tried))
    }

    /// Adds what was tried.
    ///
    /// # Errors
    /// It could not be written.
    pub(crate) fn add(&mut self, model: &Model, tried: &Tried) -> io::Result<()> {
        let Some(values) = values(model, &tried.codes) else {
            return Ok(());
        };
        let part = tried
            .part
            .map_or(FAILED.to_owned(), |part| part.to_string());
        self.write(&format!("{}\t{part}", value_list(&values)))
    }

    /// Ends: what was found is kept elsewhere.
    pub(crate) fn remove(self) {
        // One that stays is read and removed by the next search for this problem, if there is one.
        let _ = std::fs::remove_file(&self.path);
    }

    fn add_all(&mut self, model: &Model, tried: &[Tried]) -> io::Result<()> {
        tried.iter().try_for_each(|one| self.add(model, one))
    }

    /// Writes a line, at once and as a whole.
    fn write(&mut self, text: &str) -> io::Result<()> {
        let line = format!("{}\t{text}\n", checksum(&self.header, text));
        self.file.write_all(line.as_bytes())
    }
}

impl Conditions<'_> {
    fn header(&self) -> String {
        let default = values(self.model, self.default).unwrap_or_default();
        let checked = if self.checked { "checked" } else { "unchecked" };
        let (driver, problem) = (line(&self.info.driver), list(self.dims));
        // The file's name stands for kernel and device, and for a problem that has not too many
        // dimensions.
        format!(
            "{HEADER}\t{driver}\t{problem}\t{}\t{checked}",
            value_list(&default)
        )
    }
}

/// The trials in the lines with this header. A configuration that was tried again has its last
/// result.
fn read(path: &Path, header: &str, model: &Model) -> Result<Vec<Tried>, CacheError> {
    let mut file = match folder::open(path, LARGEST) {
        // One that is too large was not written by cltune, and is begun anew.
        Err(CacheError::Io { source, .. })
            if matches!(
                source.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge
            ) =>
        {
            return Ok(Vec::new());
        }
        opened => opened?,
    };
    let mut bytes = Vec::new();
    let read = file.read_to_end(&mut bytes);
    read.map_err(|source| CacheError::Io {
        path: path.to_owned(),
        source,
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().filter_map(|line| {
        let (sum, text) = line.split_once('\t')?;
        (sum == checksum(header, text)).then_some(text)
    });
    if lines.next() != Some(header) {
        return Ok(Vec::new());
    }
    let mut all: Vec<Tried> = Vec::new();
    for tried in lines.filter_map(|line| of_line(line, model)) {
        match all.iter_mut().find(|known| known.codes == tried.codes) {
            Some(known) => *known = tried,
            None => all.push(tried),
        }
    }
    Ok(all)
}

fn of_line(line: &str, model: &Model) -> Option<Tried> {
    let (values, part) = line.split_once('\t')?;
    let values = value_items(values)?;
    let part = match part {
        FAILED => None,
        part => Some(part.parse().ok().filter(|part: &f64| part.is_normal())?),
    };
    let codes = (values.len() == model.parameters.len()).then(|| codes(model, &values))?;
    Some(Tried {
        codes: codes?.into(),
        part,
    })
}

/// Of a line in a file with this header, so that a line of another file is none of this.
fn checksum(header: &str, text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(header.as_bytes()).update(b"\n");
    hasher.update(text.as_bytes());
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
#[path = "../../tests/unit/cache_progress.rs"]
mod tests;
