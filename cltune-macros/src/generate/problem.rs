//! The typed problem dimensions: `Problem`.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

/// `Problem` with its conversion.
pub(super) fn problem(dimensions: &[Ident]) -> TokenStream {
    let docs = dimensions
        .iter()
        .map(|dimension| format!("The argument `{}`.", dimension.unraw()));
    let count = Literal::usize_unsuffixed(dimensions.len());
    quote! {
        /// A problem: the sizes that a configuration is chosen for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct Problem {
            #(#[doc = #docs] pub #dimensions: ::core::primitive::i64,)*
        }

        impl Problem {
            /// The sizes in the order of the declaration.
            pub const fn to_dims(&self) -> [::core::primitive::i64; #count] {
                [#(self.#dimensions),*]
            }
        }
    }
}
