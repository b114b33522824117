//! An element of the clause `options(…)`.

use syn::parse::{Parse, ParseStream};
use syn::{Expr, LitStr, Token};

/// `"-cl-mad-enable"`, or `"-cl-fast-relaxed-math" if CONDITION`.
pub(crate) struct OptionSyntax {
    pub(crate) text: LitStr,
    pub(crate) condition: Option<Expr>,
}

impl Parse for OptionSyntax {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse()?;
        let condition = match input.parse::<Option<Token![if]>>()? {
            Some(_) => Some(input.parse()?),
            None if input.is_empty() || input.peek(Token![,]) => None,
            None => return Err(input.error("expected `,`, or `if` with a condition")),
        };
        Ok(Self { text, condition })
    }
}
