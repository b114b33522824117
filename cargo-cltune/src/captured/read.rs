//! The files of a capture, united.

use super::{Captured, Data, Kept};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The version of the files that can be read.
const VERSION: u64 = 1;

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
    #[error("{}:{line}: {reason}; remove the file, or capture again", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        reason: String,
    },
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
pub(crate) fn read(folder: &Path) -> Result<Vec<Captured>, ReadError> {
    let mut all: Vec<Captured> = Vec::new();
    for path in files(folder)? {
        let text = std::fs::read_to_string(&path).map_err(|source| ReadError::File {
            path: path.clone(),
            source,
        })?;
        for captured in lines(&path, folder, &text)? {
            add(&mut all, captured);
        }
    }
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
        let is_ours = name.starts_with("capture-")
            && path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
        if is_ours {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn lines(path: &Path, folder: &Path, text: &str) -> Result<Vec<Captured>, ReadError> {
    let wrong = |line: usize, reason: String| ReadError::Line {
        path: path.to_owned(),
        line: line + 1,
        reason,
    };
    let mut found = Vec::new();
    // A line without an end was being written when the process ended.
    let whole = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    for (number, line) in whole.enumerate() {
        let not_json = |error: serde_json::Error| wrong(number, error.to_string());
        if number == 0 {
            let Header { cltune_capture } = serde_json::from_str(line).map_err(not_json)?;
            if cltune_capture != VERSION {
                let reason = format!("a capture of version {cltune_capture}, not {VERSION}");
                return Err(wrong(number, reason));
            }
            continue;
        }
        let line: Line = serde_json::from_str(line).map_err(not_json)?;
        found.push(captured(line, folder));
    }
    Ok(found)
}

fn captured(line: Line, folder: &Path) -> Captured {
    let data = line.data.map(|data| {
        let place = folder.join(data.folder);
        let kept = |argument: LineArgument| {
            let kept = match (argument.file, argument.value) {
                (Some(file), _) => Kept::File(place.join(file)),
                (None, Some(value)) => Kept::Value(value),
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
        problem: line.problem,
        launches: line.launches,
        seconds: line.seconds,
        data,
    }
}

/// Adds up what is about the same kernel, device and problem; of its data the latest is kept.
fn add(all: &mut Vec<Captured>, new: Captured) {
    let is_same = |known: &&mut Captured| {
        known.kernel == new.kernel
            && known.platform == new.platform
            && known.device == new.device
            && known.problem == new.problem
    };
    match all.iter_mut().find(is_same) {
        Some(known) => {
            known.launches += new.launches;
            known.seconds += new.seconds;
            known.data = new.data.or(known.data.take());
        }
        None => all.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "{\"cltune_capture\":1}\n";

    fn line(kernel: &str, n: i64, launches: u64, seconds: f64, data: &str) -> String {
        format!(
            "{{\"kernel\":\"{kernel}\",\"fingerprint\":\"b3:1\",\"platform\":\"P\",\"device\":\"D\",\
             \"vendor\":\"V\",\"problem\":{{\"n\":{n}}},{data}\"launches\":{launches:>20},\
             \"seconds\":{seconds:>24.9}}}\n"
        )
    }

    fn folder(files: &[(&str, String)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn processes_add_up_and_the_most_expensive_comes_first() {
        let data = "\"data\":{\"folder\":\"capture-1-0\",\"arguments\":[\
                    {\"name\":\"a\",\"value\":2.5},{\"name\":\"x\",\"file\":\"x.bin\"}]},";
        let first = [
            HEADER,
            &line("a", 8, 2, 0.5, data),
            &line("b", 8, 1, 1.0, ""),
        ]
        .concat();
        // The process was killed while it wrote its last line.
        let second = [
            HEADER,
            &line("a", 8, 3, 0.75, ""),
            &line("a", 9, 1, 0.1, "")[..40],
        ]
        .concat();
        let folder = folder(&[
            ("capture-1.jsonl", first),
            ("capture-2.jsonl", second),
            ("notes.txt", "mine".into()),
        ]);
        let all = read(folder.path()).unwrap();
        let subjects: Vec<String> = all.iter().map(Captured::subject).collect();
        assert_eq!(subjects, ["a on D for n = 8", "b on D for n = 8"]);
        assert_eq!((all[0].launches, all[0].seconds), (5, 1.25));
        let kept = &all[0].data.as_ref().unwrap().arguments;
        assert_eq!(kept["a"], Kept::Value(2.5));
        assert_eq!(
            kept["x"],
            Kept::File(folder.path().join("capture-1-0/x.bin"))
        );
    }

    #[test]
    fn what_is_no_capture_is_an_error_that_says_where() {
        let empty = folder(&[("capture-1.jsonl", HEADER.into())]);
        assert!(matches!(read(empty.path()), Err(ReadError::Empty(_))));
        let newer = folder(&[("capture-1.jsonl", "{\"cltune_capture\":2}\n".into())]);
        assert!(
            read(newer.path())
                .unwrap_err()
                .to_string()
                .contains("jsonl:1: ")
        );
        let damaged = folder(&[("capture-1.jsonl", HEADER.to_owned() + "{\"kernel\":7}\n")]);
        assert!(
            read(damaged.path())
                .unwrap_err()
                .to_string()
                .contains("jsonl:2: ")
        );
        let missing = empty.path().join("missing");
        assert!(matches!(read(&missing), Err(ReadError::File { .. })));
    }
}
