//! The attributes `#[tunable]` and `#[fused]` of cltune. Use them through `cltune`.
//!
//! | folder | owns |
//! |---|---|
//! | `parse/` | the attribute's grammar: tokens to a syntax tree with spans |
//! | `check/` | the rules: syntax tree to a [`cltune_core`] declaration, every mistake at its token |
//! | `fused/` | the attribute `#[fused]`: statements to the kernels and the declaration of a tunable |
//! | `generate/` | the declaration as Rust: function, module, baked table, link-section record |
//!
//! `expand` is the way through them, `environment` is what is read from outside (kernel files, the
//! lockfile), `errors` collects the mistakes. The references of the attributes are `tunable.md` and
//! `fused.md`.

#![forbid(unsafe_code)]
// What `#[fused]` alone uses stays beside what is like it. The workspace builds and checks all of
// it.
#![cfg_attr(not(feature = "fused"), allow(dead_code, unused_imports))]

mod check;
mod environment;
mod errors;
mod expand;
#[cfg(feature = "fused")]
mod fused;
mod generate;
mod kernel_struct;
mod parse;
#[cfg(test)]
#[path = "../tests/unit/mod.rs"]
mod tests;

use proc_macro::TokenStream;

// The examples of the references use `cltune`, which this crate must not: `tests/src/lib.rs` runs
// them.

#[cfg_attr(not(doctest), doc = include_str!("tunable.md"))]
#[proc_macro_attribute]
pub fn tunable(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let environment = environment::Environment::current();
    expand::expand(attribute.into(), &item.into(), environment).into()
}

#[cfg_attr(not(doctest), doc = include_str!("kernel_struct.md"))]
#[proc_macro_derive(KernelStruct, attributes(kernel_struct))]
pub fn kernel_struct(item: TokenStream) -> TokenStream {
    kernel_struct::expand(item.into()).into()
}

#[cfg(feature = "fused")]
#[cfg_attr(not(doctest), doc = include_str!("fused.md"))]
#[proc_macro_attribute]
pub fn fused(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let environment = environment::Environment::current();
    fused::expand(&attribute.into(), &item.into(), environment).into()
}
