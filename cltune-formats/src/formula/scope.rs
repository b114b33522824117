//! The names and the types of formulas, and the mistakes in them: the data of the parser.

use cltune_core::Text;
use cltune_core::parameter::Parameter;
use proc_macro2::Span;
use std::fmt;

/// The names a formula may use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// The tunable parameters.
    pub parameters: &'a [Parameter],
    /// The problem dimensions.
    pub dimensions: &'a [Text],
}

/// The type of a formula's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A 64-bit integer.
    Int,
    /// A boolean.
    Bool,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Int => "an integer",
            Self::Bool => "a boolean",
        })
    }
}

/// A mistake in a formula, at the token that shows it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Where it is.
    pub span: Span,
    /// What it is and what to do about it.
    pub message: String,
}

impl ParseError {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }
}

impl From<syn::Error> for ParseError {
    fn from(error: syn::Error) -> Self {
        Self {
            span: error.span(),
            message: error.to_string(),
        }
    }
}

impl From<ParseError> for syn::Error {
    fn from(error: ParseError) -> Self {
        Self::new(error.span, error.message)
    }
}
