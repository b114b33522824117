//! Formulas over parameters, problem dimensions and device limits.
//!
//! A [`Formula`] is parsed, type-checked and compiled to a [`Program`] once, by the crate
//! `cltune-formats`, whose module `formula` has the grammar. This module evaluates programs without
//! allocation. Values are `i64`, a boolean is 0 or 1, and the arithmetic is checked.

pub mod arithmetic;
mod assemble;
mod bind;
mod eval;
mod program;
mod suggest;

pub use assemble::Fragment;
pub(crate) use assemble::rebuild;
pub use program::{Env, EvalError, Op, Program};
pub use suggest::nearest;

use crate::Text;

/// A formula: its canonical text and its compiled form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Canonical text: one formula has one text, whatever the white space and redundant
    /// parentheses it was written with.
    pub text: Text,
    /// The compiled form.
    pub program: Program,
}

/// A mistake in the text of a formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct TextError {
    /// The position of the mistake's first character, counted in characters from 1.
    pub column: usize,
    /// What it is and what to do about it.
    pub message: String,
}

impl Formula {
    /// The value for an environment; booleans are 0 and 1.
    ///
    /// # Errors
    /// Overflow, division by zero and the like: see [`EvalError`].
    pub fn eval(&self, env: &Env<'_>) -> Result<i64, EvalError> {
        self.program.eval(env)
    }
}
