//! Lockfiles on disk.

use cltune_formats::lockfile::{FILE_NAME, LARGEST, Lockfile, LockfileError};
use std::fs::{File, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a process that changes a lockfile, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// So many links may lead to a file.
const MOST_LINKS: usize = 40;

/// A lockfile that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The file is there, but cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The text is not a lockfile.
    #[error("{}: {source}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The mistake, its line, and the remedy.
        source: Box<LockfileError>,
    },
    /// The file cannot be replaced; what was there is unchanged.
    #[error("cannot write {}: {source}; make a writable folder there, or name another file", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The lockfile of a package in this folder: the one that `--lockfile` names, for all packages, or
/// the package's own.
pub(crate) fn path(named: Option<&Path>, folder: &Path) -> PathBuf {
    named.map_or_else(|| folder.join(FILE_NAME), Path::to_owned)
}

/// The text of a file, or `None` when there is no such file.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, StoreError> {
    match cltune_files::read_text(path, LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

/// The lockfile at a path, or `None` when there is no such file: an ordinary state.
pub(crate) fn read(path: &Path) -> Result<Option<Lockfile>, StoreError> {
    let Some(text) = read_text(path)? else {
        return Ok(None);
    };
    match Lockfile::parse(&text) {
        Ok(lockfile) => Ok(Some(lockfile)),
        Err(error) => Err(StoreError::Parse {
            path: path.to_owned(),
            source: Box::new(error),
        }),
    }
}

/// Replaces a file as a whole: a reader sees the old text or the new one, and a failure leaves the
/// old one. The file gets a fresh modification time even when its text stays the same, so that
/// cargo, which compares times, rebuilds what depends on it.
pub(crate) fn write(path: &Path, lockfile: &Lockfile) -> Result<(), StoreError> {
    write_text(path, &lockfile.to_text())
}

/// The same for a text.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), StoreError> {
    replace(path, text).map_err(|source| StoreError::Write {
        path: path.to_owned(),
        source,
    })
}

/// Held while a lockfile is read, changed and written.
#[must_use]
pub(crate) struct Held(
    #[expect(dead_code, reason = "the lock is held by the open file")] Option<File>,
);

/// Waits until no other process changes a lockfile in this one's folder: what it writes meanwhile
/// would be lost. The folder is locked, since the file is replaced as a whole, and a file beside it
/// would stay there. Where that cannot be done (by the file system, on Windows, or because a
/// process holds the lock for other purposes), the file is changed without it.
pub(crate) fn lock(path: &Path) -> Held {
    let folder = target(path).map(|target| folder(&target));
    let Ok(folder) = folder.and_then(File::open) else {
        return Held(None);
    };
    let begin = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Held(Some(folder)),
            Err(TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            Err(_) => return Held(None),
        }
    }
}

/// Whether [`write()`] could replace this file now; changes nothing.
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    let destination = Destination::of(path)?;
    tempfile::Builder::new()
        .prefix(".cltune-")
        .tempfile_in(&destination.folder)
        .map(drop)
}

/// Where a replaced file goes.
struct Destination {
    /// The file itself: a link keeps pointing at the file that it points at now.
    target: PathBuf,
    /// The folder of the file.
    folder: PathBuf,
    /// The file's permissions, where there is one.
    permissions: Option<Permissions>,
}

impl Destination {
    fn of(path: &Path) -> io::Result<Self> {
        let target = target(path)?;
        let permissions = match cltune_files::open(&target, u64::MAX) {
            Ok(file) => Some(file.get_ref().metadata()?.permissions()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            // A folder or a device would be replaced by a file.
            Err(error) => return Err(error),
        };
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            // Renaming over it would succeed where the folder is writable; the user said no.
            return Err(io::Error::new(
                ErrorKind::PermissionDenied,
                "the file is read-only",
            ));
        }
        let folder = folder(&target);
        if !folder.exists() {
            let problem = format!("there is no folder {}", folder.display());
            return Err(io::Error::new(ErrorKind::NotFound, problem));
        }
        Ok(Self {
            target,
            folder,
            permissions,
        })
    }
}

/// The file that a path means: what a link leads to, whether or not it is there.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&target) {
            // Relative to the folder that the link is in.
            Ok(next) => target = folder(&target).join(next),
            // It is no link, or nothing.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(target);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("it is a link that leads back to itself"))
}

/// The folder that a file is in.
pub(crate) fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Replaces a file as a whole.
pub(crate) fn replace(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let Destination {
        target,
        folder,
        permissions,
    } = Destination::of(path)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cltune.lock.");
    // Temporary files are private by default; a lockfile is a source file like any other.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(permissions.unwrap_or_else(|| Permissions::from_mode(0o644)));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_ref())?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
#[path = "../tests/unit/lockfile_store.rs"]
mod tests;
