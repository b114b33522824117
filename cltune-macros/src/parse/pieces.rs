//! Syntax that several clauses share.

use crate::errors::Errors;
use proc_macro2::{Ident, Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseBuffer, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Expr, Lit, Token, Type, UnOp, bracketed, parenthesized};

/// A value and where its clause's word stands.
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// `NAME = EXPRESSION`.
pub(crate) struct Assignment {
    pub(crate) name: Ident,
    /// `None` where it cannot be read, which was reported: the name is known all the same.
    pub(crate) value: Option<Expr>,
}

/// `(NAME = EXPRESSION, …)`.
pub(super) fn assignments(
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Vec<Assignment>> {
    in_parentheses(input, |content| {
        Ok(separated(content, errors, |content, errors| {
            let name = content.call(Ident::parse_any)?;
            if !content.peek(Token![=]) {
                let message = format!("`{name}` needs a value, `{name} = …`");
                return Err(syn::Error::new(name.span(), message));
            }
            content.parse::<Token![=]>()?;
            let value = errors.take(content.parse());
            if value.is_none() {
                skip(content, |content| content.peek(Token![,]));
            }
            Ok(Assignment { name, value })
        }))
    })
}

/// `NAME: [TYPE; LEN]`, or `NAME: [TYPE; LEN] = 0`: memory that belongs to the tunable.
pub(crate) struct NamedArray {
    pub(crate) name: Ident,
    pub(crate) element: Type,
    pub(crate) len: Expr,
    /// Where the zero stands.
    pub(crate) zeros: Option<Span>,
}

impl Parse for NamedArray {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let content;
        bracketed!(content in input);
        let element = content.parse()?;
        content.parse::<Token![;]>()?;
        let len = content.parse()?;
        let zeros = if input.peek(Token![=]) {
            let Number { value, span } = assigned(input)?;
            if value != 0.0 {
                let message = "memory holds zeros, `= 0`, or anything where nothing is said";
                return Err(syn::Error::new(span, message));
            }
            Some(span)
        } else {
            None
        };
        Ok(Self {
            name,
            element,
            len,
            zeros,
        })
    }
}

/// A number with an optional sign.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) span: Span,
}

impl Parse for Number {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let expr: Expr = input.parse()?;
        let span = expr.span();
        let value = number(&expr).ok_or_else(|| {
            syn::Error::new(span, "expected a number, for example `0.5`, `-1` or `1e-4`")
        })?;
        Ok(Self { value, span })
    }
}

fn number(expr: &Expr) -> Option<f64> {
    match expr {
        // A literal that came through `macro_rules!`.
        Expr::Group(group) => number(&group.expr),
        Expr::Paren(paren) => number(&paren.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => number(&unary.expr).map(|x| -x),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_digits().parse().ok(),
            Lit::Float(number) => number.base10_digits().parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// `= VALUE`.
pub(super) fn assigned<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// What is between parentheses. Where it cannot be read, the rest of it is skipped.
pub(super) fn in_parentheses<T>(
    input: ParseStream<'_>,
    read: impl FnOnce(&ParseBuffer<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let content;
    parenthesized!(content in input);
    let result = read(&content);
    if result.is_ok() && !content.is_empty() {
        let error = content.error("expected `)`");
        skip(&content, |_| false);
        return Err(error);
    }
    skip(&content, |_| false);
    result
}

/// `(FORMULA)`.
pub(super) fn single(input: ParseStream<'_>) -> syn::Result<Expr> {
    in_parentheses(input, |content| {
        let value = content.parse()?;
        content.parse::<Option<Token![,]>>()?;
        if content.is_empty() {
            Ok(value)
        } else {
            Err(content.error("this clause takes one formula"))
        }
    })
}

/// `( A, B, … )` with an optional comma at the end.
pub(super) fn list<T: Parse>(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Vec<T>> {
    in_parentheses(input, |content| {
        Ok(separated(content, errors, |content, _| content.parse()))
    })
}

/// Elements with commas between and an optional one at the end. One that is wrong is collected and
/// left out, and reading goes on after the next comma.
pub(super) fn separated<T>(
    input: ParseStream<'_>,
    errors: &mut Errors,
    mut element: impl FnMut(ParseStream<'_>, &mut Errors) -> syn::Result<T>,
) -> Vec<T> {
    let mut elements = Vec::new();
    while !input.is_empty() {
        let result = element(input, errors).and_then(|element| {
            if input.is_empty() || input.peek(Token![,]) {
                Ok(element)
            } else {
                Err(input.error("expected `,`"))
            }
        });
        match result {
            Ok(element) => elements.push(element),
            Err(error) => {
                errors.push(error);
                skip(input, |input| input.peek(Token![,]));
            }
        }
        if !input.is_empty() && input.parse::<Token![,]>().is_err() {
            break;
        }
    }
    elements
}

/// Skips tokens to the end, or to where `stop` says so.
fn skip(input: ParseStream<'_>, stop: impl Fn(ParseStream<'_>) -> bool) {
    while !input.is_empty() && !stop(input) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}
