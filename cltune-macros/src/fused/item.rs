//! The annotated function: a signature, and statements as its body.

use super::matrices::{self, Matrices};
use crate::parse::{Body, Item};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Block, FnArg, Pat, Signature, Token, Visibility, parse_quote, token};

/// A function whose body is statements over its arguments.
pub(crate) struct FusedItem {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    pub(super) signature: Signature,
    pub(super) matrices: Matrices,
    /// `None` where a `;` stands in its place.
    pub(super) body: Option<Block>,
}

impl Parse for FusedItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let mut signature = input.parse().map_err(|error: syn::Error| {
            let message =
                "`#[fused]` goes on a function: `fn name(…) -> Result<Event> { y = a * x; }`";
            syn::Error::new(error.span(), message)
        })?;
        let body = if input.peek(token::Brace) {
            Some(input.parse()?)
        } else {
            input.parse::<Token![;]>()?;
            None
        };
        Ok(Self {
            attributes,
            visibility,
            matrices: matrices::taken(&mut signature),
            signature,
            body,
        })
    }
}

impl FusedItem {
    /// Says of arguments that only lengths use them.
    pub(super) fn mark_host_only(&mut self, names: &[String]) {
        for input in &mut self.signature.inputs {
            if let FnArg::Typed(typed) = input
                && let Pat::Ident(pattern) = &*typed.pat
                && names.iter().any(|name| pattern.ident.unraw() == *name)
            {
                typed.attrs.push(parse_quote!(#[arg(host_only)]));
            }
        }
    }

    /// The function as `#[tunable]` takes it.
    pub(super) fn with_body(self, body: Body) -> Item {
        Item {
            attributes: self.attributes,
            visibility: self.visibility,
            signature: self.signature,
            body,
        }
    }
}
