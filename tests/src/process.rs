//! Running a program and keeping what it printed.

use serde_json::Value;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

/// What a program printed, and how it ended.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Runs a program to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn of(command: &mut Command) -> Self {
        Running::start(command).end()
    }

    /// This output, if the program ended with this exit code.
    ///
    /// # Panics
    /// When it ended otherwise; the message holds all that it printed.
    #[track_caller]
    #[must_use]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// This output, if standard error has all of these texts and no sign of a panic.
    ///
    /// # Panics
    /// When one is missing.
    #[track_caller]
    #[must_use]
    pub fn expect_stderr(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(
                self.stderr.contains(text),
                "standard error lacks `{text}`:\n{self}"
            );
        }
        assert!(!self.stderr.contains("panicked at"), "{self}");
        self
    }

    /// This output, if standard output has all of these texts.
    ///
    /// # Panics
    /// When one is missing.
    #[track_caller]
    #[must_use]
    pub fn expect_stdout(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(
                self.stdout.contains(text),
                "standard output lacks `{text}`:\n{self}"
            );
        }
        self
    }

    /// Standard output as one JSON value.
    ///
    /// # Panics
    /// When it is none.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// The messages of `--message-format json` with this reason.
    ///
    /// # Panics
    /// When a line of standard output is no JSON object with a `reason`.
    #[track_caller]
    pub fn messages(&self, reason: &str) -> Vec<Value> {
        let mut messages = Vec::new();
        for line in self.stdout.lines() {
            let message: Value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{error}: {line}\n{self}"));
            assert!(message["reason"].is_string(), "{line}");
            if message["reason"] == reason {
                messages.push(message);
            }
        }
        messages
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "exit code {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        )
    }
}

/// A program that runs.
pub struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    read: String,
    stderr: JoinHandle<String>,
}

impl Running {
    /// Starts a program.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let mut pipe = child.stderr.take().expect("standard error is a pipe");
        let stderr = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Self {
            child,
            stdout: BufReader::new(stdout),
            read: String::new(),
            stderr,
        }
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a line of standard output has this text.
    ///
    /// # Panics
    /// When the program ends without such a line.
    pub fn wait_for(&mut self, text: &str) {
        loop {
            let start = self.read.len();
            let count = self
                .stdout
                .read_line(&mut self.read)
                .expect("standard output is UTF-8");
            assert!(count > 0, "ended without printing `{text}`:\n{}", self.read);
            if self.read[start..].contains(text) {
                return;
            }
        }
    }

    /// Sends it a signal: `INT` is what Ctrl-C does in a terminal.
    ///
    /// # Panics
    /// When it has ended already.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        assert!(signal(self.id(), name), "it has ended already");
    }

    /// The processes that it started and that still run.
    #[cfg(target_os = "linux")]
    pub fn children(&self) -> Vec<u32> {
        let parent = format!("PPid:\t{}\n", self.id());
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|id| status(*id).is_some_and(|status| status.contains(&parent)))
            .collect()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When its state cannot be told.
    pub fn end(mut self) -> Output {
        self.stdout
            .read_to_string(&mut self.read)
            .expect("standard output is UTF-8");
        let status = self
            .child
            .wait()
            .expect("a started program can be waited for");
        let stderr = self
            .stderr
            .join()
            .expect("reading standard error does not panic");
        Output {
            code: status.code(),
            stdout: self.read,
            stderr,
        }
    }
}

/// Sends a process a signal; whether there is such a process.
#[cfg(unix)]
pub fn signal(id: u32, name: &str) -> bool {
    // The shell's own `kill`: not every system has it as a program.
    let command = format!("kill -{name} {id}");
    let status = Command::new("sh").args(["-c", &command]).status();
    status.is_ok_and(|status| status.success())
}

/// Whether a process runs. A zombie, which waits for whoever inherited it, does not.
#[cfg(target_os = "linux")]
pub fn is_running(id: u32) -> bool {
    status(id).is_some_and(|status| !status.contains("State:\tZ"))
}

#[cfg(target_os = "linux")]
fn status(id: u32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{id}/status")).ok()
}
