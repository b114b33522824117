//! The reasons why a source cannot be put together.

use std::fmt;

/// A problem with a source file or one that it includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// The file that has the problem.
    pub path: String,
    /// The problem.
    pub problem: SourceProblem,
    /// How the file came to be read, from the innermost include outwards; empty for the file that
    /// was asked for.
    pub included_from: Vec<IncludedFrom>,
}

/// What is wrong with a source file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceProblem {
    /// It could not be read, with the reader's reason.
    #[error("{0}")]
    Unreadable(String),
    /// It includes itself, directly or through others, and has no `#pragma once`.
    #[error("it includes itself; add `#pragma once` to it, or break the cycle")]
    Cycle,
    /// The name of what it includes is a macro's: nobody can tell which file is meant, or see that
    /// it changes.
    #[error(
        "line {line}: `#include {name}` takes the name of a file from a macro, so that nobody can see when that \
         file changes; write `#include \"…\"`, or where it depends on a macro, one for each case: `#if {name} == 1`, \
         `#include \"…\"`, `#else`, `#include \"…\"`, `#endif`"
    )]
    MacroInclude {
        /// The line, from 1.
        line: usize,
        /// What stands for the name.
        name: String,
    },
    /// Includes are nested too deeply.
    #[error("includes are nested more than {0} deep")]
    TooDeep(usize),
    /// The text with its includes grew too large: a file that is included very often.
    #[error(
        "with it, the source has more than {0} bytes; add `#pragma once` to files that are included repeatedly"
    )]
    TooLarge(usize),
}

/// A line that includes a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludedFrom {
    /// The file with the `#include`.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel source `{}`: {}", self.path, self.problem)?;
        for from in &self.included_from {
            write!(f, "\n  included from {}:{}", from.path, from.line)?;
        }
        Ok(())
    }
}

impl std::error::Error for SourceError {}
