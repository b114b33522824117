//! The files of a capture, united.

use super::{Captured, Data, Kept};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

/// The size of a file, bytes: some three million lines.
const LARGEST: u64 = 1 << 30;
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

/// Everything that was captured in a folder, by any number of processes; the most expensive first. A line that is
/// damaged is left out; `damaged` is told of each file that has such lines.
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

/// What was captured, each kernel, device and problem once.
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
            Some(known) => {
                known.launches = known.launches.saturating_add(new.launches);
                known.seconds += new.seconds;
                known.data = new.data.or(known.data.take());
            }
            None => self.captured.push(new),
        }
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
        let all = read(folder.path(), |text| panic!("{text}")).unwrap();
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
        let read = |folder: &Path| read(folder, |_| ());
        let empty = folder(&[("capture-1.jsonl", HEADER.into())]);
        assert!(matches!(read(empty.path()), Err(ReadError::Empty(_))));
        let newer = folder(&[("capture-1.jsonl", "{\"cltune_capture\":2}\n".into())]);
        let error = read(newer.path()).unwrap_err().to_string();
        assert!(
            error.contains("capture-1.jsonl: a capture of version 2"),
            "{error}"
        );
        let missing = empty.path().join("missing");
        assert!(matches!(read(&missing), Err(ReadError::File { .. })));
        std::fs::create_dir(empty.path().join("capture-2.jsonl")).unwrap();
        let error = read(empty.path()).unwrap_err().to_string();
        assert!(error.contains("capture-2.jsonl: it is a folder"), "{error}");
    }

    #[test]
    fn a_damaged_line_costs_that_line() {
        let sound = [line("a", 8, 2, 0.5, ""), line("b", 8, 1, 1.0, "")];
        let told = std::cell::RefCell::new(Vec::new());
        let read = |text: &[u8]| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("capture-1.jsonl"), text).unwrap();
            let read = read(folder.path(), |text| {
                told.borrow_mut().push(text.to_owned());
            });
            let read = read.map_err(|error| error.to_string())?;
            let kernels: Vec<String> = read.into_iter().map(|one| one.kernel).collect();
            Ok::<_, String>(kernels.concat())
        };
        for lost in [&b"{\"kernel\":7}\n"[..], b"\n", b"\xff\xfe\n", b"[[[[\n"] {
            let text = [
                HEADER.as_bytes(),
                sound[0].as_bytes(),
                lost,
                sound[1].as_bytes(),
            ]
            .concat();
            assert_eq!(read(&text).as_deref(), Ok("ba"));
            let told = told.take().concat();
            assert!(
                told.starts_with("1 damaged line was left out of "),
                "{told}"
            );
            assert!(told.contains("capture-1.jsonl; line 3: "), "{told}");
        }
        // Any byte that is lost or changed costs no more than its line.
        let text = [HEADER, &sound[0], &sound[1]].concat();
        for at in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = b'\x01';
            if let Ok(kernels) = read(&damaged) {
                assert!(["ba", "b", "a"].contains(&&*kernels), "{at}: {kernels}");
            }
        }
        assert_eq!(
            read(&[&sound[0], HEADER, &sound[1]].concat().into_bytes()).as_deref(),
            Ok("b")
        );
    }
}
