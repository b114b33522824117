//! The bound on the size of the cache. The files that were not used for longest go first.

use super::file::is_temporary;
use super::folder::{CacheError, files};
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The size of all programs, bytes.
pub(super) const PROGRAMS: u64 = 256 << 20;
/// The size of all notes, bytes.
pub(super) const NOTES: u64 = 64 << 20;
/// A file that is being written for longer was left by a program that was killed.
const WRITING: Duration = Duration::from_hours(1);

/// Notes that a file was used.
pub(super) fn touch(path: &Path) {
    // A file that looks older than it is, is at worst removed too early.
    if let Ok(file) = File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Removes files until the folder has no more than `limit` bytes; then a quarter less, so that the
/// next ones have room.
pub(super) fn keep_bounded(folder: &Path, limit: u64) -> Result<(), CacheError> {
    let now = SystemTime::now();
    let mut all: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for path in files(folder.to_owned())? {
        // Another program may have removed it.
        let Ok(metadata) = path.metadata() else {
            continue;
        };
        let modified = modified(&metadata);
        if !is_temporary(&path) {
            all.push((modified, metadata.len(), path));
        } else if now.duration_since(modified).is_ok_and(|age| age > WRITING) {
            let _ = std::fs::remove_file(path);
        }
    }
    let mut size: u64 = all.iter().map(|(_, size, _)| size).sum();
    if size <= limit {
        return Ok(());
    }
    all.sort();
    for (_, bytes, path) in all {
        if size <= limit / 4 * 3 {
            break;
        }
        let _ = std::fs::remove_file(path);
        size -= bytes;
    }
    Ok(())
}

fn modified(metadata: &Metadata) -> SystemTime {
    metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::super::file::TEMPORARY;
    use super::*;

    #[test]
    fn the_least_recently_used_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let age = |name: &str, seconds| {
            std::fs::write(path(name), [0; 100]).unwrap();
            let file = File::options().append(true).open(path(name)).unwrap();
            let time = SystemTime::now() - Duration::from_secs(seconds);
            file.set_modified(time).unwrap();
        };
        age("new", 10);
        age("old", 8000);
        age("older", 9000);
        age("oldest but used", 10_000);
        touch(&path("oldest but used"));
        let (left, being_written) = (format!("{TEMPORARY}1"), format!("{TEMPORARY}2"));
        age(&left, 7200);
        age(&being_written, 10);
        keep_bounded(folder.path(), 400).unwrap();
        assert!(path("older").exists() && !path(&left).exists());
        keep_bounded(folder.path(), 399).unwrap();
        let mut names: Vec<_> = files(folder.path().to_owned())
            .unwrap()
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, [being_written.as_str(), "new", "oldest but used"]);
    }
}
