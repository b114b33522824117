//! What stands in for an item with mistakes, so that its users give no further errors.

use super::{Context, function, launch, module, parameters, problem};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::FnArg;

/// The function and the module with everything that code may name, and nothing behind it.
pub(crate) fn stub(context: &Context<'_>) -> TokenStream {
    let function = stub_function(context);
    let is_method = context
        .item
        .signature
        .inputs
        .iter()
        .any(|input| matches!(input, FnArg::Receiver(_)));
    // Modules cannot stand in an `impl` block.
    let module = (!is_method).then(|| stub_module(context));
    quote! {
        #function
        #module
    }
}

fn stub_function(context: &Context<'_>) -> TokenStream {
    let item = context.item;
    let (attributes, visibility) = (&item.attributes, &item.visibility);
    let signature = function::without_argument_attributes(&item.signature);
    quote! {
        #(#attributes)*
        #[allow(unused_variables, clippy::all, clippy::pedantic)]
        #visibility #signature {
            ::core::unimplemented!()
        }
    }
}

fn stub_module(context: &Context<'_>) -> TokenStream {
    let Context {
        krate,
        item,
        checked,
    } = context;
    let parameters = parameters::parameters(krate, &checked.parameters);
    let problem = problem::problem(&checked.dimensions);
    let inputs = launch::inputs(context);
    let [params, queue] = ["params", "queue"].map(|name| syn::Ident::new(name, Span::mixed_site()));
    let content = quote! {
        /// The declaration has mistakes.
        pub static TUNABLE: #krate::Tunable = ::core::panic!("the declaration has mistakes");
        #parameters
        #problem
        /// The declaration has mistakes.
        pub const BAKED: &[#krate::Baked<Params, Problem>] = &[];
        /// The declaration has mistakes.
        pub fn select(
            _: &#krate::Device,
            _: Problem,
        ) -> #krate::Result<#krate::Selection<Params>> {
            ::core::unimplemented!()
        }
        /// The declaration has mistakes.
        pub fn default_params(_: &#krate::Device, _: Problem) -> #krate::Result<Params> {
            ::core::unimplemented!()
        }
        /// The declaration has mistakes.
        #[allow(unused_variables)]
        pub fn launch_with(
            #params: &Params,
            #queue: &#krate::Queue,
            #inputs
        ) -> #krate::Result<#krate::Event> {
            ::core::unimplemented!()
        }
    };
    module::wrap(&item.visibility, context.name(), &content)
}
