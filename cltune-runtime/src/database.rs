//! The database of template defaults: what ships with the library, and the user's own, which is the
//! file of `CLTUNE_DATABASE`, or `database.toml` in the folder of the user's cache.

use crate::cache::{CacheError, Folder, open};
use cltune_core::database::{Database, DatabaseError, SHIPPED};
use std::io;
use std::path::PathBuf;
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
    let given = std::env::var_os("CLTUNE_DATABASE").filter(|path| !path.is_empty());
    let (path, text) = match given {
        Some(path) => {
            let path = PathBuf::from(path);
            let text = cltune_files::read_text(&path, LARGEST);
            (path, text)
        }
        None => match of_folder()? {
            Some(found) => found,
            None => return Ok(None),
        },
    };
    let parsed = text.map(|text| Database::parse(&text));
    match parsed {
        Ok(Ok(database)) => Ok(Some(database)),
        Ok(Err(source)) => Err(DatabaseFileError::Parse { path, source }),
        Err(source) => Err(DatabaseFileError::Io { path, source }),
    }
}

/// The file in the folder of the cache, where there is one, and its text.
fn of_folder() -> Result<Option<(PathBuf, io::Result<String>)>, DatabaseFileError> {
    // Without a cache there is no such file, which is said where the cache is used.
    let Ok(folder) = Folder::of_user() else {
        return Ok(None);
    };
    let path = folder.database();
    match open(&path, LARGEST) {
        Err(CacheError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
        Ok(mut file) => Ok(Some((path, io::read_to_string(&mut file)))),
    }
}
