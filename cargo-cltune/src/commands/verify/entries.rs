//! The entries of lockfiles that are to be verified.

use crate::commands::tuned::{AllTuned, Tuned};
use cltune_core::select::{Rule, TunedDevice};
use cltune_formats::declaration::Declaration;
use std::path::PathBuf;

/// A configuration, and what it is for.
#[derive(Clone, Debug)]
pub(super) struct VerifiedEntry {
    /// The folder of the package.
    pub(super) folder: PathBuf,
    /// The tunable.
    pub(super) declaration: Declaration,
    /// The device that it was tuned on, or would be launched on.
    pub(super) device: TunedDevice,
    /// The problem that it was tuned for, or would be launched for.
    pub(super) dims: Vec<i64>,
    /// Its values.
    pub(super) codes: Vec<i64>,
    pub(super) origin: Origin,
}

/// Where a configuration comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// The lockfile has it for this device and problem.
    Tuned,
    /// The lockfile has none, so a launch would select it.
    Selected {
        rule: Rule,
        /// The rule, and the device and problem that it takes.
        text: String,
    },
}

impl Origin {
    /// Why a launch would take it, where it was not tuned for its device and problem.
    pub(super) fn selected(&self) -> Option<&str> {
        match self {
            Self::Tuned => None,
            Self::Selected { text, .. } => Some(text),
        }
    }

    /// Whether a launch would take another one where the driver refuses it.
    pub(super) fn is_of_another(&self) -> bool {
        matches!(
            self,
            Self::Selected {
                rule: Rule::ExactDevice { .. } | Rule::SimilarDevice { .. } | Rule::Database { .. },
                ..
            }
        )
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    /// Those of tunables as they are now.
    pub(super) current: Vec<VerifiedEntry>,
    /// The names of tunables that have changed since they were tuned.
    pub(super) stale: Vec<String>,
    /// All tunables, with what the lockfile has of them as they are now.
    pub(super) tunables: Vec<Tuned>,
}

impl From<AllTuned> for Entries {
    fn from(all: AllTuned) -> Self {
        let mut current = Vec::new();
        for tuned in &all.current {
            for result in tuned.table.results.iter() {
                current.push(VerifiedEntry {
                    folder: tuned.folder.clone(),
                    declaration: tuned.declaration.clone(),
                    device: tuned.table.devices[usize::from(result.device)].clone(),
                    dims: result.problem.to_vec(),
                    codes: result.values.to_vec(),
                    origin: Origin::Tuned,
                });
            }
        }
        Self {
            current,
            stale: all.stale,
            tunables: all.current.into_iter().chain(all.untuned).collect(),
        }
    }
}
