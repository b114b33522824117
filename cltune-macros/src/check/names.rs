//! Identifiers: what the preprocessor and Rust take, and names that clash.

use super::Parameter;
use crate::errors::Errors;
use crate::parse::{Argument, Attribute, Spanned};
use cltune_core::parameter::{Domain, is_c_identifier};
use proc_macro2::Ident;
use std::collections::HashMap;
use syn::LitStr;
use syn::ext::IdentExt;

/// Words of OpenCL C that a kernel needs as they are: C99's keywords, OpenCL's qualifiers, and the
/// scalar types.
const OPENCL_WORDS: &str = "auto break case char const continue default do double else enum \
    extern float for goto half if inline int long register restrict return short signed sizeof \
    static struct switch typedef union unsigned void volatile while bool uchar ushort uint ulong \
    size_t ptrdiff_t kernel global local constant private generic __kernel __global __local \
    __constant __private __attribute__ defined";

/// Names of Rust that cannot be written as raw identifiers.
pub(super) const RUST_WORDS: [&str; 5] = ["self", "Self", "super", "crate", "_"];

/// Checks the names of parameters, extra macros and local-memory arguments.
pub(super) fn check(
    attribute: &Attribute,
    arguments: &[Argument],
    parameters: &[Parameter],
    errors: &mut Errors,
) {
    let mut macros: HashMap<String, String> = HashMap::new();
    for parameter in parameters {
        let ident = &parameter.ident;
        let name = ident.unraw().to_string();
        if let Err(reason) = macro_name(&name) {
            errors.add(
                ident.span(),
                format!("`{name}` cannot name a parameter: {reason}"),
            );
            continue;
        }
        if arguments
            .iter()
            .any(|argument| argument.name.unraw() == name)
        {
            let message = format!(
                "`{name}` is also an argument of the function; give one of them another name"
            );
            errors.add(ident.span(), message);
        }
        claim(&mut macros, ident, &name, "the parameter", errors);
        if let Some(Domain::Names(values)) = &parameter.domain {
            for value in values.iter() {
                let value = format!("{name}_{value}");
                let owner = format!("a value of the parameter `{name}`");
                if let Some(other) = macros.insert(value.clone(), owner.clone()) {
                    let message = format!("the macro `{value}` of {owner} is also that of {other}");
                    errors.add(ident.span(), message);
                }
            }
        }
    }
    for define in attribute.defines.iter().flat_map(|clause| &clause.value) {
        let name = define.name.unraw().to_string();
        if let Err(reason) = macro_name(&name) {
            let message = format!("`{name}` cannot name a macro: {reason}");
            errors.add(define.name.span(), message);
            continue;
        }
        claim(&mut macros, &define.name, &name, "the macro", errors);
    }
    let mut known: Vec<String> = arguments
        .iter()
        .map(|argument| argument.name.unraw().to_string())
        .collect();
    for local in attribute.local_args.iter().flat_map(|clause| &clause.value) {
        let name = local.name.unraw().to_string();
        if known.contains(&name) {
            let message = format!("there is another argument `{name}`; rename one of them");
            errors.add(local.name.span(), message);
        }
        known.push(name);
    }
}

fn claim(
    macros: &mut HashMap<String, String>,
    ident: &Ident,
    name: &str,
    what: &str,
    errors: &mut Errors,
) {
    let owner = format!("{what} `{name}`");
    if let Some(other) = macros.insert(name.to_owned(), owner) {
        let message = format!("the macro `{name}` is also that of {other}; rename one of them");
        errors.add(ident.span(), message);
    }
}

/// Why a name cannot be that of a macro of the kernel, if so.
fn macro_name(name: &str) -> Result<(), &'static str> {
    if !is_c_identifier(name) {
        return Err(
            "it becomes a macro of the kernel, so it consists of ASCII letters, digits \
                    and `_`",
        );
    }
    if name == "device" {
        return Err("in formulas it stands for the device's limits");
    }
    if OPENCL_WORDS
        .split_ascii_whitespace()
        .any(|word| word == name)
    {
        return Err("it is a word of OpenCL C, which the macro would replace everywhere");
    }
    Ok(())
}

/// An identifier that may also be a keyword, as a field's name.
pub(super) fn rust_identifier(ident: &Ident) -> Ident {
    let name = ident.to_string();
    match syn::parse_str::<Ident>(&name) {
        Ok(_) => ident.clone(),
        Err(_) => Ident::new_raw(&name, ident.span()),
    }
}

/// Whether it can also be the name of an enum's variant.
pub(super) fn is_rust_identifier(name: &str) -> bool {
    is_c_identifier(name) && !RUST_WORDS.contains(&name)
}

/// The last part of the key in the lockfile.
pub(super) fn lockfile_name(
    clause: Option<&Spanned<LitStr>>,
    function: &str,
    errors: &mut Errors,
) -> String {
    let check = |literal: &LitStr| {
        if !literal.value().split("::").all(is_c_identifier) {
            errors.add(
                literal.span(),
                "a name in the lockfile consists of ASCII letters, digits and `_`, with `::` \
                 between its parts",
            );
        }
    };
    name_or(clause, function, check)
}

/// The name of the `__kernel` function.
pub(super) fn kernel_name(
    clause: Option<&Spanned<LitStr>>,
    function: &str,
    errors: &mut Errors,
) -> String {
    name_or(clause, function, |literal| {
        check_kernel_name(literal, errors);
    })
}

/// The name that a clause gives, checked, or the function's.
fn name_or(
    clause: Option<&Spanned<LitStr>>,
    function: &str,
    check: impl FnOnce(&LitStr),
) -> String {
    let Some(clause) = clause else {
        return function.to_owned();
    };
    check(&clause.value);
    clause.value.value()
}

/// Reports what is no name of a function in OpenCL C.
pub(super) fn check_kernel_name(literal: &LitStr, errors: &mut Errors) {
    if !is_c_identifier(&literal.value()) {
        errors.add(
            literal.span(),
            "the name of a `__kernel` function consists of ASCII letters, digits and `_`",
        );
    }
}
