//! The lockfiles' entries of the tunables that were found.

use crate::artifact::PackageTunables;
use crate::kernel_filter::KernelFilter;
use crate::lockfile_store::{self, StoreError};
use cltune_core::database::Database;
use cltune_core::measure::Measure;
use cltune_core::select::Table;
use cltune_formats::declaration::Declaration;
use cltune_formats::lockfile::{BakeError, FILE_NAME};
use cltune_runtime::database::{DatabaseFileError, of_user};
use std::path::{Path, PathBuf};

/// A tunable and its results.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    /// The folder of the package.
    pub(super) folder: PathBuf,
    pub(super) declaration: Declaration,
    pub(super) table: Table,
    /// What each of its results was measured with.
    pub(super) measures: Vec<Measure>,
    /// The defaults of its template.
    pub(super) database: Table,
}

/// The database that this user's programs have; none where no tunable is generated, since the file
/// matters to nobody then.
///
/// # Errors
/// The user's own file is there, and is not used.
pub(super) fn template_defaults<'a>(
    mut declared: impl Iterator<Item = &'a Declaration>,
) -> Result<Database, DatabaseFileError> {
    if declared.any(|found| found.model.template.is_some()) {
        of_user()
    } else {
        Ok(Database::default())
    }
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
    /// The template defaults of this user's programs; empty where no tunable has a template.
    pub(super) database: Database,
}

/// Why there is nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum TunedError {
    /// A lockfile cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user's database of template defaults.
    #[error(transparent)]
    Database(#[from] DatabaseFileError),
    /// A lockfile was edited by hand.
    #[error("{}: {source}", path.display())]
    Entry { path: PathBuf, source: BakeError },
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
        let declared = packages.iter().flat_map(|package| &package.declarations);
        let database = template_defaults(declared)?;
        for package in packages {
            let path = lockfile_store::path(lockfile, &package.manifest_dir);
            let lockfile = lockfile_store::read(&path)?;
            let declarations = package.declarations.iter();
            for declaration in declarations.filter(|found| wanted.means(&found.model.name)) {
                let model = &declaration.model;
                let with = |table: Table, measures: Vec<Measure>| Tuned {
                    folder: package.manifest_dir.clone(),
                    declaration: declaration.clone(),
                    table,
                    measures,
                    database: database.table(model),
                };
                let kernel = lockfile.as_ref().and_then(|file| file.kernel(&model.name));
                match (&lockfile, kernel) {
                    (Some(lockfile), Some(kernel)) if kernel.is_current(model) => {
                        let table = lockfile.table(model);
                        let table = table.map_err(|source| TunedError::Entry {
                            path: path.clone(),
                            source,
                        })?;
                        all.current.push(with(table, lockfile.measures(model)));
                    }
                    (_, kernel) => {
                        all.stale.extend(kernel.map(|_| model.name.to_string()));
                        all.untuned.push(with(Table::EMPTY, Vec::new()));
                    }
                }
            }
        }
        all.database = database;
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
