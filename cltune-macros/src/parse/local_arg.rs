//! The clause `local_args(…)`.

use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Token, Type, bracketed};

/// `NAME: [TYPE; LEN] [before ARGUMENT]`.
pub(crate) struct LocalArg {
    pub(crate) name: Ident,
    pub(crate) element: Type,
    pub(crate) len: Expr,
    pub(crate) before: Option<Ident>,
}

impl Parse for LocalArg {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let content;
        bracketed!(content in input);
        let element = content.parse()?;
        content.parse::<Token![;]>()?;
        let len = content.parse()?;
        let before = match input.parse::<Option<Ident>>()? {
            None => None,
            Some(word) if word == "before" => Some(input.parse()?),
            Some(word) => {
                return Err(syn::Error::new(
                    word.span(),
                    "expected `,` or `before ARGUMENT` after a local-memory argument",
                ));
            }
        };
        Ok(Self {
            name,
            element,
            len,
            before,
        })
    }
}
