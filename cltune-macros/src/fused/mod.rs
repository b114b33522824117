//! The `#[fused]` attribute: statements over whole buffers become the kernels that compute them,
//! and the kernels become a tunable of several stages.
//!
//! | file | owns |
//! |---|---|
//! | `clauses` | the clauses that are taken, and those that are made |
//! | `item` | the annotated function: its signature and its statements |
//! | `value` | typed expressions over elements, and their text in OpenCL C |
//! | `operations` | operations on typed values, with the type and shape of the result |
//! | `functions` | the functions that expressions may call |
//! | `literals` | whether types hold the numbers that are written |
//! | `nesting` | whether expressions are too long |
//! | `program` | the statements, with types and lengths checked |
//! | `read` | from syntax to the program, every mistake at its token |
//! | `tokens` | tokens as text |
//! | `plan` | the passes over memory that the statements take, fused or one by one |
//! | `finish` | what follows them: parts folded, and numbers computed, by one work-group |
//! | `folded` | a statement that reduces: what is folded, in which memory |
//! | `folds` | reductions in the source |
//! | `index_folds`, `norm_folds` | those of indexes, and of squares without overflow |
//! | `strides` | vectors with an offset and a stride in the source |
//! | `streaming` | stores past the caches |
//! | `matrices`, `matrix_operations` | matrices as they are declared; vectors spread over them, and transposed ones |
//! | `arguments` | kernels that were written, and their arguments in the source |
//! | `writer` | the kernels of loops over vectors |
//! | `elements` | elements of matrices in the source |
//! | `lines`, `across`, `product` | the kernels that go through lines, fold all lines to one, multiply matrices |
//! | `product_source` | the source of products: tiles, registers, sums |
//! | `tensor` | the same for tensor cores in double precision |
//! | `library` | arguments that multiply matrices, and calls of them |
//! | `parts` | the tunables between such calls |
//! | `host` | the function that makes the calls and launches the parts |
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
mod clauses;
mod elements;
mod finish;
mod folded;
mod folds;
mod functions;
mod grids;
mod host;
mod index_folds;
mod item;
mod kernels;
mod library;
mod lines;
mod literals;
mod matrices;
mod matrix_operations;
mod nesting;
mod norm_folds;
mod operations;
mod parts;
mod plan;
mod product;
mod product_side;
mod product_source;
mod program;
mod read;
mod streaming;
mod strides;
mod template;
mod tensor;
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

#[cfg(test)]
#[path = "../../tests/unit/fused_library.rs"]
mod library_tests;

use crate::check;
use crate::environment::Environment;
use crate::errors::Errors;
use crate::expand::expand_parsed;
use crate::generate;
use crate::parse::{Attribute, Body, CLAUSES, Item, Spanned};
use item::FusedItem;
use proc_macro2::{Ident, Span, TokenStream};
use program::Program;
use syn::LitStr;
use syn::ext::IdentExt;

/// The expansion of an annotated function: a tunable or several, or its mistakes and a stub.
pub(crate) fn expand(
    attribute: &TokenStream,
    item: &TokenStream,
    environment: Result<Environment, String>,
) -> TokenStream {
    let mut errors = Errors::default();
    let parsed: FusedItem = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        // Its statements are no Rust, and left as they are they would be mistakes once more.
        Err(error) => {
            let Ok(parsed) = FusedItem::without_body(item) else {
                let error = error.to_compile_error();
                return quote::quote!(#error #item);
            };
            errors.push(error);
            parsed
        }
    };
    let written = Attribute::parse(attribute.clone(), &clauses::offered(), &mut errors);
    clauses::refuse_clauses(&written, &mut errors);
    let program = read::program(&parsed, &mut errors);
    let warnings = errors.is_empty().then(|| warnings(&program));
    let clauses = Clauses {
        tokens: attribute,
        written: &written,
    };
    let mut expansion = if parsed.gemms.is_empty() {
        expand_tunable(&program, parsed, clauses, environment, errors, |_| {})
    } else {
        expand_parts(&program, &parsed, clauses, &environment, errors)
    };
    expansion.extend(warnings);
    expansion
}

/// The attribute.
#[derive(Clone, Copy)]
struct Clauses<'a> {
    tokens: &'a TokenStream,
    written: &'a Attribute,
}

/// The tunable of a program. `change` is made to the attribute that it gets.
fn expand_tunable(
    program: &Program,
    mut item: FusedItem,
    clauses: Clauses<'_>,
    environment: Result<Environment, String>,
    mut errors: Errors,
    change: impl FnOnce(&mut Attribute),
) -> TokenStream {
    let Clauses { tokens, written } = clauses;
    let is_dimension = |name: &str| {
        let mut sizes = written.tune.iter().flat_map(|clause| &clause.value);
        sizes.any(|assignment| assignment.name.unraw() == *name)
    };
    let values = program.while_tuning.iter();
    let values: Vec<_> = values.filter(|(name, _)| !is_dimension(name)).collect();
    item.mark_values(&values);
    if !errors.is_empty() {
        // What is left of the declaration is checked, and stands in for the item.
        let item = item.with_body(Body::None);
        return expand_parsed(written, &item, environment, errors);
    }
    let made = tunable::tunable(program, written);
    let attribute = clauses::joined(tokens, &made.clauses);
    let mut attribute = Attribute::parse(attribute, &CLAUSES, &mut errors);
    item.check_names(program, &attribute, &made.clauses, &mut errors);
    item.check_lengths(program, is_dimension, &mut errors);
    let (host_only, others): (Vec<_>, Vec<_>) = made
        .host_only
        .into_iter()
        .partition(|name| is_dimension(name));
    item.check_values(&others, tokens, &mut errors);
    if !errors.is_empty() {
        let item = item.with_body(Body::None);
        return expand_parsed(written, &item, environment, errors);
    }
    attribute.template = template::template(program);
    change(&mut attribute);
    item.mark_host_only(&host_only);
    let item: Item = item.with_body(Body::Source(made.source));
    expand_parsed(&attribute, &item, environment, errors)
}

/// The function of a program with calls of a library, and the tunables of its parts.
fn expand_parts(
    program: &Program,
    item: &FusedItem,
    clauses: Clauses<'_>,
    environment: &Result<Environment, String>,
    mut errors: Errors,
) -> TokenStream {
    let Clauses { tokens, written } = clauses;
    if let Err(reason) = environment {
        return syn::Error::new(Span::call_site(), reason).to_compile_error();
    }
    clauses::refuse_for_parts(written, &mut errors);
    check::check_function(&item.signature, written, &mut errors);
    if errors.is_empty() {
        item.check_values(&parts::unused_values(program), tokens, &mut errors);
    }
    if !errors.is_empty() {
        let mut expansion = errors.to_compile_errors();
        expansion.extend(host::stub(item));
        return expansion;
    }
    let krate = generate::crate_path(written);
    let function = &item.signature.ident;
    let (base, span) = match &written.name {
        Some(clause) => (clause.value.value(), clause.value.span()),
        None => (function.unraw().to_string(), function.span()),
    };
    let also = parts::names_in_clauses(tokens);
    let (steps, statements) = parts::steps(program);
    let mut made = Vec::new();
    let mut tunables = TokenStream::new();
    for (number, statements) in (1..).zip(statements) {
        let name = parts::name(number);
        let key = LitStr::new(&format!("{base}::{name}"), span);
        let part = parts::part(item, program, statements, &name, &krate, &also);
        let is_left_out = |dimension: &Ident| {
            let is_argument = program.operand(&dimension.unraw()).is_some();
            is_argument && part.program.operand(&dimension.unraw()).is_none()
        };
        let change = |attribute: &mut Attribute| {
            for clause in &mut attribute.tune {
                clause.value.retain(|size| !is_left_out(&size.name));
            }
            attribute.tune.retain(|clause| !clause.value.is_empty());
            attribute.name = Some(Spanned { value: key, span });
            attribute.is_part = true;
        };
        let expanded = expand_tunable(
            &part.program,
            part.item,
            clauses,
            environment.clone(),
            Errors::default(),
            change,
        );
        tunables.extend(expanded);
        made.push(part.arguments);
    }
    let mut expansion = host::function(item, program, &steps, &made);
    expansion.extend(generate::module_of_parts(
        &item.visibility,
        function,
        &tunables,
    ));
    expansion
}

/// What the compiler warns of in a function, and cannot see in what is made of it.
fn warnings(program: &Program) -> TokenStream {
    let mut warnings = TokenStream::new();
    for name in &program.unused {
        // A variable that is not used.
        warnings.extend(quote::quote!(const _: fn() = || { let #name = (); };));
    }
    for name in &program.overwritten {
        // A value that is replaced before it is read.
        let overwritten = quote::quote_spanned!(name.span()=> #name = (););
        warnings.extend(quote::quote!(const _: fn() = || {
            let mut #name;
            #overwritten
            #name = ();
            ::core::hint::black_box(#name);
        };));
    }
    warnings
}
