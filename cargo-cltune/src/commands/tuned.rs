//! The lockfiles' entries of the tunables that were found.

use crate::artifact::PackageTunables;
use crate::kernel_filter::KernelFilter;
use crate::lockfile_store::{self, StoreError};
use cltune_core::declaration::Declaration;
use cltune_core::lockfile::{BakeError, FILE_NAME};
use cltune_core::select::Table;
use std::path::{Path, PathBuf};

/// A tunable and its results.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    /// The folder of the package.
    pub(super) folder: PathBuf,
    pub(super) declaration: Declaration,
    pub(super) table: Table,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct AllTuned {
    /// Those whose results are of the tunable as it is now.
    pub(super) current: Vec<Tuned>,
    /// The names of tunables that have changed since they were tuned.
    pub(super) stale: Vec<String>,
    /// Those without results of the tunable as it is now: never tuned, or stale. Their tables are
    /// empty.
    pub(super) untuned: Vec<Tuned>,
}

/// Why there is nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum TunedError {
    /// A lockfile cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A lockfile was edited by hand.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// Nothing is tuned.
    #[error(
        "nothing is tuned: no {FILE_NAME} holds results of {}; run `cargo cltune` first",
        names.join(", ")
    )]
    None {
        /// The tunables.
        names: Vec<String>,
    },
}

impl AllTuned {
    /// Reads `lockfile`, or that of each package. `kernels` are the values of `--kernel`.
    pub(super) fn of(
        packages: &[PackageTunables],
        kernels: &[String],
        lockfile: Option<&Path>,
    ) -> Result<Self, TunedError> {
        let mut all = Self::default();
        let wanted = KernelFilter::new(kernels, packages);
        for package in packages {
            let own = package.manifest_dir.join(FILE_NAME);
            let lockfile = lockfile_store::read(lockfile.unwrap_or(&own))?;
            let declarations = package.declarations.iter();
            for declaration in declarations.filter(|found| wanted.means(&found.model.name)) {
                let model = &declaration.model;
                let with = |table: Table| Tuned {
                    folder: package.manifest_dir.clone(),
                    declaration: declaration.clone(),
                    table,
                };
                let kernel = lockfile.as_ref().and_then(|file| file.kernel(&model.name));
                match (&lockfile, kernel) {
                    (Some(lockfile), Some(kernel)) if kernel.is_current(model) => {
                        all.current.push(with(lockfile.table(model)?));
                    }
                    (_, kernel) => {
                        all.stale.extend(kernel.map(|_| model.name.to_string()));
                        all.untuned.push(with(Table::EMPTY));
                    }
                }
            }
        }
        Ok(all)
    }

    /// # Errors
    /// Nothing was ever tuned.
    pub(super) fn not_empty(self) -> Result<Self, TunedError> {
        if self.current.is_empty() && self.stale.is_empty() {
            let untuned = self.untuned.iter();
            let names = untuned.map(|one| one.declaration.model.name.to_string());
            return Err(TunedError::None {
                names: names.collect(),
            });
        }
        Ok(self)
    }
}
