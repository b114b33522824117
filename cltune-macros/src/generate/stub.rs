//! A stub in place of an item with mistakes, so that its users give no further errors.

use super::context::Context;
use super::{function, module};
use crate::check::relative_start;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, Pat, PatIdent};

/// The function with nothing behind it, and the module with everything that code may name.
pub(crate) fn stub(context: &Context<'_>) -> TokenStream {
    let function = stub_function(context);
    let module = if may_have_module(context) {
        module::module(context)
    } else {
        TokenStream::new()
    };
    quote! {
        #function
        #module
    }
}

fn stub_function(context: &Context<'_>) -> TokenStream {
    let item = context.item;
    let (attributes, visibility) = (&item.attributes, &item.visibility);
    let mut signature = function::without_argument_attributes(&item.signature);
    // A type that was reported may be wrong for the compiler, too.
    let is_wrong = |pattern: &PatIdent| {
        let mut arguments = context.checked.arguments.iter();
        arguments.any(|argument| argument.kind.is_none() && argument.name == pattern.ident)
    };
    for input in &mut signature.inputs {
        if let FnArg::Typed(typed) = input
            && let Pat::Ident(pattern) = &*typed.pat
            && is_wrong(pattern)
        {
            *typed.ty = syn::parse_quote!(impl ::core::marker::Sized);
        }
    }
    quote! {
        #(#attributes)*
        #[allow(unused_variables, clippy::all, clippy::pedantic)]
        #visibility #signature {
            ::core::unreachable!()
        }
    }
}

/// A module cannot stand in an `impl` block, and needs the run time, whose path may be the mistake.
fn may_have_module(context: &Context<'_>) -> bool {
    let is_receiver = |input: &FnArg| matches!(input, FnArg::Receiver(_));
    let is_method = context.item.signature.inputs.iter().any(is_receiver);
    !is_method && relative_start(context.krate).is_none()
}
