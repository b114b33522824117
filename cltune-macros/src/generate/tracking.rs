//! The files whose change makes cargo expand the declaration again, and the warning of stale
//! results.

use super::context::Context;
use cltune_formats::lockfile::STALE_CONSTANT;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// Items without effect that name each file and variable that was read.
pub(super) fn tracking(context: &Context<'_>) -> TokenStream {
    let checked = context.checked;
    // Paths that are not UTF-8 cannot be written in Rust; such files are read and not tracked.
    let files = checked.tracked.iter().filter_map(|path| path.to_str());
    // Never more than a warning: `cargo cltune`, which tunes again, has to build the package for
    // that.
    let warning = |constant: &str, note: &String| {
        let constant = format_ident!("{constant}");
        quote! {
            #[deprecated(note = #note)]
            #[allow(non_upper_case_globals)]
            const #constant: () = ();
            #[warn(warnings)]
            const _: () = #constant;
        }
    };
    let stale = checked
        .stale
        .iter()
        .map(|note| warning(STALE_CONSTANT, note));
    let missing = checked.missing_lockfile.iter();
    let missing = missing.map(|note| warning("missing_lockfile", note));
    let constant = format_ident!("{STALE_CONSTANT}");
    // The compiler takes the constant of the one or of the other, by what it makes of the structs.
    let stale_structs = checked.if_structs.as_ref().map(|results| {
        let (note, name) = (&results.stale, context.name());
        quote! {
            struct Results<const ARE_USED: ::core::primitive::bool>;
            #[allow(non_upper_case_globals)]
            impl Results<true> {
                const #constant: () = ();
            }
            #[allow(non_upper_case_globals)]
            impl Results<false> {
                #[deprecated(note = #note)]
                const #constant: () = ();
            }
            #[warn(warnings)]
            const _: () = Results::<{ #name::RESULTS_ARE_USED }>::#constant;
        }
    });
    quote! {
        #(const _: &[::core::primitive::u8] = ::core::include_bytes!(#files);)*
        const _: ::core::option::Option<&::core::primitive::str> =
            ::core::option_env!("CLTUNE_LOCK");
        #(#stale)*
        #(#missing)*
        #stale_structs
    }
}
