//! Reading.

use std::fs::{File, FileType, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a regular file of at most `most` bytes. Links are followed.
///
/// # Errors
/// [`ErrorKind::NotFound`] where there is nothing, also behind a link; [`ErrorKind::InvalidInput`]
/// for what is no regular file; [`ErrorKind::FileTooLarge`]; and as the system says.
pub fn open(path: &Path, most: u64) -> io::Result<Bounded<File>> {
    // Before it is opened: opening a named pipe waits, and a device may do something.
    let metadata = std::fs::metadata(path).map_err(|error| describe(path, error))?;
    check(&metadata, most)?;
    let file = File::open(path).map_err(|error| describe(path, error))?;
    // What is read is what was opened, which may have been replaced meanwhile.
    check(&file.metadata()?, most)?;
    Ok(Bounded::new(file, most))
}

/// The content of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`] and [`text`].
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(read(path, most)?)
}

/// The text that bytes are.
///
/// # Errors
/// [`ErrorKind::InvalidData`] where they are not UTF-8, with the place.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        let problem = format!(
            "it is not UTF-8 text (line {line}, byte {}): save it as UTF-8",
            valid.len() + 1
        );
        io::Error::new(ErrorKind::InvalidData, problem)
    })
}

/// Reads no more than expected: a file may grow while it is read, and compressed data tell nothing
/// of their size.
#[derive(Debug)]
pub struct Bounded<R> {
    inner: R,
    most: u64,
    left: u64,
}

impl<R> Bounded<R> {
    /// At most `most` bytes; more are an error.
    pub const fn new(inner: R, most: u64) -> Self {
        Self {
            inner,
            most,
            left: most,
        }
    }

    /// What is read.
    pub const fn get_ref(&self) -> &R {
        &self.inner
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !buffer.is_empty() {
            // Exactly as many as are allowed may have been there.
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(too_large(self.most)),
            };
        }
        let room = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let count = self.inner.read(&mut buffer[..room])?;
        self.left -= count as u64;
        Ok(count)
    }
}

fn check(metadata: &Metadata, most: u64) -> io::Result<()> {
    if !metadata.is_file() {
        let kind = kind(metadata.file_type());
        let problem = format!("it is {kind}, not a file");
        return Err(io::Error::new(ErrorKind::InvalidInput, problem));
    }
    if metadata.len() > most {
        return Err(too_large(most));
    }
    Ok(())
}

fn too_large(most: u64) -> io::Error {
    let problem = format!("it has more than {}, the most that is read", size(most));
    io::Error::new(ErrorKind::FileTooLarge, problem)
}

/// A size for people.
fn size(bytes: u64) -> String {
    const UNITS: [(u32, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = |(shift, _): &&(u32, &str)| bytes >= 1 << shift && bytes.trailing_zeros() >= *shift;
    UNITS.iter().find(whole).map_or_else(
        || format!("{bytes} bytes"),
        |(shift, unit)| format!("{} {unit}", bytes >> shift),
    )
}

/// What is no regular file, in words.
pub(crate) fn kind(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a link"
    } else {
        "something else"
    }
}

/// The system's reason, or a clearer one.
fn describe(path: &Path, error: io::Error) -> io::Error {
    let link = std::fs::read_link(path);
    match (error.kind(), link) {
        (ErrorKind::NotFound, Ok(target)) => {
            let target = target.display();
            let problem = format!("it is a link to {target}, and there is no such file");
            io::Error::new(ErrorKind::NotFound, problem)
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn error(path: &Path) -> String {
        read(path, 100).expect_err("no file").to_string()
    }

    #[test]
    fn a_file_of_the_expected_size_is_read_and_a_larger_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        for (length, most) in [(0, 0), (5, 5), (5, 6), (5000, 5000)] {
            fs::write(&path, vec![b'x'; length]).expect("written");
            assert_eq!(read(&path, most).expect("read").len(), length);
        }
        for (most, says) in [
            (4999, "4999 bytes"),
            (4096, "4 KiB"),
            (1 << 10, "1 KiB"),
            (0, "0 bytes"),
        ] {
            let error = read(&path, most).expect_err("too large");
            assert_eq!(error.kind(), ErrorKind::FileTooLarge);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn what_tells_no_size_is_bounded_as_well() {
        let read = |most| {
            let mut bytes = Vec::new();
            let mut endless = Bounded::new(io::repeat(1).take(1000), most);
            endless.read_to_end(&mut bytes).map(|_| bytes.len())
        };
        assert_eq!(read(1000).expect("as many as allowed"), 1000);
        assert_eq!(read(999).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn what_is_no_file_is_an_error_that_says_what_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        assert_eq!(error(folder.path()), "it is a folder, not a file");
        let absent = read(&path("absent"), 1).expect_err("absent");
        assert_eq!(absent.kind(), ErrorKind::NotFound);
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            use std::os::unix::net::UnixListener;
            assert_eq!(error(Path::new("/dev/zero")), "it is a device, not a file");
            let _listener = UnixListener::bind(path("socket")).expect("a socket");
            assert_eq!(error(&path("socket")), "it is a socket, not a file");
            let made = std::process::Command::new("mkfifo")
                .arg(path("pipe"))
                .status();
            assert!(made.is_ok_and(|status| status.success()));
            symlink("pipe", path("to a pipe")).expect("a link");
            for name in ["pipe", "to a pipe"] {
                assert_eq!(error(&path(name)), "it is a named pipe, not a file");
            }
            symlink("nowhere", path("dangling")).expect("a link");
            let dangling = read(&path("dangling"), 1).expect_err("nothing there");
            assert_eq!(dangling.kind(), ErrorKind::NotFound);
            assert!(dangling.to_string().contains("a link to nowhere"));
            symlink("loop", path("loop")).expect("a link");
            assert!(error(&path("loop")).contains("symbolic links"));
            fs::write(path("file"), "text").expect("written");
            symlink("file", path("link")).expect("a link");
            assert_eq!(read_text(&path("link"), 4).expect("read"), "text");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_located() {
        assert_eq!(text("// é".into()).expect("text"), "// é");
        let error = text(b"a\nb \xe9\n".to_vec()).expect_err("Latin-1");
        assert!(error.to_string().contains("line 2, byte 5"), "{error}");
    }
}
