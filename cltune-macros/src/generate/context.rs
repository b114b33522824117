//! The input that all generators share.

use crate::check::Checked;
use crate::parse::{Attribute, Item};
use proc_macro2::Ident;
use syn::Path;

/// A checked declaration, its item, and the path of the run time.
pub(crate) struct Context<'a> {
    /// Where `cltune` is.
    pub(crate) krate: &'a Path,
    pub(crate) item: &'a Item,
    pub(crate) checked: &'a Checked,
}

impl Context<'_> {
    pub(super) fn name(&self) -> &Ident {
        &self.item.signature.ident
    }
}

/// Where `cltune` is.
pub(crate) fn crate_path(attribute: &Attribute) -> Path {
    match &attribute.krate {
        Some(clause) => clause.value.clone(),
        None => syn::parse_quote!(::cltune),
    }
}
