//! The declared function.

use super::context::Context;
use super::launch;
use proc_macro2::TokenStream;
use quote::quote;
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

/// The signature as rustc may see it.
pub(super) fn without_argument_attributes(signature: &Signature) -> Signature {
    let mut signature = signature.clone();
    for input in &mut signature.inputs {
        match input {
            FnArg::Typed(typed) => typed.attrs.clear(),
            FnArg::Receiver(receiver) => receiver.attrs.clear(),
        }
    }
    signature
}
