//! A package in a temporary folder.

use crate::manifest::manifest;
use crate::process::Output;
use crate::{build_folders, tools};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A package, or a workspace of several, outside this repository. Removed when dropped.
pub struct Project {
    folder: TempDir,
    name: String,
}

impl Project {
    /// An empty package that depends on cltune by path. No other test may use its name.
    ///
    /// # Panics
    /// As all functions here: when the temporary folder cannot be written to.
    pub fn new(name: &str) -> Self {
        Self::empty(name).file("Cargo.toml", manifest(name))
    }

    /// A folder whose `Cargo.toml` is up to the caller; `name` is the package that
    /// [`run`](Self::run) runs.
    ///
    /// # Panics
    /// See [`new`](Self::new).
    pub fn empty(name: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("cltune test ").tempdir();
        let folder = folder.expect("there is a folder for temporary files");
        tools::copy_versions(folder.path());
        Self {
            folder,
            name: name.to_owned(),
        }
    }

    /// With this file.
    ///
    /// # Panics
    /// See [`new`](Self::new).
    #[must_use]
    pub fn file(self, path: &str, contents: impl AsRef<[u8]>) -> Self {
        self.write(path, contents);
        self
    }

    /// Removes the journals of earlier packages of this name, which are where all are built.
    ///
    /// # Panics
    /// When one cannot be removed.
    pub fn forget_sessions(&self) {
        let begin = format!("{}--", self.name);
        let journals = self.target().join("cltune/journal");
        // No folder: nothing was ever tuned there.
        for entry in fs::read_dir(journals).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&begin) {
                fs::remove_file(entry.path()).expect("a journal can be removed");
            }
        }
    }

    /// Its folder. Its name has spaces in it, for they are legal and often forgotten.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file, and the folders on the way to it.
    ///
    /// # Panics
    /// See [`new`](Self::new).
    pub fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a folder can be made");
        fs::write(path, contents).expect("a file can be written");
    }

    /// Reads a text file.
    ///
    /// # Panics
    /// When it is not there.
    pub fn read(&self, path: &str) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Replaces a text in a file.
    ///
    /// # Panics
    /// When the file does not have it.
    pub fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no `{from}`");
        self.write(path, text.replace(from, to));
    }

    /// A command in this folder, with a plain environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        tools::set_environment(&mut command, self.target());
        command
    }

    /// `cargo-cltune cltune …`, as cargo calls it.
    pub fn cltune_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(tools::cargo_cltune());
        command.arg("cltune").args(arguments);
        command
    }

    /// Runs `cargo cltune …`.
    pub fn cltune(&self, arguments: &[&str]) -> Output {
        Output::of(&mut self.cltune_command(arguments))
    }

    /// Runs `cargo …`.
    pub fn cargo(&self, arguments: &[&str]) -> Output {
        Output::of(self.command(&tools::cargo()).args(arguments))
    }

    /// Runs the package's program, built in the dev profile by `cargo run`.
    pub fn run(&self) -> Output {
        self.run_with(&[])
    }

    /// The same with these environment variables.
    pub fn run_with(&self, variables: &[(&str, &str)]) -> Output {
        let mut command = self.command(&tools::cargo());
        command.args(["run", "--quiet"]);
        Output::of(command.envs(variables.iter().copied()))
    }

    /// Whether `cargo build` compiles the package again.
    ///
    /// # Panics
    /// When it does not build.
    #[track_caller]
    pub fn compiles_again(&self) -> bool {
        let built = self
            .cargo(&["build", "--message-format", "json"])
            .expect_code(0);
        let own = format!("/{}", self.name);
        let ours = |artifact: &Value| {
            artifact["target"]["name"] == self.name.as_str()
                || artifact["executable"]
                    .as_str()
                    .is_some_and(|path| path.ends_with(&own))
        };
        let artifacts: Vec<Value> = built
            .messages("compiler-artifact")
            .into_iter()
            .filter(ours)
            .collect();
        assert!(!artifacts.is_empty(), "{built}");
        artifacts.iter().any(|artifact| artifact["fresh"] == false)
    }

    /// The folder that it is built in.
    pub fn target(&self) -> &'static Path {
        build_folders::of(&self.name)
    }

    /// The program that cargo builds in a profile's folder (`debug` or `release`).
    pub fn executable(&self, profile: &str) -> PathBuf {
        self.target().join(profile).join(&self.name)
    }
}
