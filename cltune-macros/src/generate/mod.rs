//! From a checked declaration to Rust.
//!
//! | file | owns |
//! |---|---|
//! | `context` | what all of them are given |
//! | `function` | the function that launches the kernel |
//! | `module` | the module of the same name |
//! | `parameters`, `problem` | its typed parameters and dimensions |
//! | `launch` | the call into the run time, for the function and for `launch_with` |
//! | `split` | the functions for several devices |
//! | `structs` | the structs of arguments, whose layouts the compiler finds |
//! | `statics` | core values as constant expressions: the model and its parts |
//! | `table` | the results from the lockfile as constants |
//! | `record` | the link-section record |
//! | `tracking` | what makes cargo expand again; the warning of stale results |
//! | `stub` | what stands in for an item with mistakes |

mod context;
mod function;
mod launch;
mod module;
mod parameters;
mod problem;
mod record;
mod split;
mod statics;
mod structs;
mod stub;
mod table;
mod tracking;

pub(crate) use context::{Context, crate_path};
pub(crate) use function::{check, check_name, without_argument_attributes};
pub(crate) use module::of_parts as module_of_parts;
pub(crate) use stub::stub;

use proc_macro2::TokenStream;
use quote::quote;

/// The whole expansion of a declaration without mistakes.
pub(crate) fn tunable(context: &Context<'_>) -> TokenStream {
    let function = function::function(context);
    let module = module::module(context);
    let tracking = tracking::tracking(context);
    let krate = context.krate;
    let version = env!("CARGO_PKG_VERSION");
    quote! {
        #krate::__generated_by_version! { #version }
        #function
        #module
        const _: () = {
            #tracking
        };
    }
}
