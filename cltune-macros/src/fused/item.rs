//! The annotated function: a signature, and statements as its body.

use super::library::{self, Gemms};
use super::matrices::{self, Matrices};
use crate::parse::{Body, Item};
use proc_macro2::Literal;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Block, FnArg, Pat, Signature, Token, Visibility, parse_quote, token};

/// A function whose body is statements over its arguments.
pub(crate) struct FusedItem {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    /// Without the arguments that multiply matrices.
    pub(super) signature: Signature,
    pub(super) matrices: Matrices,
    pub(super) gemms: Gemms,
    /// The signature with those.
    pub(super) whole: Signature,
    /// `None` where a `;` stands in its place.
    pub(super) body: Option<Block>,
}

impl Parse for FusedItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let mut signature: Signature = input.parse().map_err(|error: syn::Error| {
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
        let whole = signature.clone();
        Ok(Self {
            attributes,
            visibility,
            gemms: library::taken(&mut signature),
            matrices: matrices::taken(&mut signature),
            signature,
            whole,
            body,
        })
    }
}

impl FusedItem {
    /// Says of arguments that only lengths use them.
    pub(super) fn mark_host_only(&mut self, names: &[String]) {
        for name in names {
            self.mark(name, &parse_quote!(#[arg(host_only)]));
        }
    }

    /// Says which values arguments have while tuning.
    pub(super) fn mark_values(&mut self, values: &[&(String, u8)]) {
        for (name, value) in values {
            let value = Literal::u8_unsuffixed(*value);
            self.mark(name, &parse_quote!(#[arg(value = #value)]));
        }
    }

    fn mark(&mut self, name: &str, attribute: &Attribute) {
        for input in &mut self.signature.inputs {
            if let FnArg::Typed(typed) = input
                && let Pat::Ident(pattern) = &*typed.pat
                && pattern.ident.unraw() == *name
            {
                typed.attrs.push(attribute.clone());
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
