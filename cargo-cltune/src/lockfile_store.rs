//! Lockfiles on disk.

use cltune_core::lockfile::{Lockfile, LockfileError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

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
        /// What is wrong, on which line, and the remedy.
        source: Box<LockfileError>,
    },
    /// The file cannot be replaced; what was there is unchanged.
    #[error("cannot write {}: {source}; make the folder writable, or name another file", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The text of a file, or `None` when there is no such file.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, StoreError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
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
    replace(path, lockfile.to_text()).map_err(|source| StoreError::Write {
        path: path.to_owned(),
        source,
    })
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
    permissions: Option<std::fs::Permissions>,
}

impl Destination {
    fn of(path: &Path) -> io::Result<Self> {
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let permissions = std::fs::metadata(&target)
            .ok()
            .map(|metadata| metadata.permissions());
        if permissions
            .as_ref()
            .is_some_and(std::fs::Permissions::readonly)
        {
            // Renaming over it would succeed where the folder is writable; the user said no.
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the file is read-only",
            ));
        }
        Ok(Self {
            target,
            folder,
            permissions,
        })
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
        builder.permissions(permissions.unwrap_or_else(|| std::fs::Permissions::from_mode(0o644)));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_ref())?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_absent_file_is_no_error_and_a_broken_one_names_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cltune.lock");
        assert!(read(&path).unwrap().is_none());
        fs::write(&path, "version = 1\n[[device]]\n").unwrap();
        let shown = read(&path).unwrap_err().to_string();
        assert!(
            shown.contains("cltune.lock: line 2: [[device]] has no `id`"),
            "{shown}"
        );
        assert!(matches!(read(folder.path()), Err(StoreError::Read { .. })));
    }

    #[test]
    fn writing_replaces_the_whole_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cltune.lock");
        for _ in 0..2 {
            write(&path, &Lockfile::default()).unwrap();
            assert_eq!(read(&path).unwrap(), Some(Lockfile::default()));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_read_only_file_and_a_missing_folder_are_errors_that_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cltune.lock");
        fs::write(&path, "old").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert!(matches!(
            write(&path, &Lockfile::default()),
            Err(StoreError::Write { .. })
        ));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let nowhere = folder.path().join("nowhere").join("cltune.lock");
        assert!(matches!(
            write(&nowhere, &Lockfile::default()),
            Err(StoreError::Write { .. })
        ));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (
            folder.path().join("real.lock"),
            folder.path().join("cltune.lock"),
        );
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, &Lockfile::default()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            fs::read_to_string(&real).unwrap(),
            Lockfile::default().to_text()
        );
    }
}
