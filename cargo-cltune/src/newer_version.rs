//! A file that a newer release wrote.

/// A version of a format that this release does not know yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error(
    "version {found} of the format{}, and this cltune {} reads up to version {known}; update cltune",
    written_by(cltune),
    env!("CARGO_PKG_VERSION")
)]
pub(crate) struct NewerVersion {
    found: u32,
    known: u32,
    /// The release that wrote it; empty where the file does not say.
    cltune: String,
}

impl NewerVersion {
    /// Compares the version that a file states with the newest that is known.
    ///
    /// # Errors
    /// The file's is newer.
    pub(crate) fn check(found: u32, known: u32, cltune: String) -> Result<(), Self> {
        if found <= known {
            return Ok(());
        }
        Err(Self {
            found,
            known,
            cltune,
        })
    }
}

fn written_by(cltune: &str) -> String {
    if cltune.is_empty() {
        String::new()
    } else {
        format!(", written by cltune {cltune}")
    }
}
