//! From Rust syntax to a [`Formula`]: the entry points of the parser.

use super::display::Canonical;
use super::nesting::check_nesting;
use super::scope::{ParseError, Scope, Type};
use super::{check, compile, syntax};
use cltune_core::expr::{Formula, TextError};
use proc_macro2::{Span, TokenStream};

/// The formula of a parsed Rust expression.
///
/// `expr` is walked recursively to a bounded depth; a macro that parses expressions from a
/// user's tokens itself calls [`check_nesting`] on them first.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text; never empty.
pub fn from_syn(
    expr: &syn::Expr,
    scope: &Scope<'_>,
    expected: Type,
) -> Result<Formula, Vec<ParseError>> {
    let mut errors = Vec::new();
    let tree = syntax::lower(expr, Some(scope), &mut errors);
    check::check(&tree, scope, expected, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let program = compile::compile(&tree, scope).map_err(|error| vec![error])?;
    let text = Canonical { expr: &tree, scope }.to_string();
    Ok(Formula {
        text: text.into(),
        program,
    })
}

/// The formula of a text in Rust syntax.
///
/// # Errors
/// The first mistake and its column.
pub fn parse(text: &str, scope: &Scope<'_>, expected: Type) -> Result<Formula, TextError> {
    let expr = expression(text)?;
    from_syn(&expr, scope, expected).map_err(|errors| first(text, errors))
}

/// Checks that a text is a formula in Rust syntax, whatever its names of parameters and dimensions
/// mean.
///
/// # Errors
/// The first mistake and its column.
pub fn check_text(text: &str, expected: Type) -> Result<(), TextError> {
    let expr = expression(text)?;
    let mut errors = Vec::new();
    let tree = syntax::lower(&expr, None, &mut errors);
    check::check(&tree, &Scope::default(), expected, &mut errors);
    if errors.is_empty() {
        return Ok(());
    }
    Err(first(text, errors))
}

/// The first of a text's mistakes.
fn first(text: &str, errors: Vec<ParseError>) -> TextError {
    let first = errors.into_iter().next();
    first.map_or_else(
        || TextError {
            column: 1,
            message: "not a formula".into(),
        },
        |error| located(text, error),
    )
}

fn located(text: &str, error: ParseError) -> TextError {
    TextError {
        column: column(text, error.span),
        message: error.message,
    }
}

/// The expression that a text is.
fn expression(text: &str) -> Result<syn::Expr, TextError> {
    let tokens: TokenStream = text
        .parse()
        .map_err(|error: proc_macro2::LexError| TextError {
            column: column(text, error.span()),
            message: "this is not Rust syntax: an unclosed bracket or quote, or an unknown \
                          character"
                .into(),
        })?;
    check_nesting(tokens.clone()).map_err(|error| located(text, error))?;
    if tokens.is_empty() {
        return Err(TextError {
            column: 1,
            message: "expected a formula".into(),
        });
    }
    syn::parse2(tokens).map_err(|error| {
        let message = error.to_string();
        // The end has no token, so syn cannot say where it is.
        if message.starts_with("unexpected end of input") {
            return TextError {
                column: text.trim_end().chars().count() + 1,
                message,
            };
        }
        located(text, ParseError::from(error))
    })
}

/// The 1-based position of a span's start, in characters from the start of the text.
fn column(text: &str, span: Span) -> usize {
    let start = span.start();
    let before: usize = text
        .split_inclusive('\n')
        .take(start.line.saturating_sub(1))
        .map(|line| line.chars().count())
        .sum();
    // A span past the end, as of an unexpected end of input, is shown at the end.
    (before + start.column).min(text.chars().count()) + 1
}
