//! Names that clash, and the names of the kernel and of its results in the lockfile.

use super::identifiers::macro_name;
use super::parameters::Parameter;
use crate::errors::{Errors, did_you_mean};
use crate::parse::{Argument, Attribute, Spanned};
use cltune_core::parameter::{self, Domain, is_c_identifier};
use proc_macro2::{Ident, Span};
use std::collections::HashMap;
use syn::LitStr;
use syn::ext::IdentExt;

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
        let name = local.array.name.unraw().to_string();
        if known.contains(&name) {
            let message = format!("there is another argument `{name}`; rename one of them");
            errors.add(local.array.name.span(), message);
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

/// Reports what is no name of a kernel once each `{PARAMETER}` in it is replaced by a value.
pub(super) fn check_kernel_pattern(
    pattern: &str,
    span: Span,
    parameters: &[parameter::Parameter],
    errors: &mut Errors,
) {
    let mut rest = pattern;
    let mut name = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        let Some((inside, after)) = after.split_once('}') else {
            errors.add(span, "the name of the kernel has a `{` without its `}`");
            return;
        };
        if !parameters.iter().any(|parameter| parameter.name == inside) {
            let known = parameters.iter().map(|parameter| parameter.name.as_ref());
            let near = did_you_mean(inside, known);
            errors.add(span, format!("there is no parameter `{inside}`{near}"));
            return;
        }
        name.push_str(before);
        name.push('0');
        rest = after;
    }
    name.push_str(rest);
    if !is_c_identifier(&name) {
        errors.add(
            span,
            "the name of a `__kernel` function consists of ASCII letters, digits and `_`",
        );
    }
}
