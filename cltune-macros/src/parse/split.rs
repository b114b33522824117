//! `split(…)` on an argument.

use super::pieces::{in_parentheses, separated};
use crate::errors::{Errors, did_you_mean};
use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Token};

/// `(DIMENSION, rows = ROWS, halo = ELEMENTS)`.
pub(crate) struct SplitSyntax {
    pub(crate) dimension: Ident,
    pub(crate) rows: Option<(Expr, Span)>,
    pub(crate) halo: Option<(Expr, Span)>,
}

const WORDS: [&str; 2] = ["rows", "halo"];

impl Parse for SplitSyntax {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        in_parentheses(input, |content| {
            let mut split = Self {
                dimension: content.call(Ident::parse_any)?,
                rows: None,
                halo: None,
            };
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
            let mut errors = Errors::default();
            separated(content, &mut errors, |content, _| split.word(content));
            match errors.into_first() {
                Some(error) => Err(error),
                None => Ok(split),
            }
        })
    }
}

impl SplitSyntax {
    fn word(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let word = input.call(Ident::parse_any)?;
        let place = match word.to_string().as_str() {
            "rows" => &mut self.rows,
            "halo" => &mut self.halo,
            text => {
                let near = did_you_mean(text, WORDS);
                let message =
                    format!("unknown word `{text}` in `split`{near}; there are `rows` and `halo`");
                return Err(syn::Error::new(word.span(), message));
            }
        };
        input.parse::<Token![=]>()?;
        if place.replace((input.parse()?, word.span())).is_some() {
            let message = format!("`{word}` is given twice; keep one");
            return Err(syn::Error::new(word.span(), message));
        }
        Ok(())
    }
}
