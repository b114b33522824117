//! The functions that divide a call among several devices, one for each dimension of `split(…)`.

use super::context::Context;
use super::{launch, statics};
use crate::check::CheckedDivision;
use crate::parse::{Argument, ArgumentType};
use cltune_core::split::{Division, Partition};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

/// `split_n(…)` for every divided dimension `n`.
pub(super) fn functions(context: &Context<'_>) -> TokenStream {
    let divisions = context.checked.divisions.iter();
    let functions = divisions.map(|division| {
        let function = function(context, division);
        // What it names is in a feature of the run time. Where that is off, the error is at the
        // clause.
        let krate = context.krate.to_token_stream().into_iter();
        let krate = krate.map(|mut token| {
            token.set_span(token.span().located_at(division.dimension.span()));
            token
        });
        quote_spanned!(division.dimension.span()=> #(#krate)* ::__split_clause! { #function })
    });
    functions.collect()
}

fn function(context: &Context<'_>, checked: &CheckedDivision) -> TokenStream {
    let krate = context.krate;
    let dimension = checked.dimension.unraw();
    let name = format_ident!("split_{dimension}", span = checked.dimension.span());
    // An argument of the kernel may have the same name; hygiene keeps them apart.
    let devices = Ident::new("devices", Span::mixed_site());
    let inputs = launch::inputs(context, |element| quote!([#element]));
    let about = format!(
        "Computes it on several devices at the same time, divided along `{dimension}`: each gets the \
         parts of the slices that belong to its share, and its results go to their places. Returns \
         when all results are there."
    );
    let body = match &checked.division {
        None => quote!(::core::unreachable!()),
        Some(declared) => {
            let others = context.checked.divisions.iter();
            let others = others.filter_map(|other| other.division.as_ref());
            let others = others.filter(|other| other.dimension != declared.dimension);
            let others = others.map(|other| division(krate, other));
            let division = division(krate, declared);
            let dims = launch::dims(context);
            let args = args(context);
            quote! {
                static DIVISION: #krate::__private::core::split::Division = #division;
                // A device may compute its share piece by piece along these.
                static OTHERS: &[#krate::__private::core::split::Division] = &[#(#others),*];
                #krate::__private::split(
                    &TUNABLE, &DIVISION, OTHERS, #devices, &#dims, &mut #args,
                )
            }
        }
    };
    quote! {
        #[doc = #about]
        ///
        /// # Errors
        /// When no device can compute it, and for slices that are too short. A device that fails
        /// drops out, and the others do its share.
        pub fn #name(
            #devices: &mut #krate::DeviceSet,
            #inputs
        ) -> #krate::Result<#krate::SplitReport> {
            #body
        }
    }
}

/// The kernel's arguments, without local memory: `[SplitArg; N]`.
fn args(context: &Context<'_>) -> TokenStream {
    let krate = context.krate;
    let passed = context
        .checked
        .arguments
        .iter()
        .filter(|argument| argument.options.host_only.is_none());
    let args = passed.map(|Argument { name, kind, .. }| {
        let (constructor, value) = match kind {
            Some(ArgumentType::Buffer { mutable: true, .. }) => ("slice_mut", quote!(#name)),
            Some(ArgumentType::Buffer { .. }) => ("slice", quote!(#name)),
            // Calls with images are not divided, which was reported.
            Some(ArgumentType::Scalar(_) | ArgumentType::Image(_)) | None => {
                ("scalar", quote!(&#name))
            }
        };
        let constructor = format_ident!("{constructor}");
        quote!(#krate::__private::SplitArg::#constructor(#value))
    });
    quote!([#(#args),*])
}

fn division(krate: &syn::Path, division: &Division) -> TokenStream {
    let dimension = Literal::u16_unsuffixed(division.dimension);
    let granule = statics::formula(&division.granule);
    let arguments = statics::list(&division.arguments, partition);
    quote! {{
        #[allow(unused_imports)]
        use #krate::__private::core::{
            device::DeviceField,
            expr::{Formula, Op, Program},
            split::{Division, Partition},
        };
        #[allow(unused_imports)]
        use ::std::borrow::Cow::Borrowed;
        Division { dimension: #dimension, granule: #granule, arguments: #arguments }
    }}
}

fn partition(partition: &Partition) -> TokenStream {
    match partition {
        Partition::Whole => quote!(Partition::Whole),
        Partition::Shifted => quote!(Partition::Shifted),
        Partition::Parts { rows, halo } => {
            let [rows, halo] =
                [rows, halo].map(|formula| statics::option(formula.as_ref().map(statics::formula)));
            quote!(Partition::Parts { rows: #rows, halo: #halo })
        }
    }
}
