//! The `#[fused]` attribute: statements over whole buffers become the kernels that compute them,
//! and the kernels become a tunable of several stages.
//!
//! | file | owns |
//! |---|---|
//! | `item` | the annotated function: its signature and its statements |
//! | `value` | typed expressions over elements, and their text in OpenCL C |
//! | `operations` | operations on typed values, with the type and shape of the result |
//! | `functions` | the functions that expressions may call |
//! | `literals` | whether types hold the numbers that are written |
//! | `program` | the statements, with types and lengths checked |
//! | `read` | from syntax to the program, every mistake at its token |
//! | `tokens` | tokens as text |
//! | `plan` | the passes over memory that the statements take, fused or one by one |
//! | `finish` | what follows them: parts folded, and numbers computed, by one work-group |
//! | `folded` | a statement that reduces: what is folded, in which memory |
//! | `folds` | reductions in the source |
//! | `index_folds`, `norm_folds` | those of indexes, and of squares without overflow |
//! | `strides` | vectors with an offset and a stride in the source |
//! | `matrices`, `matrix_operations` | matrices as they are declared; vectors spread over them, and transposed ones |
//! | `arguments` | kernels that were written, and their arguments in the source |
//! | `writer` | the kernels of loops over vectors |
//! | `elements` | elements of matrices in the source |
//! | `lines`, `across`, `product` | the kernels that go through lines, fold all lines to one, multiply matrices |
//! | `product_source` | the source of products: tiles, registers, sums |
//! | `kernels` | the OpenCL source of the passes, and of the reference |
//! | `grids` | parameters, constraints and sizes of kernels over matrices |
//! | `template` | what the database of template defaults is asked for |
//! | `tunable` | the attribute and the function that `#[tunable]` would be given |
//!
//! `plan` follows the segmentation of ViennaCL's generator (Rupp et al., *ViennaCL*, SIAM J. Sci.
//! Comput. 38, 2016, section 4.3): statements are reordered where results stay the same, so that as
//! many as possible share a pass.

mod across;
mod arguments;
mod elements;
mod finish;
mod folded;
mod folds;
mod functions;
mod grids;
mod index_folds;
mod item;
mod kernels;
mod lines;
mod literals;
mod matrices;
mod matrix_operations;
mod norm_folds;
mod operations;
mod plan;
mod product;
mod product_source;
mod program;
mod read;
mod strides;
mod template;
mod tokens;
mod tunable;
mod value;
mod writer;

#[cfg(test)]
#[path = "../../tests/unit/fused.rs"]
mod tests;

#[cfg(test)]
#[path = "../../tests/unit/fused_matrices.rs"]
mod matrix_tests;

use crate::environment::Environment;
use crate::errors::Errors;
use crate::expand::expand_parsed;
use crate::parse::{Attribute, Body, Item};
use item::FusedItem;
use proc_macro2::TokenStream;
use syn::ext::IdentExt;

/// The expansion of an annotated function: that of a tunable, or its mistakes and a stub.
pub(crate) fn expand(
    attribute: &TokenStream,
    item: &TokenStream,
    environment: Result<Environment, String>,
) -> TokenStream {
    let mut parsed: FusedItem = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = error.to_compile_error();
            return quote::quote!(#error #item);
        }
    };
    let mut errors = Errors::default();
    let written = Attribute::parse(attribute.clone(), &mut errors);
    tunable::refuse_clauses(&written, &mut errors);
    let program = read::program(&parsed, &mut errors);
    let is_dimension = |name: &str| {
        let mut sizes = written.tune.iter().flat_map(|clause| &clause.value);
        sizes.any(|assignment| assignment.name.unraw() == *name)
    };
    let values = program.while_tuning.iter();
    let values: Vec<_> = values.filter(|(name, _)| !is_dimension(name)).collect();
    parsed.mark_values(&values);
    if !errors.is_empty() {
        // What is left of the declaration is checked, and stands in for the item.
        let item = parsed.with_body(Body::None);
        return expand_parsed(&written, &item, environment, errors);
    }
    let made = tunable::tunable(&program, &written);
    let attribute = tunable::joined(attribute, &made.clauses);
    let mut attribute = Attribute::parse(attribute, &mut errors);
    attribute.template = template::template(&program);
    let is_right = errors.is_empty();
    parsed.mark_host_only(&made.host_only);
    let item: Item = parsed.with_body(Body::Source(made.source));
    let mut expansion = expand_parsed(&attribute, &item, environment, errors);
    for name in program.unused.iter().filter(|_| is_right) {
        // The compiler warns of a variable that is not used.
        expansion.extend(quote::quote!(const _: fn() = || { let #name = (); };));
    }
    for name in program.overwritten.iter().filter(|_| is_right) {
        // And of a value that is replaced before it is read.
        let overwritten = quote::quote_spanned!(name.span()=> #name = (););
        expansion.extend(quote::quote!(const _: fn() = || {
            let mut #name;
            #overwritten
            #name = ();
            ::core::hint::black_box(#name);
        };));
    }
    expansion
}
