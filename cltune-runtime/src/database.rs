//! The database of template defaults: what ships with the library, and the user's own, which is the
//! file of `CLTUNE_DATABASE`, or `database.toml` in the folder of the user's cache.

use crate::cache::{CacheError, Folder, open};
use cltune_core::database::{Database, DatabaseError, SHIPPED};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The most bytes that a file is read with: some 30,000 entries.
pub const LARGEST: u64 = 8 << 20;

/// Why the user's own file is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseFileError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It cannot be trusted.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// It is damaged, or of another release.
    #[error("{}, {source}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: DatabaseError,
    },
}

/// What programs of this user get: what ships with the library, overridden by the user's own file.
///
/// # Errors
/// The user's own file is there, and is not used.
pub fn of_user() -> Result<Database, DatabaseFileError> {
    let mut database = shipped();
    if let Some(own) = own()? {
        database.override_by(&own);
    }
    Ok(database)
}

/// The same, read when it is first asked for. A user's file that is not used is a warning.
pub(crate) fn of_process() -> &'static Database {
    static DATABASE: OnceLock<Database> = OnceLock::new();
    DATABASE.get_or_init(|| {
        of_user().unwrap_or_else(|reason| {
            tracing::warn!(%reason, "the user's database of template defaults is not used");
            shipped()
        })
    })
}

fn shipped() -> Database {
    // A test sees to it that it can be read.
    Database::parse(SHIPPED).unwrap_or_default()
}

/// The user's own.
fn own() -> Result<Option<Database>, DatabaseFileError> {
    match std::env::var_os("CLTUNE_DATABASE").filter(|path| !path.is_empty()) {
        Some(path) => read(Path::new(&path)).map(Some),
        None => of_folder(),
    }
}

/// The database of a file.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<Database, DatabaseFileError> {
    parsed(path, cltune_files::read_text(path, LARGEST))
}

/// The file in the folder of the cache, where there is one.
fn of_folder() -> Result<Option<Database>, DatabaseFileError> {
    // Without a cache there is no such file, which is said where the cache is used.
    let Ok(folder) = Folder::of_user() else {
        return Ok(None);
    };
    let path = folder.database();
    match open(&path, LARGEST) {
        Err(CacheError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
        Ok(mut file) => parsed(&path, io::read_to_string(&mut file)).map(Some),
    }
}

fn parsed(path: &Path, text: io::Result<String>) -> Result<Database, DatabaseFileError> {
    let path = || path.to_owned();
    match text.map(|text| Database::parse(&text)) {
        Ok(Ok(database)) => Ok(database),
        Ok(Err(source)) => Err(DatabaseFileError::Parse {
            path: path(),
            source,
        }),
        Err(source) => Err(DatabaseFileError::Io {
            path: path(),
            source,
        }),
    }
}
