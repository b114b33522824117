//! All mistakes of a declaration, not only the first.

use cltune_core::expr::nearest;
use cltune_formats::formula::ParseError;
use proc_macro2::{Span, TokenStream};
use std::fmt::Display;

/// Collects errors.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<syn::Error>);

/// An error at a token, where no other mistake can be looked for.
pub(crate) fn fail<T>(span: Span, message: impl Display) -> syn::Result<T> {
    Err(syn::Error::new(span, message))
}

impl Errors {
    /// Adds an error at a token.
    pub(crate) fn add(&mut self, span: Span, message: impl Display) {
        self.0.push(syn::Error::new(span, message));
    }

    /// Adds an error that has its place already.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// The value, or its error collected.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// The value of a formula, or its errors collected.
    pub(crate) fn take_all<T>(&mut self, result: Result<T, Vec<ParseError>>) -> Option<T> {
        result
            .map_err(|errors| self.0.extend(errors.into_iter().map(syn::Error::from)))
            .ok()
    }

    /// Adds all of another collection.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The first mistake.
    pub(crate) fn into_first(self) -> Option<syn::Error> {
        self.0.into_iter().next()
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A `compile_error!` for each, in the order of the text.
    pub(crate) fn to_compile_errors(&self) -> TokenStream {
        let mut errors: Vec<&syn::Error> = self.0.iter().collect();
        errors.sort_by_key(|error| {
            let start = error.span().start();
            (start.line, start.column)
        });
        errors
            .into_iter()
            .map(syn::Error::to_compile_error)
            .collect()
    }
}

/// `; did you mean …?` for the known word nearest to a mistyped one, else nothing.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// `` `a`, `b`, `c` ``
pub(crate) fn quoted(words: impl IntoIterator<Item = impl Display>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
