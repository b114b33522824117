//! Formulas over parameters, problem dimensions and device limits.
//!
//! The grammar is Rust's expression syntax, the types are `i64` and `bool` (and names, which can
//! only be compared), the arithmetic is checked. A [`Formula`] is parsed and type-checked once
//! (feature `parse`), compiled to a [`Program`], and evaluated without allocation.
//!
//! The syntax of a formula: integer literals, `true` and `false`; parameters and problem dimensions
//! by name; `device.LIMIT` with a field of [`crate::device::DeviceLimits`]; `+ - * / %`, `<< >>`,
//! `& | ^`, `== != < <= > >=`, `&& || !`; `if … { … } else { … }`; and `min`, `max`, `abs`, `pow`,
//! `is_power_of_two`, `div_ceil` and `next_multiple_of`, as methods or as functions. A parameter
//! whose values are names is compared with a string literal, `T == "float4"`.
//!
//! `&&`, `||` and `if` evaluate only what they need, so `VW == 0 || n % VW == 0` has a value where
//! `VW` is 0.

pub mod arithmetic;
mod assemble;
mod bind;
mod eval;
mod program;
mod suggest;

#[cfg(feature = "parse")]
mod ast;
#[cfg(feature = "parse")]
mod check;
#[cfg(feature = "parse")]
mod compile;
#[cfg(feature = "parse")]
mod display;
#[cfg(feature = "parse")]
mod nesting;
#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
mod scope;
#[cfg(feature = "parse")]
mod syntax;
#[cfg(feature = "parse")]
mod unsupported;

pub use assemble::Fragment;
pub(crate) use assemble::rebuild;
pub use program::{Env, EvalError, Op, Program};
pub use suggest::nearest;

#[cfg(feature = "parse")]
pub use nesting::check_nesting;
#[cfg(feature = "parse")]
pub use scope::{ParseError, Scope, Type};

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
