//! The folders in which scaffolded packages are built.
//!
//! Cargo lets one build at a time go on in a folder. Tests run side by side, so that there are
//! several. What all packages depend on is built in the first one and copied to the others.

use crate::manifest::manifest_with_kernels;
use crate::process::Output;
use crate::tools;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const FOLDERS: usize = 3;

/// The folder for a package of this name.
///
/// # Panics
/// When cltune does not build, or the disk is full.
pub fn of(name: &str) -> &'static Path {
    static FOLDER: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let folders = FOLDER.get_or_init(prepared);
    &folders[name.bytes().map(usize::from).sum::<usize>() % folders.len()]
}

/// The folders, with what all packages depend on as it is now.
fn prepared() -> Vec<PathBuf> {
    let folder = |number| tools::own_target().join(format!("scaffolded/{number}"));
    let folders: Vec<PathBuf> = (1..=FOLDERS).map(folder).collect();
    let is_new = build_dependencies(&folders[0]);
    for copy in &folders[1..] {
        if is_new && copy.exists() {
            fs::remove_dir_all(copy).expect("an old folder can be removed");
        }
        if !copy.exists() {
            // With the times, from which cargo sees that nothing has changed.
            let mut command = Command::new("cp");
            command.args(["-a", "--reflink=auto"]);
            let _ = Output::of(command.arg(&folders[0]).arg(copy)).expect_code(0);
        }
    }
    folders
}

/// Builds what all packages depend on; whether there was anything to build.
fn build_dependencies(folder: &Path) -> bool {
    let name = "cltune-e2e-dependencies";
    let package = tempfile::tempdir().expect("there is a folder for temporary files");
    let write = |file: &str, text: &str| {
        fs::write(package.path().join(file), text).expect("a file can be written");
    };
    write("Cargo.toml", &manifest_with_kernels(name));
    fs::create_dir(package.path().join("src")).expect("a folder can be made");
    write("src/lib.rs", "");
    tools::copy_versions(package.path());
    let mut command = Command::new(tools::cargo());
    tools::set_environment(command.current_dir(package.path()), folder);
    let built = Output::of(command.args(["build", "--message-format", "json"])).expect_code(0);
    // The package itself is another one each time, since its folder is.
    let is_own = |artifact: &Value| artifact["target"]["name"] == "cltune_e2e_dependencies";
    let artifacts = built.messages("compiler-artifact");
    artifacts
        .iter()
        .any(|artifact| artifact["fresh"] == false && !is_own(artifact))
}
