//! The link-section record, from which `cargo cltune` reads the declaration.

use super::context::Context;
use super::structs;
use cltune_formats::record::{SECTION_COFF, SECTION_ELF, SECTION_MACHO, encode};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};

/// A static in the section of the target's object format. The tunable refers to it as well, for
/// tuning at run time.
pub(super) fn record(context: &Context<'_>) -> TokenStream {
    let declaration = &context.checked.declaration;
    let (bytes, length) = if declaration.structs().is_empty() {
        let bytes = encode(declaration);
        let length = Literal::usize_unsuffixed(bytes.len());
        let bytes = Literal::byte_string(&bytes);
        (quote!(*#bytes), length.into_token_stream())
    } else {
        structs::record(context)
    };
    quote! {
        #[doc(hidden)]
        #[used]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = #SECTION_MACHO))]
        #[cfg_attr(windows, unsafe(link_section = #SECTION_COFF))]
        #[cfg_attr(
            not(any(target_vendor = "apple", windows)),
            unsafe(link_section = #SECTION_ELF)
        )]
        static RECORD: [::core::primitive::u8; #length] = #bytes;
    }
}
