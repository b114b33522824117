//! Formulas over parameters, problem dimensions and device limits.
//!
//! The grammar is Rust's expression syntax, the types are `i64` and `bool` (and names, which can
//! only be compared), the arithmetic is checked. A [`Formula`] is parsed and type-checked once
//! (feature `parse`), compiled to a [`Program`], and evaluated without allocation.

mod program;

pub use program::{EvalError, Env, Op, Program};

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

impl Formula {
    /// The value for an environment; booleans are 0 and 1.
    ///
    /// # Errors
    /// Overflow, division by zero and the like: see [`EvalError`].
    pub fn eval(&self, env: &Env<'_>) -> Result<i64, EvalError> {
        self.program.eval(env)
    }
}
