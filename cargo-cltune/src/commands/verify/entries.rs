//! What lockfiles hold of the tunables that were found.

use crate::artifact::PackageTunables;
use crate::kernel_filter::KernelFilter;
use crate::lockfile_store::{self, StoreError};
use cltune_core::declaration::Declaration;
use cltune_core::lockfile::{BakeError, FILE_NAME};
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

/// Why there is nothing to verify.
#[derive(Debug, thiserror::Error)]
pub(super) enum EntriesError {
    /// A lockfile cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A lockfile was edited by hand.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// Nothing is tuned.
    #[error(
        "nothing to verify: no {FILE_NAME} holds results of {}; run `cargo cltune` first",
        names.join(", ")
    )]
    None {
        /// The tunables.
        names: Vec<String>,
    },
}

impl Entries {
    /// Reads the lockfile of each package. `kernels` are the values of `--kernel`.
    pub(super) fn of(
        packages: &[PackageTunables],
        kernels: &[String],
    ) -> Result<Self, EntriesError> {
        let mut entries = Self::default();
        let mut names = Vec::new();
        let wanted = KernelFilter::new(kernels, packages);
        for package in packages {
            let lockfile = lockfile_store::read(&package.manifest_dir.join(FILE_NAME))?;
            let declarations = package.declarations.iter();
            for declaration in declarations.filter(|found| wanted.means(&found.model.name)) {
                let model = &declaration.model;
                names.push(model.name.to_string());
                let Some(lockfile) = &lockfile else { continue };
                let Some(kernel) = lockfile.kernel(&model.name) else {
                    continue;
                };
                if !kernel.is_current(model) {
                    entries.stale.push(model.name.to_string());
                    continue;
                }
                let table = lockfile.table(model)?;
                for result in table.results.iter() {
                    entries.current.push(Entry {
                        folder: package.manifest_dir.clone(),
                        declaration: declaration.clone(),
                        device: table.devices[usize::from(result.device)].clone(),
                        dims: result.problem.to_vec(),
                        codes: result.values.to_vec(),
                    });
                }
            }
        }
        if entries.current.is_empty() && entries.stale.is_empty() {
            return Err(EntriesError::None { names });
        }
        Ok(entries)
    }
}
