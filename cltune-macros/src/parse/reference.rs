//! The clause `reference`.

use super::pieces::{assigned, in_parentheses, list, separated};
use crate::errors::{Errors, did_you_mean, quoted};
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, LitStr, Token};

/// `reference(…)`.
#[derive(Default)]
pub(crate) struct ReferenceSyntax {
    pub(crate) kernel: Option<LitStr>,
    pub(crate) source: Option<LitStr>,
    pub(crate) global: Option<Vec<Expr>>,
    pub(crate) local: Option<Vec<Expr>>,
}

const WORDS: [&str; 4] = ["kernel", "source", "global", "local"];

/// `= default`, which is `None`, or `(…)`.
pub(super) fn reference(
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<ReferenceSyntax>> {
    if input.parse::<Option<Token![=]>>()?.is_some() {
        let word = input.call(Ident::parse_any)?;
        if word == "default" {
            return Ok(None);
        }
        return Err(syn::Error::new(
            word.span(),
            "expected `reference = default` or `reference(kernel = \"…\", global(…))`",
        ));
    }
    let mut reference = ReferenceSyntax::default();
    in_parentheses(input, |content| {
        separated(content, errors, |content, errors| {
            reference.word(content, errors)
        });
        Ok(())
    })?;
    Ok(Some(reference))
}

impl ReferenceSyntax {
    fn word(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let word = input.call(Ident::parse_any)?;
        let repeated = match word.to_string().as_str() {
            "kernel" => self.kernel.replace(assigned(input)?).is_some(),
            "source" => self.source.replace(assigned(input)?).is_some(),
            "global" => self.global.replace(list(input, errors)?).is_some(),
            "local" => self.local.replace(list(input, errors)?).is_some(),
            text => {
                let near = did_you_mean(text, WORDS);
                let words = quoted(WORDS);
                let message =
                    format!("unknown word `{text}` in `reference`{near}; there are {words}");
                return Err(syn::Error::new(word.span(), message));
            }
        };
        if repeated {
            let message = format!("`{word}` is given twice; keep one");
            return Err(syn::Error::new(word.span(), message));
        }
        Ok(())
    }
}
