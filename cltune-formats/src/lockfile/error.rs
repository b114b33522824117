//! The mistakes that the text of a lockfile can have.

use super::VERSION;
use std::fmt;

/// What is wrong with the text of a lockfile, on which line, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockfileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with the text of a lockfile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A version control system left both sides of a conflict in the file.
    #[error("merge conflict markers")]
    ConflictMarkers,
    /// Not TOML.
    #[error("not valid TOML: {message}")]
    Syntax {
        /// The TOML parser's message.
        message: String,
    },
    /// A later release wrote it.
    #[error("version {found} of the format, but this cltune reads up to version {VERSION}")]
    NewerVersion {
        /// The version in the file.
        found: i64,
    },
    /// No release ever wrote it.
    #[error("there is no version {found} of the format")]
    NoSuchVersion {
        /// The version in the file.
        found: i64,
    },
    /// A key that must be there is not.
    #[error("{table} has no `{key}`")]
    MissingKey {
        /// The table, as a user calls it: `[[device]]`.
        table: &'static str,
        /// The key.
        key: &'static str,
    },
    /// A key that does not belong there; writing the file anew would lose it.
    #[error("{table} has an unknown key `{key}`")]
    UnknownKey {
        /// The table.
        table: &'static str,
        /// The key.
        key: String,
    },
    /// A value of another type.
    #[error("`{key}` must be {expected}, but is {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What it must be, with an article.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A time or an energy that is negative, infinite or not a number.
    #[error("`{key}` must be a number that is finite and not negative, but is {found}")]
    BadQuantity {
        /// The key.
        key: &'static str,
        /// What it is.
        found: String,
    },
    /// Two `[[device]]` tables with the same id.
    #[error("device \"{id}\" is described twice")]
    DuplicateDevice {
        /// The id.
        id: String,
    },
    /// Two `[[device]]` tables with the same platform, name and vendor.
    #[error("devices \"{other}\" and \"{id}\" are the same: platform, name and vendor are equal")]
    SameDevice {
        /// The id of the second.
        id: String,
        /// The id of the first.
        other: String,
    },
    /// Two `[[kernel]]` tables with the same name.
    #[error("kernel \"{name}\" appears twice")]
    DuplicateKernel {
        /// The kernel.
        name: String,
    },
    /// A parameter listed twice.
    #[error("parameter \"{name}\" is listed twice")]
    DuplicateParameter {
        /// The parameter.
        name: String,
    },
    /// Two entries of one kernel for the same device and problem.
    #[error("kernel \"{kernel}\" has two entries for device \"{device}\" and problem {problem}")]
    DuplicateEntry {
        /// The kernel.
        kernel: String,
        /// The device's id.
        device: String,
        /// The problem, as the file writes it.
        problem: String,
    },
    /// An entry for a device that no `[[device]]` table describes.
    #[error("no [[device]] has the id \"{id}\"")]
    UnknownDevice {
        /// The id.
        id: String,
    },
    /// An entry with more or fewer values than its kernel has parameters.
    #[error("{found} values for {expected} parameters")]
    ValueCount {
        /// How many values the entry has.
        found: usize,
        /// How many parameters the kernel has.
        expected: usize,
    },
    /// Entries of one kernel with different problem dimensions.
    #[error("the problem names {found}, but other entries of kernel \"{kernel}\" name {expected}")]
    OtherDimensions {
        /// The kernel.
        kernel: String,
        /// The names in this entry.
        found: String,
        /// The names in the kernel's first entry.
        expected: String,
    },
}

impl Problem {
    /// What the user can do about it.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::ConflictMarkers => {
                "unite both sides with `cargo cltune merge cltune.lock --output cltune.lock`, or take \
                 one side with the version control system"
            }
            Self::NewerVersion { .. } => "it was written by a newer cltune: update cltune",
            Self::UnknownKey { .. } => {
                "where a newer cltune wrote it, update cltune; else correct the line, or restore the \
                 file from version control"
            }
            _ => {
                "correct the line, or restore the file from version control, or delete it and tune \
                 again with `cargo cltune`"
            }
        }
    }

    /// The error at a line.
    pub(super) const fn at(self, line: usize) -> LockfileError {
        LockfileError {
            line,
            problem: self,
        }
    }
}

impl fmt::Display for LockfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: {}; {}",
            self.line,
            self.problem,
            self.problem.remedy()
        )
    }
}

impl std::error::Error for LockfileError {}
