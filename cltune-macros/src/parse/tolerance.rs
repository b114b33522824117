//! The clause `tolerance`.

use super::pieces::{Number, assigned};
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Token};

/// `rel = 1e-4`, `abs = 1e-6`, `l2 = 1e-5`, `l2` or `accumulates = k`.
pub(crate) struct ToleranceSyntax {
    pub(crate) word: Ident,
    pub(crate) value: ToleranceValue,
}

/// What follows a word of `tolerance`.
pub(crate) enum ToleranceValue {
    /// Nothing.
    None,
    Number(Number),
    /// After `accumulates`, and after a word that there is not.
    Formula(Box<Expr>),
}

impl Parse for ToleranceSyntax {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word = input.call(Ident::parse_any)?;
        let value = if !input.peek(Token![=]) {
            ToleranceValue::None
        } else if word == "rel" || word == "abs" || word == "l2" {
            ToleranceValue::Number(assigned(input)?)
        } else {
            ToleranceValue::Formula(Box::new(assigned(input)?))
        };
        Ok(Self { word, value })
    }
}
