//! The clause `local_args(…)`.

use super::pieces::NamedArray;
use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};

/// `NAME: [TYPE; LEN] [before ARGUMENT]`.
pub(crate) struct LocalArg {
    pub(crate) array: NamedArray,
    pub(crate) before: Option<Ident>,
}

impl Parse for LocalArg {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let array: NamedArray = input.parse()?;
        if let Some(span) = array.zeros {
            let message =
                "local memory holds anything when a kernel begins: clear it in the kernel";
            return Err(syn::Error::new(span, message));
        }
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
        Ok(Self { array, before })
    }
}
