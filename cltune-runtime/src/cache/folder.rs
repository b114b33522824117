//! The cache's folder, and the checks that it is this user's alone.

use cltune_core::database::FILE_NAME;
use cltune_files::Bounded;
use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The layout of the folder and the format of its files. Another release's folder is left alone.
const VERSION: &str = "v1";
/// What is said of a file where a folder should be.
const A_FILE: &str =
    "it is a file, not a folder; set CLTUNE_CACHE to a folder of your own, or to `off`";

/// The reason why there is no cache on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// `CLTUNE_CACHE=off`.
    #[error("CLTUNE_CACHE is `off`")]
    Off,
    /// The platform names no folder.
    #[error(
        "there is no folder for caches: set HOME, or CLTUNE_CACHE to a folder of your own, or \
         CLTUNE_CACHE to `off`"
    )]
    NoFolder,
    /// A file or folder cannot be made or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file or folder that others can write to, or own.
    #[error(
        "{} {reason}, so that its content may be theirs; remove it, or set CLTUNE_CACHE to a folder \
         of your own", path.display()
    )]
    NotPrivate {
        /// The file or folder.
        path: PathBuf,
        /// The users who may change it.
        reason: &'static str,
    },
}

/// The cache's folder, which is this user's alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder that the environment and the platform say, made where it does not exist.
    ///
    /// # Errors
    /// [`CacheError`]: there is no cache on disk.
    pub fn of_user() -> Result<Self, CacheError> {
        match std::env::var_os("CLTUNE_CACHE") {
            Some(value) if value == "off" => Err(CacheError::Off),
            Some(value) if !value.is_empty() => Self::at(Path::new(&value)),
            _ => Self::at(
                &platform_folder()
                    .ok_or(CacheError::NoFolder)?
                    .join("cltune"),
            ),
        }
    }

    /// A cache in a certain folder, made where it does not exist.
    ///
    /// # Errors
    /// [`CacheError`] when it cannot be made, or is not this user's alone.
    pub fn at(path: &Path) -> Result<Self, CacheError> {
        let io = |source| CacheError::Io {
            path: path.to_owned(),
            source,
        };
        let path = std::path::absolute(path).map_err(io)?;
        let folder = Self(path.join(VERSION));
        for folder in [&path, &folder.0, &folder.notes(), &folder.programs()] {
            create(folder)?;
            let metadata = std::fs::symlink_metadata(folder).map_err(|source| CacheError::Io {
                path: folder.clone(),
                source,
            })?;
            check_private(folder, &metadata)?;
        }
        Ok(folder)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The user's own database of template defaults. It has a version of its own, so it is not in
    /// the folder of a layout.
    pub(crate) fn database(&self) -> PathBuf {
        self.0.with_file_name(FILE_NAME)
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    pub(super) fn notes(&self) -> PathBuf {
        self.0.join("notes")
    }

    pub(super) fn programs(&self) -> PathBuf {
        self.0.join("programs")
    }
}

fn platform_folder() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::base_strategy::choose_native_strategy().ok()?;
    Some(strategy.cache_dir())
}

fn create(folder: &Path) -> Result<(), CacheError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder).map_err(|source| {
        let io = |path: &Path, source| CacheError::Io {
            path: path.to_owned(),
            source,
        };
        let mut places = folder.ancestors();
        match places.find(|place| place.exists() && !place.is_dir()) {
            Some(file) => io(file, io::Error::new(io::ErrorKind::NotADirectory, A_FILE)),
            None => io(folder, source),
        }
    })
}

/// Opens a file of the cache for reading, of at most so many bytes. What is checked is what was
/// opened.
///
/// # Errors
/// [`CacheError`]; a file that does not exist is [`io::ErrorKind::NotFound`].
pub(crate) fn open(path: &Path, most: u64) -> Result<Bounded<File>, CacheError> {
    let io = |source| CacheError::Io {
        path: path.to_owned(),
        source,
    };
    let file = cltune_files::open(path, most).map_err(io)?;
    check_private(path, &file.get_ref().metadata().map_err(io)?)?;
    Ok(file)
}

/// Whether nobody else can have written it. (The superuser can.)
#[cfg(unix)]
fn check_private(path: &Path, metadata: &Metadata) -> Result<(), CacheError> {
    use std::os::unix::fs::MetadataExt as _;
    let not_private = |reason| {
        Err(CacheError::NotPrivate {
            path: path.to_owned(),
            reason,
        })
    };
    if metadata.is_symlink() {
        return not_private("is a link");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return not_private("belongs to another user");
    }
    if metadata.mode() & 0o022 != 0 {
        return not_private("can be written by others");
    }
    Ok(())
}

/// Elsewhere the platform's folder for caches is in the user's profile, which others cannot write
/// to.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature everywhere")]
fn check_private(_path: &Path, _metadata: &Metadata) -> Result<(), CacheError> {
    Ok(())
}

/// The files of a folder of the cache.
pub(super) fn files(folder: PathBuf) -> Result<Vec<PathBuf>, CacheError> {
    let list = || {
        let entries = std::fs::read_dir(&folder)?;
        let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        paths
    };
    list().map_err(|source| CacheError::Io {
        path: folder,
        source,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    fn error(path: &Path) -> String {
        Folder::at(path).unwrap_err().to_string()
    }

    fn allow(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_is_made_for_this_user_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("new/cltune");
        let folder = Folder::at(&path).unwrap();
        assert_eq!(folder, Folder::at(&path).unwrap());
        for made in [&path, &folder.0, &folder.notes(), &folder.programs()] {
            let mode = std::fs::metadata(made).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", made.display());
        }
    }

    #[test]
    fn folders_and_files_that_others_can_write_to_are_refused() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::at(parent.path()).unwrap();
        let file = folder.notes().join("a");
        std::fs::write(&file, "text").unwrap();
        for mode in [0o660, 0o602] {
            allow(&file, mode);
            let error = open(&file, 4).unwrap_err().to_string();
            assert!(error.contains("can be written by others"), "{error}");
        }
        allow(&file, 0o644);
        assert!(open(&file, 4).is_ok());
        for inner in [folder.notes(), folder.0.clone(), parent.path().to_owned()] {
            allow(&inner, 0o770);
            assert!(error(parent.path()).contains("can be written by others"));
            allow(&inner, 0o700);
        }
        let link = parent.path().join("link");
        symlink(parent.path(), &link).unwrap();
        assert!(error(&link).contains("is a link"));
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::at(parent.path()).unwrap();
        // Only the superuser can give files away.
        if chown(folder.notes(), Some(12345), None).is_ok() {
            assert!(error(parent.path()).contains("belongs to another user"));
        }
    }

    #[test]
    fn what_cannot_be_made_is_an_error_that_names_it() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        std::fs::write(&file, "").unwrap();
        for path in [&file, &file.join("cltune")] {
            assert_eq!(error(path), format!("{}: {A_FILE}", file.display()));
        }
    }
}
