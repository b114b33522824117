//! The annotated function: a signature, and statements as its body.

use super::library::{self, Gemms};
use super::matrices::{self, Matrices, pieces};
use super::program::{Operand, Place, Program};
use super::tokens::names;
use crate::errors::Errors;
use crate::parse::{self, Body, Item};
use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Block, FnArg, Meta, Pat, PatType, Signature, Token, Visibility, parse_quote, token,
};

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
        let mut item = Self::before_body(input)?;
        if input.peek(token::Brace) {
            item.body = Some(input.parse()?);
        } else {
            input.parse::<Token![;]>()?;
        }
        Ok(item)
    }
}

impl FusedItem {
    /// What stands before the body.
    fn before_body(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let mut signature: Signature = input.parse().map_err(|error: syn::Error| {
            let message =
                "`#[fused]` goes on a function: `fn name(…) -> Result<Event> { y = a * x; }`";
            syn::Error::new(error.span(), message)
        })?;
        let whole = signature.clone();
        Ok(Self {
            attributes,
            visibility,
            gemms: library::taken(&mut signature),
            matrices: matrices::taken(&mut signature),
            signature,
            whole,
            body: None,
        })
    }

    /// The function of tokens whose body cannot be read.
    pub(super) fn without_body(item: &TokenStream) -> syn::Result<Self> {
        let parser = |input: ParseStream<'_>| {
            let item = Self::before_body(input)?;
            input.parse::<TokenStream>()?;
            Ok(item)
        };
        parser.parse2(item.clone())
    }

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

    /// Reports names of arguments and of `let` that mean something else in the clauses that were
    /// made.
    pub(super) fn check_names(
        &self,
        program: &Program,
        attribute: &parse::Attribute,
        made: &TokenStream,
        errors: &mut Errors,
    ) {
        let arguments = self
            .signature
            .inputs
            .iter()
            .filter_map(|input| match input {
                FnArg::Typed(typed) => match &*typed.pat {
                    Pat::Ident(pattern) => Some(&pattern.ident),
                    _ => None,
                },
                FnArg::Receiver(_) => None,
            });
        let is_argument = |name: &Ident| arguments.clone().any(|argument| argument == name);
        // Vectors take no memory.
        let is_number = |name: &&Ident| program.operand(&name.unraw()).is_some();
        let named = program.named.iter().filter(is_number);
        let parameters = attribute.params.iter().flat_map(|clause| &clause.value);
        for name in arguments.clone().chain(named) {
            let text = name.unraw();
            let what = if parameters.clone().any(|parameter| parameter.name == text) {
                "a parameter"
            } else if text == "device" && is_argument(name) && asks_device(made.clone()) {
                "the device in constraints"
            } else {
                continue;
            };
            let message = format!("`{name}` is {what} that `#[fused]` makes: choose another name");
            errors.add(name.span(), message);
        }
    }

    /// Reports integers that lengths are made of and `tune` does not have.
    pub(super) fn check_lengths(
        &self,
        program: &Program,
        is_dimension: impl Fn(&str) -> bool,
        errors: &mut Errors,
    ) {
        let arguments = || self.signature.inputs.iter().filter_map(typed);
        let attributes = arguments().flat_map(|(argument, _)| &argument.attrs);
        let used: Vec<Ident> = attributes.flat_map(names_in_length).collect();
        for (_, name) in arguments() {
            let is_integer = program.operand(&name.unraw()).is_some_and(|operand| {
                let Operand { place, scalar, .. } = program.operands[operand];
                place == Place::Value && scalar.is_integer()
            });
            if is_integer
                && !is_dimension(&name.unraw().to_string())
                && used.iter().any(|other| other.unraw() == name.unraw())
            {
                let message = format!(
                    "the length of a buffer is made of `{name}`, which is therefore a problem \
                     dimension: add it to `tune({name} = …)` with the sizes to tune for"
                );
                errors.add(name.span(), message);
            }
        }
    }

    /// Reports those of some arguments by value that neither clauses nor the declarations of
    /// buffers use.
    pub(super) fn check_values(&self, some: &[String], clauses: &TokenStream, errors: &mut Errors) {
        let inputs = self.signature.inputs.iter();
        let attributes = inputs.flat_map(|input| match input {
            FnArg::Typed(typed) => &typed.attrs[..],
            FnArg::Receiver(_) => &[],
        });
        let mut used = names(clauses.clone());
        used.extend(attributes.flat_map(|attribute| names(attribute.to_token_stream())));
        for input in &self.signature.inputs {
            if let FnArg::Typed(typed) = input
                && let Pat::Ident(pattern) = &*typed.pat
                && some.iter().any(|name| pattern.ident.unraw() == *name)
                && !used
                    .iter()
                    .any(|name| name.unraw() == pattern.ident.unraw())
            {
                let name = &pattern.ident;
                errors.add(name.span(), format!("no statement uses `{name}`"));
            }
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

/// An argument with a plain name.
pub(super) fn typed(input: &FnArg) -> Option<(&PatType, &Ident)> {
    let FnArg::Typed(typed) = input else {
        return None;
    };
    match &*typed.pat {
        Pat::Ident(pattern) => Some((typed, &pattern.ident)),
        _ => None,
    }
}

/// The names in the length that an attribute gives a buffer.
fn names_in_length(attribute: &Attribute) -> Vec<Ident> {
    let Meta::List(list) = &attribute.meta else {
        return Vec::new();
    };
    let words = pieces(list.tokens.clone()).into_iter().map(names);
    let lengths = words.filter(|words| words.first().is_some_and(|word| word == "len"));
    lengths
        .flat_map(|words| words.into_iter().skip(1))
        .collect()
}

/// Whether formulas ask what the device has, `device.LIMIT`.
fn asks_device(clauses: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = clauses.into_iter().collect();
    let mut pairs = tokens.windows(2);
    let is_asked = pairs.any(|pair| match pair {
        [TokenTree::Ident(name), TokenTree::Punct(dot)] => name == "device" && dot.as_char() == '.',
        _ => false,
    });
    is_asked
        || tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => asks_device(group.stream()),
            _ => false,
        })
}
