//! `#[arg(…)]` on an argument.

use super::pieces::{Number, assigned, in_parentheses, separated};
use super::split::SplitSyntax;
use crate::errors::{Errors, did_you_mean, quoted};
use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, ExprArray, ExprRange, LitStr, RangeLimits, Token};

/// `#[arg(…)]`.
#[derive(Default)]
pub(crate) struct ArgOptions {
    pub(crate) len: Option<(Expr, Span)>,
    pub(crate) out: Option<Span>,
    pub(crate) fill: Option<(FillSyntax, Span)>,
    pub(crate) compare: Option<(CompareSyntax, Span)>,
    pub(crate) value: Option<(Number, Span)>,
    pub(crate) host_only: Option<Span>,
    /// The parameter that says where the argument lives.
    pub(crate) memory: Option<(Ident, Span)>,
    /// The size of the image that it can be.
    pub(crate) image: Option<(Vec<Expr>, Span)>,
    /// The size of an image.
    pub(crate) size: Option<(Vec<Expr>, Span)>,
    /// The argument that says at which element of the buffer a vector begins.
    pub(crate) offset: Option<(Ident, Span)>,
    /// The argument that says how many elements apart those of a vector are.
    pub(crate) stride: Option<(Ident, Span)>,
    /// One for each dimension along which the argument is divided.
    pub(crate) splits: Vec<SplitSyntax>,
    /// Whether a mistake was reported: then nothing is said to be missing.
    pub(crate) is_wrong: bool,
}

/// `fill = …`.
pub(crate) enum FillSyntax {
    Uniform(Number, Number),
    Zeros,
    Iota,
    Constant(Number),
    File(LitStr),
    Prepared,
}

/// `compare = …`.
pub(crate) enum CompareSyntax {
    None,
    /// Either end may be left out.
    Range(Option<Box<Expr>>, Option<Box<Expr>>),
}

const WORDS: [&str; 12] = [
    "len",
    "out",
    "fill",
    "compare",
    "value",
    "host_only",
    "memory",
    "image",
    "size",
    "offset",
    "stride",
    "split",
];
const FILLS: [&str; 6] = ["uniform", "zeros", "iota", "constant", "file", "prepared"];

impl ArgOptions {
    /// Reads the attributes of an argument; there are no others than `#[arg(…)]` and comments.
    pub(super) fn parse(attributes: &[syn::Attribute], errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let mut found = Errors::default();
        for attribute in attributes {
            if attribute.path().is_ident("arg") {
                options.attribute(attribute, &mut found);
            } else if !attribute.path().is_ident("doc") {
                found.push(syn::Error::new_spanned(
                    attribute.path(),
                    "arguments of a tunable take `#[arg(…)]` and no other attribute",
                ));
            }
        }
        options.is_wrong = !found.is_empty();
        errors.extend(found);
        options
    }

    fn attribute(&mut self, attribute: &syn::Attribute, errors: &mut Errors) {
        let list = match attribute.meta.require_list() {
            Ok(list) => list,
            Err(error) => return errors.push(error),
        };
        if let Err(error) = cltune_formats::formula::check_nesting(list.tokens.clone()) {
            return errors.push(error.into());
        }
        let mut found = Errors::default();
        let read = |input: ParseStream<'_>| {
            separated(input, &mut found, |input, _| self.word(input));
            Ok(())
        };
        // The parser sees the closing parenthesis, where a missing token is reported.
        let result = attribute.parse_args_with(read);
        if found.is_empty() {
            found.take(result);
        }
        errors.extend(found);
    }

    fn word(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let word = input.call(Ident::parse_any)?;
        let span = word.span();
        let repeated = match word.to_string().as_str() {
            "len" => self.len.replace((assigned(input)?, span)).is_some(),
            "out" => self.out.replace(span).is_some(),
            "fill" => self.fill.replace((assigned(input)?, span)).is_some(),
            "compare" => self.compare.replace((assigned(input)?, span)).is_some(),
            "value" => self.value.replace((assigned(input)?, span)).is_some(),
            "host_only" => self.host_only.replace(span).is_some(),
            "memory" => self.memory.replace((assigned(input)?, span)).is_some(),
            "image" => self.image.replace((sizes(input)?, span)).is_some(),
            "size" => self.size.replace((sizes(input)?, span)).is_some(),
            "offset" => self.offset.replace((assigned(input)?, span)).is_some(),
            "stride" => self.stride.replace((assigned(input)?, span)).is_some(),
            "split" => {
                self.splits.push(input.parse()?);
                false
            }
            text => {
                let near = did_you_mean(text, WORDS);
                let words = quoted(WORDS);
                let message = format!("unknown word `{text}` in `arg`{near}; there are {words}");
                return Err(syn::Error::new(span, message));
            }
        };
        if repeated {
            let message = format!("`{word}` is given twice; keep one");
            return Err(syn::Error::new(span, message));
        }
        Ok(())
    }
}

/// `= [WIDTH, HEIGHT]`.
fn sizes(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let sizes: ExprArray = assigned(input)?;
    Ok(sizes.elems.into_iter().collect())
}

impl Parse for CompareSyntax {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        match input.parse()? {
            Expr::Path(word) if word.path.is_ident("none") => Ok(Self::None),
            Expr::Range(ExprRange {
                start,
                limits: RangeLimits::HalfOpen(_),
                end,
                ..
            }) => Ok(Self::Range(start, end)),
            other => Err(syn::Error::new_spanned(
                other,
                "expected `compare = none`, or the range of elements that are compared, for \
                 example `compare = 0..n`",
            )),
        }
    }
}

impl Parse for FillSyntax {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word = input.call(Ident::parse_any)?;
        match word.to_string().as_str() {
            "zeros" => Ok(Self::Zeros),
            "iota" => Ok(Self::Iota),
            "prepared" => Ok(Self::Prepared),
            "uniform" => in_parentheses(input, |content| {
                let low = content.parse()?;
                content.parse::<Token![,]>()?;
                Ok(Self::Uniform(low, content.parse()?))
            }),
            "constant" => in_parentheses(input, |content| Ok(Self::Constant(content.parse()?))),
            "file" => in_parentheses(input, |content| Ok(Self::File(content.parse()?))),
            text => {
                let near = did_you_mean(text, FILLS);
                let message = format!(
                    "unknown fill `{text}`{near}; there are `uniform(low, high)`, `zeros`, \
                     `iota`, `constant(value)`, `file(\"path\")` and `prepared`"
                );
                Err(syn::Error::new(word.span(), message))
            }
        }
    }
}
