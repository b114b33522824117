//! Standard output, which may be closed while it is written to: by `head`, or a pager that is left.

use std::io::{self, ErrorKind, Write};

/// Passes everything on, and remembers that nobody reads any more.
pub(super) struct Output<W> {
    inner: W,
    is_closed: bool,
}

impl<W: Write> Output<W> {
    pub(super) fn new(inner: W) -> Self {
        Self {
            inner,
            is_closed: false,
        }
    }

    /// Whether the reader has gone: what fails then needs no words.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.is_closed |= error.kind() == ErrorKind::BrokenPipe;
        }
        result
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.note(flushed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails in one way.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn only_a_reader_that_has_gone_is_no_news() {
        let is_closed = |kind| {
            let mut output = Output::new(Failing(kind));
            assert!(writeln!(output, "text").is_err());
            output.is_closed()
        };
        assert!(is_closed(ErrorKind::BrokenPipe));
        assert!(!is_closed(ErrorKind::StorageFull));
        let mut output = Output::new(Vec::new());
        writeln!(output, "text").unwrap();
        assert!(!output.is_closed());
        assert_eq!(output.inner, b"text\n");
    }
}
