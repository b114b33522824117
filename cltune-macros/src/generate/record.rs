//! The link-section record, from which `cargo cltune` reads the declaration.

use cltune_core::declaration::Declaration;
use cltune_core::record::{SECTION_COFF, SECTION_ELF, SECTION_MACHO, encode};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// A static in the section of the target's object format. The tunable refers to it as well, for
/// tuning at run time.
pub(super) fn record(declaration: &Declaration) -> TokenStream {
    let bytes = encode(declaration);
    let length = Literal::usize_unsuffixed(bytes.len());
    let bytes = Literal::byte_string(&bytes);
    quote! {
        #[doc(hidden)]
        #[used]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = #SECTION_MACHO))]
        #[cfg_attr(windows, unsafe(link_section = #SECTION_COFF))]
        #[cfg_attr(
            not(any(target_vendor = "apple", windows)),
            unsafe(link_section = #SECTION_ELF)
        )]
        static RECORD: [::core::primitive::u8; #length] = *#bytes;
    }
}
