//! The clause `tolerance`.

use super::pieces::{Number, assigned};
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Token};

/// `rel = 1e-4`, `abs = 1e-6`, `l2 = 1e-5`, `l2` or `accumulates = k`.
#[derive(Debug)]
pub(crate) struct ToleranceSyntax {
    pub(crate) word: Ident,
    pub(crate) value: ToleranceValue,
}

/// What follows a word of `tolerance`.
#[derive(Debug)]
pub(crate) enum ToleranceValue {
    /// Nothing.
    None,
    Number(Number),
    /// After `accumulates`.
    Formula(Box<Expr>),
}

impl Parse for ToleranceSyntax {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word = input.call(Ident::parse_any)?;
        let value = if !input.peek(Token![=]) {
            ToleranceValue::None
        } else if word == "accumulates" {
            ToleranceValue::Formula(Box::new(assigned(input)?))
        } else {
            ToleranceValue::Number(assigned(input)?)
        };
        Ok(Self { word, value })
    }
}
