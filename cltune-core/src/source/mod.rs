//! OpenCL C source: one text out of a file and what it includes.
//!
//! The text in an artifact must be complete, since it may be tuned where no file of the package
//! exists. [`flatten`] therefore replaces each `#include "…"` by the file's text, and leaves
//! `#include <…>` to the driver. `#line` directives keep build logs pointing at the user's files.

mod error;
mod flatten;
mod lines;

pub use error::{IncludedFrom, SourceError, SourceProblem};
pub use flatten::{Flattened, flatten, flatten_text};

/// The text of a source file's bytes.
///
/// # Errors
/// Where the bytes are not UTF-8, as a fragment for [`SourceProblem::Unreadable`].
pub fn decode(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        format!(
            "it is not UTF-8 text (line {line}, byte {}): save it as UTF-8",
            valid.len() + 1
        )
    })
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn bytes_that_are_no_text_are_located() {
        assert_eq!(decode("// é".into()), Ok("// é".into()));
        let message = decode(b"a\nb \xe9\n".to_vec()).expect_err("Latin-1");
        assert!(message.contains("line 2, byte 5"), "{message}");
    }
}
