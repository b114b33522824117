//! Results of lockfiles that are read at run time, for [`Policy::Offline`](crate::Policy::Offline).

use crate::kernel::Tunable;
use crate::policy::lockfile;
use cltune_core::select::Table;
use cltune_formats::lockfile::Lockfile;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// By file and tunable: the file's results, and those compiled in where it has none.
type Tables = HashMap<(PathBuf, usize), Option<Arc<Table>>>;

static TABLES: LazyLock<Mutex<Tables>> = LazyLock::new(Mutex::default);

/// The results of a lockfile for a tunable, and those compiled in for devices and problems that it
/// has none for. `None`, after a warning, where the file cannot be used: then only those compiled
/// in count.
pub(super) fn table(tunable: &'static Tunable, path: &Path) -> Option<Arc<Table>> {
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (path.to_owned(), tunable.address());
    let read = || of(&*lockfile(path).ok()?, tunable, path);
    tables.entry(key).or_insert_with(read).clone()
}

fn of(file: &Lockfile, tunable: &'static Tunable, path: &Path) -> Option<Arc<Table>> {
    let model = tunable.model();
    let kernel = file.kernel(&model.name)?;
    if !kernel.is_current(model) {
        tracing::warn!(
            file = %path.display(),
            kernel = %model.name,
            "the lockfile's values are not used: they were tuned for another version of the kernel"
        );
        return None;
    }
    match file.table(model) {
        Ok(table) => Some(Arc::new(table.united(tunable.table()))),
        Err(reason) => {
            tracing::warn!(file = %path.display(), %reason, "the lockfile's values are not used");
            None
        }
    }
}
