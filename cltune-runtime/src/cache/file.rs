//! Files of the cache: with a checksum, and replaced as a whole, so that a reader sees the old
//! content or the new one; and locks on files, which the system releases when a program dies.

use super::folder::{self, CacheError};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// In front of the checksum; with the version of what follows.
const HEADER: &str = "cltune-cache 1 ";
/// The beginning of the names of temporary files.
pub(super) const TEMPORARY: &str = ".writing-";
/// A larger file was not written by cltune, bytes.
const LARGEST: u64 = 1 << 30;

/// The content of a file. `None` where there is no file, or a damaged one: the next write replaces
/// it.
///
/// # Errors
/// [`CacheError`] where it cannot be read, or others could have written it.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, CacheError> {
    let io = |source| CacheError::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = match folder::open(path, LARGEST) {
        Err(CacheError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(io)?;
    let content = unframe(&bytes);
    if content.is_none() {
        tracing::warn!(file = %path.display(), "a damaged file of cltune's cache is ignored");
    }
    Ok(content.map(<[u8]>::to_vec))
}

/// Replaces a file. Where that fails the old one stays.
///
/// # Errors
/// [`CacheError::Io`].
pub(super) fn replace(path: &Path, content: &[u8]) -> Result<(), CacheError> {
    let temporary = temporary(path);
    let written = create(&temporary)
        .and_then(|mut file| frame(&mut file, content))
        .and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|source| {
        let _ = std::fs::remove_file(&temporary);
        CacheError::Io {
            path: path.to_owned(),
            source,
        }
    })
}

/// Where to write what will replace a file.
pub(super) fn temporary(path: &Path) -> PathBuf {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!("{TEMPORARY}{}-{number}", std::process::id()))
}

/// Makes a file that only this user can read or write.
///
/// # Errors
/// As the system says.
pub(super) fn create(path: &Path) -> io::Result<File> {
    // A program that had this process id before and was killed may have left one.
    let _ = std::fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

fn frame(out: &mut dyn Write, content: &[u8]) -> io::Result<()> {
    writeln!(out, "{HEADER}{}", blake3::hash(content).to_hex())?;
    out.write_all(content)
}

fn unframe(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(HEADER.as_bytes())?;
    let (checksum, rest) = rest.split_at_checked(2 * blake3::OUT_LEN)?;
    let content = rest.strip_prefix(b"\n")?;
    let expected = blake3::hash(content).to_hex();
    (checksum == expected.as_bytes()).then_some(content)
}

/// Whether a file is one that is being written, or was when a program was killed.
pub(super) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(TEMPORARY)
}

/// The pause between two attempts to get a lock.
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
    fn what_is_written_is_read_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(read(&path).unwrap(), None);
        for content in [&b"first"[..], b"", &[0, 10, 255]] {
            replace(&path, content).unwrap();
            assert_eq!(read(&path).unwrap().as_deref(), Some(content));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_with_any_byte_changed_or_missing_is_none() {
        let mut framed = Vec::new();
        frame(&mut framed, b"content").unwrap();
        assert_eq!(unframe(&framed), Some(&b"content"[..]));
        for position in 0..framed.len() {
            let mut damaged = framed.clone();
            damaged[position] ^= 1;
            assert_eq!(unframe(&damaged), None, "{position}");
            assert_eq!(unframe(&framed[..position]), None, "{position}");
        }
        framed.push(0);
        assert_eq!(unframe(&framed), None);
    }

    #[test]
    fn a_full_disk_is_an_error_and_the_old_file_stays() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert!(frame(&mut Full, b"content").is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, b"old").unwrap();
        assert!(replace(&path.join("b"), b"new").is_err());
        assert_eq!(read(&path).unwrap().as_deref(), Some(&b"old"[..]));
    }

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
