//! The way of a declaration: parse, check, generate.

use crate::check::check;
use crate::environment::Environment;
use crate::errors::Errors;
use crate::generate::{self, Context};
use crate::parse::{Attribute, CLAUSES, Item};
use proc_macro2::{Span, TokenStream};

/// The expansion of an annotated item: what was declared, or its mistakes and a stub.
pub(crate) fn expand(
    attribute: TokenStream,
    item: &TokenStream,
    environment: Result<Environment, String>,
) -> TokenStream {
    let mut errors = Errors::default();
    let parsed: Item = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            // What is no function declaration is left as it is: it may be a valid item.
            let error = error.to_compile_error();
            return quote::quote!(#error #item);
        }
    };
    let attribute = Attribute::parse(attribute, &CLAUSES, &mut errors);
    expand_parsed(&attribute, &parsed, environment, errors)
}

/// The same of a declaration that was read, with the mistakes in it so far.
pub(crate) fn expand_parsed(
    attribute: &Attribute,
    item: &Item,
    environment: Result<Environment, String>,
    mut errors: Errors,
) -> TokenStream {
    let environment = match environment {
        Ok(environment) => environment,
        Err(reason) => return syn::Error::new(Span::call_site(), reason).to_compile_error(),
    };
    let checked = check(attribute, item, &environment, &mut errors);
    let krate = generate::crate_path(attribute);
    let context = Context {
        krate: &krate,
        item,
        checked: &checked,
    };
    let mut expansion = if errors.is_empty() {
        generate::tunable(&context)
    } else {
        let mut expansion = errors.to_compile_errors();
        expansion.extend(generate::stub(&context));
        expansion
    };
    if attribute.is_part {
        expansion.extend(generate::check(&context));
    }
    expansion
}
