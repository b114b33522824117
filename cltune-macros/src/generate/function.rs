//! The declared function.

use super::context::Context;
use super::launch;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{FnArg, Signature};

/// The function that launches the kernel with the selected values.
pub(super) fn function(context: &Context<'_>) -> TokenStream {
    let Context {
        krate,
        item,
        checked,
    } = context;
    let Some(queue) = &checked.queue else {
        return TokenStream::new();
    };
    let name = context.name();
    let (attributes, visibility) = (&item.attributes, &item.visibility);
    let signature = without_argument_attributes(&item.signature);
    let dims = launch::dims(context);
    let args = launch::args(context);
    quote! {
        #(#attributes)*
        #[allow(clippy::too_many_arguments)]
        #visibility #signature {
            #krate::__private::launch(&#name::TUNABLE, #queue, &#dims, &#args)
        }
    }
}

/// The function that checks what a launch would check, and launches nothing.
pub(crate) fn check(context: &Context<'_>) -> TokenStream {
    let Context { krate, checked, .. } = context;
    let Some(queue) = &checked.queue else {
        return TokenStream::new();
    };
    let (function, name) = (context.name(), check_name(context.name()));
    let inputs = launch::inputs(context, |element| quote!(#krate::Buffer<#element>));
    let dims = launch::dims(context);
    let args = launch::args(context);
    quote! {
        #[doc(hidden)]
        pub fn #name(#queue: &#krate::Queue, #inputs) -> #krate::Result<()> {
            #krate::__private::check(&#function::TUNABLE, #queue, &#dims, &#args)
        }
    }
}

/// The name of the function that checks the arguments of another one.
pub(crate) fn check_name(function: &Ident) -> Ident {
    format_ident!("check_{function}")
}

/// The signature as rustc may see it.
pub(crate) fn without_argument_attributes(signature: &Signature) -> Signature {
    let mut signature = signature.clone();
    for input in &mut signature.inputs {
        match input {
            FnArg::Typed(typed) => typed.attrs.clear(),
            FnArg::Receiver(receiver) => receiver.attrs.clear(),
        }
    }
    signature
}
