//! What is to be verified of what lockfiles hold.

use crate::commands::tuned::AllTuned;
use cltune_core::declaration::Declaration;
use cltune_core::select::KnownDevice;
use std::path::PathBuf;

/// A tuned configuration.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The folder of the package.
    pub(super) folder: PathBuf,
    /// The tunable.
    pub(super) declaration: Declaration,
    /// The device that it was tuned on.
    pub(super) device: KnownDevice,
    /// The problem that it was tuned for.
    pub(super) dims: Vec<i64>,
    /// Its values.
    pub(super) codes: Vec<i64>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    /// Those of tunables as they are now.
    pub(super) current: Vec<Entry>,
    /// The names of tunables that have changed since they were tuned.
    pub(super) stale: Vec<String>,
}

impl From<AllTuned> for Entries {
    fn from(all: AllTuned) -> Self {
        let mut current = Vec::new();
        for tuned in &all.current {
            for result in tuned.table.results.iter() {
                current.push(Entry {
                    folder: tuned.folder.clone(),
                    declaration: tuned.declaration.clone(),
                    device: tuned.table.devices[usize::from(result.device)].clone(),
                    dims: result.problem.to_vec(),
                    codes: result.values.to_vec(),
                });
            }
        }
        Self {
            current,
            stale: all.stale,
        }
    }
}
