//! One program at a time, through locks on files, which the system gives back when a program dies.

use super::folder::CacheError;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(5);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock(
    #[cfg_attr(
        not(feature = "tuning"),
        expect(dead_code, reason = "it is held, and only tuning writes to one")
    )]
    pub(super) File,
);

/// Waits for a lock for so long; `None` where another program keeps it. A file system without locks
/// gives it to everyone: files are replaced as a whole, so that at worst a result is lost.
///
/// # Errors
/// [`CacheError::Io`] where the file cannot be made.
pub(super) fn lock(path: &Path, patience: Duration) -> Result<Option<Lock>, CacheError> {
    let file = cltune_files::open_lock(path).map_err(|source| CacheError::Io {
        path: path.to_owned(),
        source,
    })?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) if begin.elapsed() < patience => {
                std::thread::sleep(PAUSE);
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock(&path, Duration::ZERO).unwrap();
        assert!(held.is_some());
        assert!(lock(&path, 2 * PAUSE).unwrap().is_none());
        drop(held);
        assert!(lock(&path, Duration::ZERO).unwrap().is_some());
        assert!(lock(&path.join("x"), Duration::ZERO).is_err());
    }
}
