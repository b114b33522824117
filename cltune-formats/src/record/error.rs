//! The reasons why a record cannot be read.

use super::write::VERSION;
use std::fmt;

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// The tunable's name, if it could be read.
    pub tunable: Option<String>,
    /// What is wrong.
    pub problem: RecordProblem,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// The section ends within the record.
    #[error("it is cut off: the artifact is incomplete; build it again")]
    CutOff,
    /// A newer version of cltune wrote it.
    #[error(
        "it has version {found}, and this cltune reads up to version {VERSION}; update cargo-cltune"
    )]
    NewerVersion {
        /// The record's version.
        found: u32,
    },
    /// A newer release wrote it, and it has a limit, a clause or a word that this release does not
    /// know.
    #[error(
        "cltune {release} wrote it, and this is cltune {own}, which does not understand it{}: \
         {message}; update cargo-cltune",
        place(at),
        own = env!("CARGO_PKG_VERSION")
    )]
    NewerRelease {
        /// The release that wrote it.
        release: String,
        /// Where in the text, for example `constraints`.
        at: String,
        /// What is not understood there.
        message: String,
    },
    /// Its text does not say what a declaration needs.
    #[error("it is damaged{}: {message}; build the artifact again", place(at))]
    Damaged {
        /// Where in the text, for example `argument[2].element`.
        at: String,
        /// What is wrong there.
        message: String,
    },
}

fn place(at: &str) -> String {
    if at.is_empty() {
        String::new()
    } else {
        format!(" at `{at}`")
    }
}

impl RecordError {
    pub(super) fn unnamed(problem: RecordProblem) -> Self {
        Self {
            tunable: None,
            problem,
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tunable {
            Some(name) => write!(f, "the record of `{name}`: {}", self.problem),
            None => write!(f, "the record of a tunable: {}", self.problem),
        }
    }
}

impl std::error::Error for RecordError {}
