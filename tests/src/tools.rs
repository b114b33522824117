//! The freshly built `cargo-cltune`, and where scaffolded packages are built.

use crate::process::Output;
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

/// Where all scaffolded packages are built.
pub fn target() -> PathBuf {
    own_target().join("scaffolded")
}

/// The target folder of this repository's own workspace.
fn own_target() -> &'static Path {
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
    BUILT.get_or_init(|| {
        let built = Output::of(
            Command::new(cargo())
                .args([
                    "build",
                    "--package",
                    "cargo-cltune",
                    "--message-format",
                    "json",
                ])
                .current_dir(repository()),
        )
        .expect_code(0);
        let executable = built
            .messages("compiler-artifact")
            .into_iter()
            .rev()
            .find_map(|artifact| artifact["executable"].as_str().map(PathBuf::from));
        executable.expect("cargo-cltune is an executable")
    })
}
