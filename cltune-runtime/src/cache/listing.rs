//! The whole cache, for people: its listing and its removal.

use super::file::is_temporary;
use super::folder::{CacheError, Folder, files};
use super::notes::Notes;
use super::store::read_notes;
use std::io;

use std::time::SystemTime;

/// The contents of a cache.
#[derive(Debug)]
pub struct Listing {
    /// Notes on kernels and devices, the latest changed first.
    pub notes: Vec<Notes>,
    /// The number of on-line searches that have not ended: the next run of the program continues
    /// them.
    pub unfinished: usize,
    /// Files that cannot be read, and do not count.
    pub unreadable: Vec<CacheError>,
    /// The number of programs that are kept.
    pub programs: usize,
    /// Their size, bytes.
    pub program_bytes: u64,
}

impl Listing {
    /// Reads a whole cache.
    ///
    /// # Errors
    /// [`CacheError`] when a folder cannot be listed.
    pub fn of(folder: &Folder) -> Result<Self, CacheError> {
        let mut notes: Vec<(SystemTime, Notes)> = Vec::new();
        let (mut unfinished, mut unreadable) = (0, Vec::new());
        for path in files(folder.notes())? {
            if path.extension().is_some() || is_temporary(&path) {
                unfinished += usize::from(path.extension().is_some_and(|end| end == "progress"));
                continue;
            }
            let changed = path.metadata().and_then(|metadata| metadata.modified());
            let changed = changed.unwrap_or(SystemTime::UNIX_EPOCH);
            match read_notes(&path) {
                Ok(read) => notes.extend(read.map(|read| (changed, read))),
                Err(error) => unreadable.push(error),
            }
        }
        notes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.kernel.cmp(&b.1.kernel)));
        let mut programs = files(folder.programs())?;
        programs.retain(|path| !is_temporary(path));
        let sizes = programs.iter().filter_map(|path| path.metadata().ok());
        Ok(Self {
            notes: notes.into_iter().map(|(_, notes)| notes).collect(),
            unfinished,
            unreadable,
            programs: programs.len(),
            program_bytes: sizes.map(|metadata| metadata.len()).sum(),
        })
    }
}

/// Removes everything; the number of files. Programs that use the cache meanwhile go on.
///
/// # Errors
/// [`CacheError`] at the first file that cannot be removed.
pub fn clear(folder: &Folder) -> Result<usize, CacheError> {
    let mut removed = 0;
    for path in [folder.notes(), folder.programs()] {
        for path in files(path)? {
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(CacheError::Io { path, source });
                }
                _ => removed += 1,
            }
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::super::notes::tests::notes;
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_cache_is_listed_and_cleared() {
        let path = tempfile::tempdir().unwrap();
        let folder = Folder::at(path.path()).unwrap();
        let write = |folder: PathBuf, name: &str, text: &str| {
            file::replace(&folder.join(name), text.as_bytes()).unwrap();
        };
        write(folder.notes(), "a", &notes().to_text());
        write(folder.notes(), "b", "nonsense");
        write(folder.programs(), "c", "binary");
        std::fs::write(folder.notes().join("d"), "without a checksum").unwrap();
        std::fs::write(folder.notes().join("a-8.trial"), "8\t4\n").unwrap();
        std::fs::write(folder.notes().join("a-8.progress"), "").unwrap();
        let listing = Listing::of(&folder).unwrap();
        assert_eq!(listing.notes, [notes()]);
        assert_eq!(listing.unreadable.len(), 1, "{:?}", listing.unreadable);
        assert_eq!((listing.programs, listing.unfinished), (1, 1));
        assert!(listing.program_bytes > 6);
        assert_eq!(clear(&folder).unwrap(), 6);
        let listing = Listing::of(&folder).unwrap();
        assert_eq!((listing.notes.len(), listing.programs), (0, 0));
    }
}
