//! Lockfiles that are read at run time, for [`Policy::Offline`](crate::Policy::Offline).

use cltune_formats::lockfile::{LARGEST, Lockfile};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The files read so far, kept until the process ends. A file that could not be read is not tried
/// again.
static FILES: LazyLock<Mutex<HashMap<PathBuf, ReadResult>>> = LazyLock::new(Mutex::default);

type ReadResult = Result<Arc<Lockfile>, String>;

/// A lockfile, read when it is first asked for.
///
/// # Errors
/// Why it cannot be read, which was also a warning at the first attempt.
pub(crate) fn lockfile(path: &Path) -> Result<Arc<Lockfile>, String> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let file = load(path).inspect_err(|reason| {
            tracing::warn!(file = %path.display(), %reason, "the lockfile is not used");
        });
        file.map(Arc::new)
    };
    files.entry(path.to_owned()).or_insert_with(read).clone()
}

fn load(path: &Path) -> Result<Lockfile, String> {
    let text = cltune_files::read_text(path, LARGEST).map_err(|error| error.to_string())?;
    Lockfile::parse(&text).map_err(|error| error.to_string())
}
