//! Files that are there to be locked.

use super::read::kind;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a file of a program's own to lock it, for reading and writing; makes it where there is
/// none. A link is not followed: whoever made it may have wanted another file to be written to.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for what is no regular file, and as the system says.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Without the second a named pipe would be waited for.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    let file = options.open(path).map_err(|error| describe(path, error))?;
    let found = file.metadata()?.file_type();
    if found.is_file() {
        Ok(file)
    } else {
        Err(not_a_file(kind(found)))
    }
}

fn not_a_file(kind: &str) -> io::Error {
    let problem = format!("it is {kind}, not a file; remove it");
    io::Error::new(ErrorKind::InvalidInput, problem)
}

/// The system's reason, or a clearer one.
fn describe(path: &Path, error: io::Error) -> io::Error {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => not_a_file(kind(metadata.file_type())),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_lock_is_made_once_and_keeps_what_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        drop(open_lock(&path).expect("made"));
        fs::write(&path, "holder").expect("written");
        drop(open_lock(&path).expect("opened"));
        assert_eq!(fs::read_to_string(&path).expect("there"), "holder");
        assert!(open_lock(&path.join("below")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_locked() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("precious"), "text").expect("written");
        for (name, target) in [("link", "precious"), ("dangling", "nowhere")] {
            std::os::unix::fs::symlink(target, path(name)).expect("a link");
            let error = open_lock(&path(name)).expect_err("a link").to_string();
            assert_eq!(error, "it is a link, not a file; remove it");
        }
        assert!(!path("nowhere").exists());
        let made = std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status();
        assert!(made.is_ok_and(|status| status.success()));
        let error = open_lock(&path("pipe")).expect_err("a pipe").to_string();
        assert_eq!(error, "it is a named pipe, not a file; remove it");
        let error = open_lock(folder.path()).expect_err("a folder").to_string();
        assert_eq!(error, "it is a folder, not a file; remove it");
    }
}
