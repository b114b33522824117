//! The freshly built programs of this workspace, and the environment of scaffolded packages.

use crate::process::Output;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The root of this repository.
///
/// # Panics
/// Never: this crate lies in a folder of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is inside the repository")
}

/// The cargo that runs the tests.
pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// Gives a package the versions of this repository, so that building it needs no network.
///
/// # Panics
/// When the file cannot be copied.
pub fn copy_versions(package: &Path) {
    let locked = repository().join("Cargo.lock");
    std::fs::copy(&locked, package.join("Cargo.lock")).expect("Cargo.lock can be copied");
}

/// Sets the environment of cargo and of `cargo cltune` for a scaffolded package, which is built in
/// this folder.
pub fn set_environment(command: &mut Command, target: &Path) {
    command
        .env("CARGO", cargo())
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TERM_COLOR", "never")
        // A package is built a few times, and nobody debugs it: what that takes would only fill the
        // disk.
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        // Optimising the run time takes a minute more, and no test is about that.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env_remove("CLTUNE_LOCK")
        .env_remove("CLTUNE_DATABASE")
        .env_remove("CLTUNE_DEVICE")
        // What cargo sets for the tests' own package is not meant for these packages.
        .env_remove("CARGO_MANIFEST_DIR")
        .env_remove("CARGO_PKG_NAME");
}

/// The target folder of this repository's own workspace.
///
/// # Panics
/// When cargo does not tell it.
pub fn own_target() -> &'static Path {
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    TARGET.get_or_init(|| {
        let metadata = Output::of(
            Command::new(cargo())
                .args(["metadata", "--no-deps", "--format-version", "1"])
                .current_dir(repository()),
        )
        .expect_code(0)
        .json();
        let folder = metadata["target_directory"]
            .as_str()
            .expect("cargo names it");
        PathBuf::from(folder)
    })
}

/// `cargo-cltune`, built from this workspace as it is now.
///
/// # Panics
/// When it does not build.
pub fn cargo_cltune() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| executable("cargo-cltune"))
}

/// The example `several-devices`.
///
/// # Panics
/// When it does not build.
pub fn several_devices() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| executable("several-devices"))
}

/// The example of operations larger than a device.
///
/// # Panics
/// When it does not build.
pub fn larger_than_memory() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| executable("larger-than-memory"))
}

/// An example that is a program of this workspace, built each time that it is asked for.
///
/// # Panics
/// When it does not build.
pub fn example(name: &str) -> PathBuf {
    executable(name)
}

/// The library of the driver that fails on command.
///
/// # Panics
/// When it does not build.
pub fn faulty_icd() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let artifacts = build(&["--lib"]);
        let library = artifacts
            .iter()
            .rev()
            .find(|artifact| artifact["target"]["kind"][0] == "cdylib")
            .and_then(|artifact| artifact["filenames"][0].as_str().map(PathBuf::from));
        library.expect("faulty-icd is a dynamic library")
    })
}

/// Builds a program of this workspace.
fn executable(name: &str) -> PathBuf {
    let artifacts = build(&["--bin", name]);
    let own = |artifact: &&Value| artifact["target"]["name"] == name;
    let executable = artifacts
        .iter()
        .filter(own)
        .find_map(|artifact| artifact["executable"].as_str().map(PathBuf::from));
    executable.unwrap_or_else(|| panic!("{name} is an executable"))
}

/// Builds targets of this workspace; what was built, in cargo's words. With the features of the
/// whole workspace and of its tests, which one of these has to be named for: with fewer, nearly all
/// would be built once more.
fn build(targets: &[&str]) -> Vec<Value> {
    let mut command = Command::new(cargo());
    command.args(["build", "--workspace", "--message-format", "json"]);
    command.args(["--test", "end_to_end"]);
    let built = Output::of(command.args(targets).current_dir(repository()));
    built.expect_code(0).messages("compiler-artifact")
}
