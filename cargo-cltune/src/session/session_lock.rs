//! The lock of a session: two at a time would disturb each other's measurements.

use crate::artifact::STATE;
use crate::interrupt::interrupted;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Held while a session runs.
pub(crate) struct SessionLock(
    #[expect(dead_code, reason = "the lock is held by the open file")] File,
);

/// Why a session cannot begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Ctrl-C was pressed while another session was waited for.
    #[error("interrupted while waiting for another session")]
    Interrupted,
    /// The folder or the file in it cannot be used.
    #[error("cannot use {}: {source}{}", folder.display(), remedy(folder))]
    Unusable {
        /// The folder of the session's state.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What to do about a folder that cannot be used: one beside a lockfile can be elsewhere.
fn remedy(folder: &Path) -> &'static str {
    if folder.ends_with(STATE) {
        ". It lies beside the lockfile: name one in a folder that can be written to, with --lockfile FILE, or run in \
         such a folder"
    } else {
        ""
    }
}

/// The interval at which a waiting session tries the lock.
const POLL: Duration = Duration::from_millis(100);

impl SessionLock {
    /// Waits until no other session uses this folder; `waiting` is told who holds it.
    ///
    /// # Errors
    /// [`LockError`].
    pub(crate) fn acquire(state: &Path, waiting: impl FnOnce(&str)) -> Result<Self, LockError> {
        let unusable = |source| LockError::Unusable {
            folder: state.to_owned(),
            source,
        };
        std::fs::create_dir_all(state).map_err(unusable)?;
        let path = state.join("session.lock");
        let file = cltune_files::open_lock(&path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())));
        let mut file = file.map_err(unusable)?;
        if !try_lock(&file).map_err(unusable)? {
            let mut holder = String::new();
            file.read_to_string(&mut holder).map_err(unusable)?;
            waiting(holder.trim());
            // Not `File::lock`, which Ctrl-C does not end.
            while !try_lock(&file).map_err(unusable)? {
                if interrupted() {
                    return Err(LockError::Interrupted);
                }
                std::thread::sleep(POLL);
            }
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "process {}", std::process::id()));
        written.map_err(unusable)?;
        Ok(Self(file))
    }
}

/// Whether the lock is ours now.
fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
