//! The functions that divide a call among several devices: one for each dimension of `split(…)`,
//! and one that leaves it to a scheduler.

use super::context::Context;
use super::{launch, statics};
use crate::check::CheckedDivision;
use crate::parse::{Argument, ArgumentType};
use cltune_core::split::{Division, Partition};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

/// `split_n(…)` for every divided dimension `n`, and beside the first one `enqueue(…)`.
pub(super) fn functions(context: &Context<'_>) -> TokenStream {
    let divisions = context.checked.divisions.iter().enumerate();
    let functions = divisions.map(|(position, division)| {
        let function = function(context, division);
        let enqueue = (position == 0).then(|| enqueue(context));
        // What it names is in a feature of the run time. Where that is off, the error is at the
        // clause.
        let krate = context.krate.to_token_stream().into_iter();
        let krate = krate.map(|mut token| {
            token.set_span(token.span().located_at(division.dimension.span()));
            token
        });
        quote_spanned!(division.dimension.span()=> #(#krate)* ::__split_clause! { #function #enqueue })
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
            let args = args(context, "SplitArg", ["slice", "slice_mut"]);
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

/// The function that enqueues a call on a scheduler.
fn enqueue(context: &Context<'_>) -> TokenStream {
    let krate = context.krate;
    let scheduler = Ident::new("scheduler", Span::mixed_site());
    let inputs = launch::inputs(
        context,
        |element| quote!(#krate::schedule::Matrix<#element>),
    );
    let declared = context.checked.divisions.iter();
    let declared: Option<Vec<&Division>> = declared.map(|of| of.division.as_ref()).collect();
    let body = match declared {
        None => quote!(::core::unreachable!()),
        Some(declared) => {
            let divisions = declared.into_iter().map(|of| division(krate, of));
            let dims = launch::dims(context);
            let args = args(context, "ScheduleArg", ["matrix", "matrix_mut"]);
            quote! {
                static DIVISIONS: &[#krate::__private::core::split::Division] = &[#(#divisions),*];
                #krate::__private::enqueue(&TUNABLE, DIVISIONS, #scheduler, &#dims, &#args)
            }
        }
    };
    quote! {
        /// Enqueues it on matrices in host memory, and returns at once. The scheduler computes it
        /// piece by piece on its devices, divided along the dimensions of `split(…)`. The kernel
        /// sees the elements of a matrix as they lie.
        ///
        /// # Errors
        /// Matrices whose lines are no parts of shares, that are too short, or of another
        /// scheduler; a tunable without a result; when no device has a configuration.
        pub fn enqueue(
            #scheduler: &#krate::schedule::Scheduler,
            #inputs
        ) -> ::core::result::Result<(), #krate::schedule::ScheduleError> {
            #body
        }
    }
}

/// The kernel's arguments, without local memory: `[TYPE; N]`. Buffers have these constructors.
fn args(context: &Context<'_>, ty: &str, [read, written]: [&str; 2]) -> TokenStream {
    let krate = context.krate;
    let ty = format_ident!("{ty}");
    let passed = context
        .checked
        .arguments
        .iter()
        .filter(|argument| argument.options.host_only.is_none());
    let args = passed.map(|Argument { name, kind, .. }| {
        let (constructor, value) = match kind {
            Some(ArgumentType::Buffer { mutable: true, .. }) => (written, quote!(#name)),
            Some(ArgumentType::Buffer { .. }) => (read, quote!(#name)),
            // Calls with images are not divided, which was reported.
            Some(ArgumentType::Scalar(_) | ArgumentType::Image(_)) | None => {
                ("scalar", quote!(&#name))
            }
        };
        let constructor = format_ident!("{constructor}");
        quote!(#krate::__private::#ty::#constructor(#value))
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
