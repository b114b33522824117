//! Lockfiles that are read at run time, for [`Policy::Offline`](crate::Policy::Offline).

use super::tunable::Tunable;
use cltune_core::lockfile::{LARGEST, Lockfile};
use cltune_core::select::Table;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// What was read so far, for the length of the process. A file that could not be read is not tried
/// again.
#[derive(Default)]
struct Read {
    files: HashMap<PathBuf, Result<Arc<Lockfile>, String>>,
    /// By file and tunable: the file's results, and those compiled in for what it has none for.
    tables: HashMap<(PathBuf, usize), Option<Arc<Table>>>,
}

static READ: LazyLock<Mutex<Read>> = LazyLock::new(Mutex::default);

/// The results of a lockfile for a tunable, and those compiled in for devices and problems that it has
/// none for. `None`, after a warning, where it cannot be used: then there is what was compiled in.
pub(super) fn table(tunable: &'static Tunable, path: &Path) -> Option<Arc<Table>> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (path.to_owned(), tunable.address());
    if let Some(table) = read.tables.get(&key) {
        return table.clone();
    }
    let table = match read.file(path) {
        Ok(file) => of(file, tunable, path),
        Err(_) => None,
    };
    read.tables.insert(key, table.clone());
    table
}

/// Whether there is a lockfile, with what is wrong where there is none.
pub(crate) fn readable(path: &Path) -> Result<(), String> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.file(path).as_ref().map(drop).map_err(Clone::clone)
}

impl Read {
    /// A lockfile, read when it is first asked for.
    fn file(&mut self, path: &Path) -> &Result<Arc<Lockfile>, String> {
        self.files.entry(path.to_owned()).or_insert_with(|| {
            let file = load(path).inspect_err(|reason| {
                tracing::warn!(file = %path.display(), %reason, "the lockfile is not used");
            });
            file.map(Arc::new)
        })
    }
}

fn load(path: &Path) -> Result<Lockfile, String> {
    let text = cltune_files::read_text(path, LARGEST).map_err(|error| error.to_string())?;
    Lockfile::parse(&text).map_err(|error| error.to_string())
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
