//! Sessions on a driver that fails on command: `faulty-icd`, which says how to command it.

use crate::process::Output;
use crate::{bad, samples, tools};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// What every [`Session`] tunes: `run` with one parameter, `A = 0..=5`, whose default is 0. The
/// farther from [`BEST`], the slower: the first step is four times the work, each other one twice.
/// Without what is added, numbers would become subnormal, which take processors many times as long
/// as others.
const RUN: &str = "__kernel void run(const uint n, __global int* y) {
    const int distance = A > 4 ? A - 4 : 4 - A;
    const int rounds = 800 << (distance > 0 ? distance + 1 : 0);
    float waste = get_global_id(0);
    for (int i = 0; i < rounds; i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
    y[get_global_id(0)] = waste > 1e30f ? 0 : (int)n;
}";

/// The fastest value of `A`.
pub const BEST: i64 = 4;

/// With `--kernel greedy`: more local memory, larger work-groups than devices have.
const GREEDY: &str = r#"
mod greedy {
    use super::*;
    #[tunable(
        params(TILE = [16, 16_777_216], W = [4, 128]), defaults(TILE = 16, W = 4),
        global(n, n), local(W, W), tune(n = 128),
    )]
    pub fn greedy(queue: &Queue, n: u32, #[arg(out, len = n * n)] y: &mut Buffer<i32>)
    -> Result<Event> {
        "__kernel void greedy(const uint n, __global int* y) {
            __local int tile[TILE];
            const size_t item = get_local_id(1) * W + get_local_id(0);
            tile[item % TILE] = 1;
            barrier(CLK_LOCAL_MEM_FENCE);
            y[get_global_id(1) * n + get_global_id(0)] = tile[0];
        }"
    }
}
"#;

/// The fastest first value of `--kernel many`.
pub const MANY_BEST: i64 = 2;

/// With `--kernel many`: 32 configurations, whose first value alone decides how fast they are.
const MANY: &str = r#"
mod many {
    use super::*;
    #[tunable(params(A = 0..=3, B = 0..=7), defaults(A = 0, B = 0), global(n), tune(n = 256))]
    pub fn many(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
        "__kernel void many(const uint n, __global int* y) {
            float waste = get_global_id(0);
            for (int i = 0; i < 500 << (3 * abs(A - 2)); i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
            y[get_global_id(0)] = waste > 1e30f ? B : (int)n;
        }"
    }
}
"#;

/// With `--kernel changing`: two configurations that change their input.
const CHANGING: &str = r#"
mod changing {
    use super::*;
    #[tunable(params(A = [3, 1]), defaults(A = 3), global(n), tune(n = 4096))]
    pub fn changing(queue: &Queue, n: u32, #[arg(len = n)] y: &mut Buffer<i32>) -> Result<Event> {
        "__kernel void changing(const uint n, __global int* y) {
            float waste = get_global_id(0);
            for (int i = 0; i < 800; i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
            y[get_global_id(0)] += waste > 1e30f ? A : (int)n;
        }"
    }
}
"#;

/// A folder of its own to tune in, and a driver that fails on command. Removed when dropped.
pub struct Session {
    folder: TempDir,
    faults: String,
}

impl Session {
    /// In an empty folder, with these faults.
    ///
    /// # Panics
    /// When the folder cannot be written to.
    pub fn new(faults: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let session = Self {
            folder,
            faults: faults.to_owned(),
        };
        let driver = tools::faulty_icd().display().to_string();
        fs::create_dir(session.path("vendors")).expect("a folder can be made");
        fs::write(session.path("vendors/faulty.icd"), driver).expect("a file can be written");
        session
    }

    /// The same folder on the driver as it is.
    #[must_use]
    pub fn without_faults(self) -> Self {
        Self {
            faults: String::new(),
            ..self
        }
    }

    /// A place in its folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// `cargo cltune tune` of every configuration in the order of its value after the default;
    /// where the arguments do not say otherwise, of `run`, with messages for tools and a time limit
    /// that a worker which builds anew keeps also on a busy machine.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(tools::cargo_cltune());
        command.args(["cltune", "tune", "--strategy", "full"]);
        command.arg("--artifact").arg(artifact());
        let usual = [
            ("--kernel", "run"),
            ("--time-limit", "15"),
            // What it checks is tested elsewhere, and takes as long as a test.
            ("--soundness", "off"),
            ("--message-format", "json"),
        ];
        for (option, value) in usual {
            if !arguments.contains(&option) {
                command.args([option, value]);
            }
        }
        command.args(arguments);
        self.place(&mut command);
        command
    }

    /// The same, after a shell has run this: what it limits is limited for the session.
    pub fn command_in(&self, script: &str, arguments: &[&str]) -> Command {
        let tune = self.command(arguments);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script} && exec \"$@\""), "sh"]);
        command.arg(tune.get_program()).args(tune.get_args());
        self.place(&mut command);
        command
    }

    /// The same, and what the shell mounts nobody else sees, and is gone with the session. `None`,
    /// after saying so, where the system does not allow that.
    pub fn command_on(&self, mounts: &str, arguments: &[&str]) -> Option<Command> {
        const NAMESPACE: [&str; 4] = ["--user", "--map-root-user", "--mount", "--"];
        let mut allowed = Command::new("unshare");
        allowed.args(NAMESPACE);
        allowed.args(["mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
        if !allowed.status().is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: there is no `unshare` with which this user may mount a small disk");
            return None;
        }
        let shell = self.command_in(mounts, arguments);
        let mut command = Command::new("unshare");
        command.args(NAMESPACE);
        command.arg(shell.get_program()).args(shell.get_args());
        self.place(&mut command);
        Some(command)
    }

    /// Lets a command run in its folder, on its driver.
    pub fn place(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path())
            .env("CLTUNE_FAULT", &self.faults)
            .env("CLTUNE_REAL_ICD", real_driver())
            // The first is for Linux distributions' loader, the second for Khronos's.
            .env("OCL_ICD_VENDORS", self.path("vendors"))
            .env("OCL_ICD_FILENAMES", tools::faulty_icd())
            .env_remove("CLTUNE_DEVICE");
    }

    /// Runs it to its end.
    pub fn tune(&self, arguments: &[&str]) -> Output {
        Output::of(&mut self.command(arguments))
    }

    /// The first value of the best configuration, in the lockfile.
    ///
    /// # Panics
    /// When there is no lockfile, or nothing in it.
    #[track_caller]
    pub fn chosen(&self) -> i64 {
        let text = fs::read_to_string(self.path("cltune.lock")).expect("there is a lockfile");
        let values = text.lines().find_map(|line| {
            let values = line.strip_prefix("values = [")?.strip_suffix(']')?;
            values.split(',').next()?.parse().ok()
        });
        values.unwrap_or_else(|| panic!("nothing was chosen: {text}"))
    }

    /// Waits until a running session measures this configuration.
    ///
    /// # Panics
    /// When it does not within two minutes.
    #[track_caller]
    pub fn wait_until_begun(&self, values: &[i64]) {
        let begun = format!("\"begin\":{}", Value::from(values));
        let has_begun = || self.journal().is_some_and(|text| text.contains(&begun));
        let waited = (0..2400).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            has_begun()
        });
        assert!(waited, "{values:?} is not measured");
    }

    /// What became of each configuration, by the journal: `ok`, or how it failed.
    ///
    /// # Panics
    /// When there is not one journal, or a configuration has two results, or a failure no reason.
    #[track_caller]
    pub fn results(&self) -> BTreeMap<String, String> {
        let text = fs::read_to_string(self.journal_file()).expect("a journal is text");
        let mut results: BTreeMap<String, Value> = BTreeMap::new();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect("a line is JSON");
            if let Some(status) = line["status"].as_str() {
                assert!(
                    status == "ok" || line["detail"].is_string(),
                    "no reason: {line}"
                );
                let earlier = results.insert(line["values"].to_string(), line.clone());
                let again = earlier.is_some_and(|earlier| stands(&earlier));
                assert!(!again, "measured twice: {line}");
            }
        }
        let status = |line: &Value| line["status"].as_str().unwrap_or_default().to_owned();
        let statuses = results.iter();
        statuses
            .map(|(values, line)| (values.clone(), status(line)))
            .collect()
    }

    /// Changes the text of the journal.
    ///
    /// # Panics
    /// When there is not one journal, or nothing changes.
    #[track_caller]
    pub fn damage_journal(&self, damage: impl FnOnce(&mut String)) {
        let file = self.journal_file();
        let mut text = fs::read_to_string(&file).expect("a journal is text");
        let sound = text.clone();
        damage(&mut text);
        assert_ne!(text, sound);
        fs::write(file, text).expect("a journal can be written");
    }

    /// The text of the journal, where there is one.
    pub fn journal(&self) -> Option<String> {
        let journal = self.journals().pop()?;
        fs::read_to_string(journal).ok()
    }

    #[track_caller]
    fn journal_file(&self) -> PathBuf {
        let mut journals = self.journals();
        assert_eq!(journals.len(), 1, "{journals:?}");
        journals.remove(0)
    }

    fn journals(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.path("cltune-state/journal"));
        let files = folder.into_iter().flatten().flatten();
        let paths = files.map(|entry| entry.path());
        paths
            .filter(|path| path.extension().is_some_and(|of| of == "jsonl"))
            .collect()
    }
}

/// What became of a configuration by the messages for tools, as it was told: `status: reason`, or
/// `ok`.
///
/// # Panics
/// When it was not told exactly once.
#[track_caller]
pub fn fate(output: &Output, values: &[i64]) -> String {
    let mut messages = output.messages("configuration");
    messages.retain(|message| message["values"] == Value::from(values));
    let [message] = &messages[..] else {
        panic!("{values:?} was not measured exactly once: {output}");
    };
    let text = |field: &str| message[field].as_str();
    match (text("status"), text("detail")) {
        (Some("ok"), None) => "ok".to_owned(),
        (Some(status), Some(detail)) => format!("{status}: {detail}"),
        _ => panic!("no status, or a failure without a reason: {message}"),
    }
}

/// Whether a result in a journal is not to be measured again: one time may be a hiccup, and a
/// worker may have been killed.
pub fn stands(result: &Value) -> bool {
    match result["status"].as_str() {
        Some("ok") => result["samples_us"]
            .as_array()
            .is_some_and(|of| of.len() > 1),
        _ => result["killed"] != true,
    }
}

/// A library with the tunables, built once.
fn artifact() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let clauses = "params(A = 0..=5), defaults(A = 0)";
        let project = samples::inline("cltune-e2e-faults", clauses, RUN);
        let mixed = format!("mod mixed {{\n{}}}\n", bad::source());
        project.write(
            "src/lib.rs",
            project.read("src/lib.rs") + GREEDY + MANY + CHANGING + &mixed,
        );
        let built = project.cargo(&["build", "--message-format", "json"]);
        let artifacts = built.expect_code(0).messages("compiler-artifact");
        let library = artifacts
            .iter()
            .find(|artifact| artifact["target"]["name"] == "cltune_e2e_faults")
            .and_then(|artifact| artifact["filenames"][0].as_str());
        library.expect("the package is a library").into()
    })
}

/// The library of the driver that the loader would use: PoCL, or else the first.
fn real_driver() -> &'static str {
    static DRIVER: OnceLock<String> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let usual = Path::new("/etc/OpenCL/vendors");
        let vendors = std::env::var_os("OCL_ICD_VENDORS").map_or(usual.into(), PathBuf::from);
        let mut files: Vec<PathBuf> = match fs::read_dir(&vendors) {
            Ok(folder) => folder.flatten().map(|entry| entry.path()).collect(),
            // A file, in the usual folder if it has none of its own.
            Err(_) => vec![usual.join(vendors)],
        };
        files.retain(|file| file.extension().is_some_and(|extension| extension == "icd"));
        files.sort_by_key(|file| (!file.ends_with("pocl.icd"), file.clone()));
        let first = files.first().expect("there is a driver");
        let text = fs::read_to_string(first).expect("a driver's file can be read");
        text.trim().to_owned()
    })
}
