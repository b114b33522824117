//! From a checked declaration to Rust.
//!
//! | file | owns |
//! |---|---|
//! | `function` | the function that launches the kernel |
//! | `module` | the module of the same name |
//! | `parameters`, `problem` | its typed parameters and dimensions |
//! | `launch` | the call into the run time, for the function and for `launch_with` |
//! | `split` | the functions for several devices |
//! | `statics` | core values as constant expressions: the model and its parts |
//! | `table` | the results from the lockfile as constants |
//! | `record` | the link-section record |
//! | `tracking` | what makes cargo expand again; the warning of stale results |
//! | `stub` | what stands in for an item with mistakes |

mod function;
mod launch;
mod module;
mod parameters;
mod problem;
mod record;
mod split;
mod statics;
mod stub;
mod table;
mod tracking;

pub(crate) use stub::stub;

use crate::check::Checked;
use crate::parse::{Attribute, Item};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Path;

/// What every generator needs.
pub(crate) struct Context<'a> {
    /// Where `cltune_runtime` is.
    pub(crate) krate: &'a Path,
    pub(crate) item: &'a Item,
    pub(crate) checked: &'a Checked,
}

impl Context<'_> {
    fn name(&self) -> &Ident {
        &self.item.signature.ident
    }
}

/// Where `cltune_runtime` is.
pub(crate) fn crate_path(attribute: &Attribute) -> Path {
    match &attribute.krate {
        Some(clause) => clause.value.clone(),
        None => syn::parse_quote!(::cltune_runtime),
    }
}

/// The whole expansion of a declaration without mistakes.
pub(crate) fn tunable(context: &Context<'_>) -> TokenStream {
    let function = function::function(context);
    let module = module::module(context);
    let tracking = tracking::tracking(context.checked);
    quote! {
        #function
        #module
        const _: () = {
            #tracking
        };
    }
}
