//! The annotated item: a function without a body, or with its kernel's source as body.

use syn::parse::{Parse, ParseStream};
use syn::{Attribute, LitStr, Signature, Token, Visibility, braced, token};

/// A function declaration. Its arguments are read by [`Item::arguments`].
pub(crate) struct Item {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Body,
}

/// What follows the signature.
pub(crate) enum Body {
    /// `;`
    None,
    /// One string literal, the kernel's source.
    Source(LitStr),
    /// Something else, and why that is wrong.
    Wrong(syn::Error),
}

const BODY: &str = "the body of a tunable is one string literal with the OpenCL C source; to read \
                    it from a file, end the declaration with `;` and add `source = \"…\"` to the \
                    attribute";

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let ahead = input.fork();
        if ahead.parse::<Signature>().is_err() && !is_function(input) {
            return Err(input.error(
                "`#[tunable]` goes on a function without a body: `fn name(…) -> Result<Event>;`",
            ));
        }
        let signature = input.parse()?;
        Ok(Self {
            attributes,
            visibility,
            signature,
            body: body(input)?,
        })
    }
}

fn is_function(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    while !ahead.is_empty() {
        if ahead.peek(Token![fn]) {
            return true;
        }
        let is_qualifier = ahead.peek(Token![const])
            || ahead.peek(Token![async])
            || ahead.peek(Token![unsafe])
            || ahead.peek(Token![extern])
            || ahead.peek(syn::Lit);
        if !is_qualifier || ahead.parse::<proc_macro2::TokenTree>().is_err() {
            return false;
        }
    }
    false
}

fn body(input: ParseStream<'_>) -> syn::Result<Body> {
    if !input.peek(token::Brace) {
        input.parse::<Token![;]>()?;
        return Ok(Body::None);
    }
    let content;
    let brace = braced!(content in input);
    if content.is_empty() {
        return Ok(Body::Wrong(syn::Error::new(brace.span.join(), BODY)));
    }
    let literal = content
        .parse::<LitStr>()
        .map_err(|error| syn::Error::new(error.span(), BODY));
    let rest: proc_macro2::TokenStream = content.parse()?;
    Ok(match (literal, rest.is_empty()) {
        (Ok(source), true) => Body::Source(source),
        (Ok(_), false) => Body::Wrong(syn::Error::new_spanned(rest, BODY)),
        (Err(error), _) => Body::Wrong(error),
    })
}
