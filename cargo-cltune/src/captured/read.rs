//! The files of a capture, read and united.

use super::{Captured, Data, KeptArgument};
use cltune_core::capture_format::{VERSION, is_file_name};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

/// The size of a file, bytes: some three million lines.
const LARGEST: u64 = 1 << 30;

/// A capture that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("cannot read {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(
        "{} holds no capture: run the program with CLTUNE_CAPTURE set to this folder, so that it \
         records what it launches",
        .0.display()
    )]
    Empty(PathBuf),
    #[error(
        "{}: a capture of version {version}, and this release reads version {VERSION}; capture again",
        path.display()
    )]
    Version { path: PathBuf, version: u64 },
}

#[derive(Deserialize)]
struct Header {
    cltune_capture: u64,
}

#[derive(Deserialize)]
struct Line {
    kernel: String,
    fingerprint: String,
    platform: String,
    device: String,
    #[serde(default)]
    vendor: String,
    problem: BTreeMap<String, i64>,
    data: Option<LineData>,
    launches: u64,
    seconds: f64,
}

#[derive(Deserialize)]
struct LineData {
    folder: String,
    arguments: Vec<LineArgument>,
}

#[derive(Deserialize)]
struct LineArgument {
    name: String,
    value: Option<f64>,
    file: Option<String>,
}

/// Everything that was captured in a folder, by any number of processes; the most expensive first.
/// A line that is damaged is left out; `damaged` is told of each file that has such lines.
pub(crate) fn read(folder: &Path, damaged: impl Fn(&str)) -> Result<Vec<Captured>, ReadError> {
    let mut all = Union::default();
    for path in files(folder)? {
        let text = cltune_files::read(&path, LARGEST).map_err(|source| ReadError::File {
            path: path.clone(),
            source,
        })?;
        for captured in lines(&path, folder, &text, &damaged)? {
            all.add(captured);
        }
    }
    let mut all = all.captured;
    if all.is_empty() {
        return Err(ReadError::Empty(folder.to_owned()));
    }
    all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    Ok(all)
}

/// The files of a capture in the order of their names, which is that of time.
fn files(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let failed = |source| ReadError::File {
        path: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_file_name(&name) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn lines(
    path: &Path,
    folder: &Path,
    text: &[u8],
    damaged: impl Fn(&str),
) -> Result<Vec<Captured>, ReadError> {
    let mut found = Vec::new();
    let (mut lost, mut first) = (0_usize, None);
    // A line without an end was being written when the process ended.
    let whole = text
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"));
    for (number, line) in whole.enumerate() {
        let read = if number == 0 {
            serde_json::from_slice(line).map(|Header { cltune_capture }| cltune_capture)
        } else {
            let read = serde_json::from_slice(line);
            read.map(|line| found.push(captured(line, folder)))
                .map(|()| VERSION)
        };
        match read {
            Ok(VERSION) => {}
            Ok(version) => {
                let path = path.to_owned();
                return Err(ReadError::Version { path, version });
            }
            Err(reason) => {
                lost += 1;
                first.get_or_insert((number + 1, reason));
            }
        }
    }
    if let Some((line, reason)) = first {
        let lines = if lost == 1 { "line was" } else { "lines were" };
        let path = path.display();
        damaged(&format!(
            "{lost} damaged {lines} left out of {path}; line {line}: {reason}"
        ));
    }
    Ok(found)
}

fn captured(line: Line, folder: &Path) -> Captured {
    let data = line.data.map(|data| {
        let place = folder.join(data.folder);
        let kept = |argument: LineArgument| {
            let kept = match (argument.file, argument.value) {
                (Some(file), _) => KeptArgument::File(place.join(file)),
                (None, Some(value)) => KeptArgument::Value(value),
                (None, None) => return None,
            };
            Some((argument.name, kept))
        };
        Data {
            fingerprint: line.fingerprint,
            arguments: data.arguments.into_iter().filter_map(kept).collect(),
        }
    });
    Captured {
        kernel: line.kernel,
        platform: line.platform,
        device: line.device,
        vendor: line.vendor,
        problem: line.problem,
        launches: line.launches,
        seconds: line.seconds,
        data,
    }
}

/// All launches of a capture, each kernel, device and problem once.
#[derive(Default)]
struct Union {
    captured: Vec<Captured>,
    positions: HashMap<(String, String, String, BTreeMap<String, i64>), usize>,
}

impl Union {
    /// Adds up what is about the same kernel, device and problem; of its data the latest is kept.
    fn add(&mut self, new: Captured) {
        let subject = (
            new.kernel.clone(),
            new.platform.clone(),
            new.device.clone(),
            new.problem.clone(),
        );
        let next = self.captured.len();
        let position = *self.positions.entry(subject).or_insert(next);
        match self.captured.get_mut(position) {
            Some(same) => {
                same.launches = same.launches.saturating_add(new.launches);
                same.seconds += new.seconds;
                same.data = new.data.or(same.data.take());
            }
            None => self.captured.push(new),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/captured.rs"]
mod tests;
