//! The folder of a capture, and this process's file in it.

use super::text::totals;
use cltune_core::capture_format;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where launches are recorded.
#[derive(Debug)]
pub(super) struct Recorder {
    folder: PathBuf,
    with_data: bool,
    file: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Nothing was launched.
    Unused,
    Open(CaptureFile),
    /// It cannot be written, which was said.
    Broken,
}

/// A file under construction.
#[derive(Debug)]
struct CaptureFile {
    file: File,
    /// The file's name without its extension: also the beginning of its data folders' names.
    stem: String,
    /// The file's length.
    end: u64,
    lines: Vec<Line>,
    /// The position in `lines` of what a line is about.
    positions: HashMap<String, usize>,
}

#[derive(Debug)]
struct Line {
    /// Where its totals are.
    offset: u64,
    launches: u64,
    time: Duration,
}

impl Recorder {
    /// The recorder that the environment asks for.
    pub(super) fn from_environment() -> Option<Self> {
        let folder = std::env::var_os("CLTUNE_CAPTURE").filter(|folder| !folder.is_empty())?;
        let with_data = std::env::var_os("CLTUNE_CAPTURE_DATA");
        Some(Self {
            folder: folder.into(),
            with_data: with_data.is_some_and(|value| !value.is_empty() && value != "0"),
            file: Mutex::new(State::Unused),
        })
    }

    /// Counts a launch. `line` is the beginning of its line, which `data` completes with what was
    /// kept of its arguments, if it is the first one.
    pub(super) fn count(&self, line: &str, time: Duration, data: impl FnOnce() -> String) {
        self.with_file(|file| {
            let position = match file.positions.get(line) {
                Some(position) => *position,
                None => file.add(line, &data())?,
            };
            file.count(position, time)
        });
    }

    /// A new folder for the arguments of a launch, where they are asked for and it is the first of
    /// its line; with its name.
    pub(super) fn data_folder(&self, line: &str) -> Option<(PathBuf, String)> {
        if !self.with_data {
            return None;
        }
        let mut found = None;
        self.with_file(|file| {
            if !file.positions.contains_key(line) {
                let name = format!("{}-{}", file.stem, file.lines.len());
                let folder = self.folder.join(&name);
                fs::create_dir_all(&folder)?;
                found = Some((folder, name));
            }
            Ok(())
        });
        found
    }

    /// Does something with the file, which is made before. After the first failure nothing is
    /// recorded any more.
    fn with_file(&self, work: impl FnOnce(&mut CaptureFile) -> io::Result<()>) {
        let mut state = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Unused = *state {
            *state = match CaptureFile::create(&self.folder) {
                Ok(file) => State::Open(file),
                Err(error) => self.give_up(&error),
            };
        }
        if let State::Open(file) = &mut *state
            && let Err(error) = work(file)
        {
            *state = self.give_up(&error);
        }
    }

    /// On standard error, since whoever sets the variable waits for a file and may have no log.
    fn give_up(&self, error: &io::Error) -> State {
        eprintln!(
            "cltune: launches are not recorded (CLTUNE_CAPTURE={}): {error}",
            self.folder.display()
        );
        State::Broken
    }
}

impl CaptureFile {
    fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanoseconds = now.map_or(0, |now| now.as_nanos());
        // Process numbers come again, and in containers soon.
        let stem = capture_format::stem(nanoseconds, std::process::id());
        let path = folder.join(capture_format::file_name(&stem));
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let header = capture_format::header();
        file.write_all(header.as_bytes())?;
        Ok(Self {
            file,
            stem,
            end: header.len() as u64,
            lines: Vec::new(),
            positions: HashMap::new(),
        })
    }

    fn add(&mut self, line: &str, data: &str) -> io::Result<usize> {
        let text = format!("{line}{data}");
        let offset = self.end + text.len() as u64;
        let text = text + &totals(0, 0.0);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(text.as_bytes())?;
        self.end += text.len() as u64;
        let position = self.lines.len();
        self.lines.push(Line {
            offset,
            launches: 0,
            time: Duration::ZERO,
        });
        self.positions.insert(line.to_owned(), position);
        Ok(position)
    }

    fn count(&mut self, position: usize, time: Duration) -> io::Result<()> {
        let Some(line) = self.lines.get_mut(position) else {
            return Ok(());
        };
        line.launches += 1;
        line.time += time;
        let text = totals(line.launches, line.time.as_secs_f64());
        self.file.seek(SeekFrom::Start(line.offset))?;
        self.file.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder(folder: &Path, with_data: bool) -> Recorder {
        Recorder {
            folder: folder.to_owned(),
            with_data,
            file: Mutex::new(State::Unused),
        }
    }

    fn text(folder: &Path) -> String {
        let files = fs::read_dir(folder)
            .unwrap()
            .flatten()
            .map(|entry| entry.path());
        let mut files: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        fs::read_to_string(files.remove(0)).unwrap()
    }

    #[test]
    fn totals_are_replaced_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = recorder(folder.path(), false);
        let count = |line: &str, micros| {
            recorder.count(line, Duration::from_micros(micros), || {
                "\"data\":null,".to_owned()
            });
        };
        count("{\"kernel\":\"a\",", 10);
        count("{\"kernel\":\"b\",", 5);
        count("{\"kernel\":\"a\",", 32);
        assert_eq!(recorder.data_folder("{\"kernel\":\"c\","), None);
        let text = text(folder.path());
        let without_spaces = text.replace(' ', "");
        let expected = "{\"cltune_capture\":1}\n\
            {\"kernel\":\"a\",\"data\":null,\"launches\":2,\"seconds\":0.000042000}\n\
            {\"kernel\":\"b\",\"data\":null,\"launches\":1,\"seconds\":0.000005000}\n";
        assert_eq!(without_spaces, expected);
    }

    #[test]
    fn data_is_kept_once_for_each_line() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = recorder(folder.path(), true);
        let (path, name) = recorder.data_folder("a").unwrap();
        assert!(path.is_dir() && path.ends_with(&name));
        recorder.count("a", Duration::ZERO, String::new);
        assert_eq!(recorder.data_folder("a"), None);
        assert_ne!(recorder.data_folder("b").unwrap().1, name);
    }

    #[test]
    fn a_folder_that_cannot_be_made_ends_the_recording_and_nothing_else() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let recorder = recorder(&file.path().join("below"), true);
        recorder.count("a", Duration::ZERO, String::new);
        assert_eq!(recorder.data_folder("a"), None);
    }
}
