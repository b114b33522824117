//! The module with the function's name.

use super::context::Context;
use super::{launch, parameters, problem, record, split, statics, structs, table};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Visibility;
use syn::ext::IdentExt;

/// The module.
pub(super) fn module(context: &Context<'_>) -> TokenStream {
    let krate = context.krate;
    let checked = context.checked;
    let model = statics::model(&checked.declaration.model, context);
    let table = table::used(context, &table::table(&checked.table, krate));
    let parameters = parameters::parameters(krate, &checked.parameters);
    let problem = problem::problem(&checked.dimensions);
    let baked = table::baked(context);
    let queries = queries(krate);
    let launch_with = launch_with(context);
    let split = split::functions(context);
    let record = record::record(context);
    let structs = structs::constants(context);
    let content = quote! {
        /// The declaration and the results that were baked into the program.
        pub static TUNABLE: #krate::Tunable =
            #krate::Tunable::new(#model, #table).with_record(&RECORD);
        #parameters
        #problem
        #baked
        #queries
        #launch_with
        #split
        #record
        #structs
    };
    let name = context.name();
    let about = format!(
        "The tunable `{}`: its parameters, its problem dimensions, its baked results, and which \
         values a device and a problem get.",
        name.unraw()
    );
    wrap(&context.item.visibility, name, &about, &content)
}

/// The module of a function that launches several tunables.
pub(crate) fn of_parts(
    visibility: &Visibility,
    name: &Ident,
    tunables: &TokenStream,
) -> TokenStream {
    let about = format!("The tunables that `{}` launches.", name.unraw());
    wrap(visibility, name, &about, tunables)
}

/// A module with the function's name around `content`.
fn wrap(visibility: &Visibility, name: &Ident, about: &str, content: &TokenStream) -> TokenStream {
    quote! {
        #[doc = #about]
        #[allow(
            dead_code,
            missing_copy_implementations,
            non_camel_case_types,
            non_snake_case,
            unreachable_pub,
            unused_qualifications,
            unused_variables,
            clippy::all,
            clippy::pedantic
        )]
        #visibility mod #name {
            #content
        }
    }
}

/// The functions that ask which values a device and a problem get.
fn queries(krate: &syn::Path) -> TokenStream {
    quote! {
        /// Which configuration a device and a problem get, and why. Nothing is built or launched.
        ///
        /// # Errors
        /// When no configuration is valid for this device and problem.
        pub fn select(
            device: &#krate::Device,
            problem: Problem,
        ) -> #krate::Result<#krate::Selection<Params>> {
            #krate::__private::select::<Params>(&TUNABLE, device, &problem.to_dims())
        }

        /// Which configuration a call on this queue gets, and why: each that is considered, in
        /// order, with its rule and why it is passed over, which includes what this queue's context
        /// could not build or launch so far. Nothing is built or launched.
        ///
        /// # Errors
        /// When the environment variable `CLTUNE_POLICY` cannot be read.
        pub fn explain(
            queue: &#krate::Queue,
            problem: Problem,
        ) -> #krate::Result<#krate::Explanation> {
            #krate::__private::explain(&TUNABLE, queue, &problem.to_dims())
        }

        /// The configuration a device and a problem get where nothing is known: the declared
        /// default, else the first valid one.
        ///
        /// # Errors
        /// When no configuration is valid for this device and problem.
        pub fn default_params(
            device: &#krate::Device,
            problem: Problem,
        ) -> #krate::Result<Params> {
            #krate::__private::default_params::<Params>(&TUNABLE, device, &problem.to_dims())
        }
    }
}

fn launch_with(context: &Context<'_>) -> TokenStream {
    let krate = context.krate;
    // An argument of the kernel may have the same name; hygiene keeps them apart.
    let params = Ident::new("params", Span::mixed_site());
    let queue = Ident::new("queue", Span::mixed_site());
    let inputs = launch::inputs(context, |element| quote!(#krate::Buffer<#element>));
    let dims = launch::dims(context);
    let args = launch::args(context);
    quote! {
        /// Launches the kernel with a given configuration.
        ///
        /// # Errors
        /// A configuration that breaks a constraint or a limit of the device, and whatever a call
        /// of the function itself can fail with.
        pub fn launch_with(
            #params: &Params,
            #queue: &#krate::Queue,
            #inputs
        ) -> #krate::Result<#krate::Event> {
            #krate::__private::launch_with(&TUNABLE, &#params.to_codes(), #queue, &#dims, &#args)
        }
    }
}
