//! The base of the end-to-end tests: packages in temporary folders, outside this workspace, on
//! which the freshly built `cargo cltune` and cargo itself are run.
//!
//! | file | owns |
//! |---|---|
//! | `tools` | the freshly built `cargo-cltune` and driver, the environment of scaffolded packages |
//! | `build_folders` | where scaffolded packages are built |
//! | `manifest` | their manifests |
//! | `project` | a package in a temporary folder |
//! | `process` | running a program and keeping what it printed |
//! | `samples` | sources of small packages with a tunable |
//! | `bad` | kernels that are wrong in every way |
//! | `browser` | Chromium without a window |
//! | `fleet` | a folder in which several machines tune one artifact |
//! | `slurm` | a cluster on this machine |
//! | `powercap` | made-up counters of energy |
//! | `faulty` | sessions on a driver that fails on command |
//!
//! Packages are built in shared folders, so that the run time is compiled once; each package
//! therefore needs a name of its own.

pub mod bad;
pub mod browser;
pub mod build_folders;
pub mod faulty;
pub mod fleet;
pub mod manifest;
pub mod powercap;
pub mod process;
pub mod project;
pub mod samples;
#[cfg(unix)]
pub mod slurm;
pub mod tools;

/// Whether this is `scripts/test --full`, which runs more and in which nothing may be skipped.
pub fn is_full() -> bool {
    std::env::var_os("CLTUNE_TEST_FULL").is_some()
}

/// Whether a test is left to `scripts/test --full`, since it takes long and is much like others.
/// Says so where it is.
pub fn is_left_to_full() -> bool {
    if !is_full() {
        println!("SKIPPED: only `scripts/test --full` runs this");
    }
    !is_full()
}

/// Says that a test is skipped, and why.
///
/// # Panics
/// In `scripts/test --full`, which has all that tests need.
pub fn skip(why: &str) {
    println!("SKIPPED: {why}");
    assert!(!is_full(), "`scripts/test --full` skips no test: {why}");
}

pub use browser::{Browser, View};
pub use process::{Output, Running};
pub use project::Project;

/// The examples of the attributes' references, which the attributes' own crate cannot run: it does
/// without `cltune`.
#[cfg(doctest)]
mod references {
    #[doc = include_str!("../../cltune-macros/src/fused.md")]
    struct Fused;

    #[doc = include_str!("../../cltune-macros/src/kernel_struct.md")]
    struct KernelStruct;

    #[doc = include_str!("../../cltune-macros/src/tunable.md")]
    struct Tunable;
}
