//! Output for people. Standard output and standard error may be full or closed, and texts of others
//! may hold control characters that a terminal obeys.
//!
//! Names of devices come from drivers, build logs from compilers, declarations and recordings from
//! files. On a terminal a control character in them moves the cursor, hides what follows or sets
//! the clipboard. Output for people therefore has it escaped. Machines get it as it is: JSON has
//! escapes of its own.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// The most characters of a line in an error or a warning.
const LONGEST_LINE: usize = 2000;

/// A line for people on standard error. One that cannot be written is dropped, and work goes on.
pub(crate) fn say(line: impl Display) {
    // It never fails.
    let _ = writeln!(Stderr, "{}", shortened(&line.to_string()));
}

/// Standard error: what cannot be written there is lost, and no failure.
pub(crate) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let _ = anstream::stderr().write_all(printable(&text).as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard output, which may be closed while it is written to: by `head`, or a pager that is left.
pub(crate) struct Output<W> {
    inner: W,
    /// Whether a person sees it.
    is_terminal: bool,
    failure: Option<ErrorKind>,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(inner: W, is_terminal: bool) -> Self {
        Self {
            inner,
            is_terminal,
            failure: None,
        }
    }

    /// How it failed first, or [`line()`] did: what was to be said there is not all there.
    pub(crate) fn failure(&self) -> Option<ErrorKind> {
        self.failure.or(LINE_FAILURE.get().copied())
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != ErrorKind::Interrupted
        {
            self.failure.get_or_insert(error.kind());
        }
        result
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.is_terminal {
            let text = String::from_utf8_lossy(bytes);
            let written = self.inner.write_all(printable(&text).as_bytes());
            written.map(|()| bytes.len())
        } else {
            self.inner.write(bytes)
        };
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.note(flushed)
    }
}

/// How [`line()`] failed first.
static LINE_FAILURE: OnceLock<ErrorKind> = OnceLock::new();

/// A line for a tool on standard output, from any thread. One that cannot be written is noticed in
/// the end: what is under way goes on.
pub(crate) fn line(line: impl Display) {
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    if let Err(error) = written {
        // The first one counts.
        let _ = LINE_FAILURE.set(error.kind());
    }
}

/// A text whose lines are no longer than anybody reads: a file that is no file of ours may be one
/// line of megabytes, and errors quote what they found.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_LINE {
        return text.into();
    }
    let lines = text.lines().map(|line| {
        let mut characters = line.char_indices().skip(LONGEST_LINE);
        characters.next().map_or_else(
            || line.to_owned(),
            |(at, _)| format!("{}… and {} more bytes", &line[..at], line.len() - at),
        )
    });
    lines.collect::<Vec<_>>().join("\n").into()
}

/// A text of any number of lines, with control characters as Rust writes them: `\u{1b}`. Tabs and
/// line ends stay.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |character| {
        is_obeyed(character) && !matches!(character, '\n' | '\t')
    })
}

/// A name, which has no line ends either.
pub(crate) fn printable_name(name: &str) -> Cow<'_, str> {
    escaped(name, is_obeyed)
}

/// Whether a terminal does something with a character, or a text with it is read otherwise than it
/// is written.
pub(crate) fn is_obeyed(character: char) -> bool {
    // What turns the direction of writing around.
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let text = text.replace("\r\n", "\n");
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "{}", character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        for (text, shown) in [
            ("plain, é, 日本\n\tmore", "plain, é, 日本\n\tmore"),
            (
                "\u{1b}[2J\u{1b}]0;title\u{7}",
                "\\u{1b}[2J\\u{1b}]0;title\\u{7}",
            ),
            ("50 %\r100 %\r\nnext", "50 %\\r100 %\nnext"),
            ("\u{9b}31m\u{7f}\u{0}", "\\u{9b}31m\\u{7f}\\u{0}"),
            ("a\u{202e}b", "a\\u{202e}b"),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(shown), shown);
        }
        assert_eq!(printable_name("a\nb\tc"), "a\\nb\\tc");
        assert!(matches!(printable_name("NVIDIA H200"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_line_is_longer_than_anybody_reads() {
        let long = "é".repeat(LONGEST_LINE + 5);
        let shown = shortened(&long);
        assert!(shown.ends_with("é… and 10 more bytes"), "{shown}");
        let text = format!("first\n{long}\nlast");
        let shown = shortened(&text);
        assert!(
            shown.starts_with("first\né") && shown.ends_with("bytes\nlast"),
            "{shown}"
        );
        assert_eq!(shortened("a\n"), "a\n");
        assert_eq!(
            shortened(&long[..2 * LONGEST_LINE]),
            long[..2 * LONGEST_LINE]
        );
    }

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
    fn how_an_output_failed_is_remembered() {
        for kind in [ErrorKind::BrokenPipe, ErrorKind::StorageFull] {
            let mut output = Output::new(Failing(kind), false);
            assert!(writeln!(output, "text").is_err());
            assert_eq!(output.failure(), Some(kind));
            let mut output = Output::new(Failing(kind), false);
            assert!(output.flush().is_err());
            assert_eq!(output.failure(), Some(kind));
        }
    }

    #[test]
    fn only_people_get_texts_escaped() {
        let written = |is_terminal| {
            let mut output = Output::new(Vec::new(), is_terminal);
            writeln!(output, "a\u{1b}[2J").unwrap();
            assert_eq!(output.failure(), None);
            String::from_utf8(output.inner).unwrap()
        };
        assert_eq!(written(false), "a\u{1b}[2J\n");
        assert_eq!(written(true), "a\\u{1b}[2J\n");
    }
}
