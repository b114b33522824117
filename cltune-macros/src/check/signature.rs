//! The form of the annotated function.

use crate::errors::Errors;
use crate::parse::{Spanned, last_segment};
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned as _;
use syn::{FnArg, GenericArgument, Path, PathArguments, ReturnType, Safety, Signature, Type};

const RETURN: &str = "a tunable returns `Result<Event>`: it enqueues the kernel and does not wait";

/// Refuses what the generated function cannot be.
pub(super) fn check(signature: &Signature, errors: &mut Errors) {
    let mut refuse = |at: Option<Span>, what: &str| {
        if let Some(span) = at {
            errors.add(span, format!("a tunable cannot be {what}"));
        }
    };
    refuse(
        signature.constness.map(|token| token.span()),
        "`const`: launching a kernel calls the driver",
    );
    refuse(
        signature.asyncness.map(|token| token.span()),
        "`async`: a launch does not wait; what it returns is the event to wait for",
    );
    refuse(
        match signature.safety {
            Safety::Unsafe(token) => Some(token.span()),
            Safety::Safe(token) => Some(token.span()),
            Safety::Default => None,
        },
        "`unsafe` or `safe`: its arguments are checked before a launch",
    );
    refuse(
        signature.abi.as_ref().map(|abi| abi.extern_token.span()),
        "`extern`: it is a Rust function that launches the kernel",
    );
    refuse(
        signature
            .variadic
            .as_ref()
            .map(|variadic| variadic.dots.spans[0]),
        "variadic",
    );
    let generics = &signature.generics;
    refuse(
        generics.lt_token.map(|token| token.span()),
        "generic: the types of a kernel's arguments are fixed",
    );
    if generics.lt_token.is_none() {
        refuse(
            generics
                .where_clause
                .as_ref()
                .map(|clause| clause.where_token.span()),
            "generic: the types of a kernel's arguments are fixed",
        );
    }
    let receiver = signature.inputs.iter().find_map(|input| match input {
        FnArg::Receiver(receiver) => Some(receiver.self_token.span()),
        FnArg::Typed(_) => None,
    });
    refuse(
        receiver,
        "a method: declare a free function with `queue: &Queue` as its first argument",
    );
    match &signature.output {
        ReturnType::Default => errors.add(
            signature.paren_token.span.close(),
            format!("the return type is missing: {RETURN}"),
        ),
        ReturnType::Type(_, ty) if !is_result_of_event(ty) => {
            errors.push(syn::Error::new_spanned(ty, RETURN));
        }
        ReturnType::Type(..) => {}
    }
}

/// Refuses a path to the run time that means something else in the function's module.
pub(super) fn check_crate(clause: Option<&Spanned<Path>>, errors: &mut Errors) {
    if let Some(first) = clause.and_then(|clause| relative_start(&clause.value)) {
        errors.add(
            first.span(),
            "write this path from the root: `crate::…` for a module, or the name of the \
             dependency",
        );
    }
}

/// The first name of a path that starts from where it is written.
pub(crate) fn relative_start(path: &Path) -> Option<&Ident> {
    let first = &path.segments.first()?.ident;
    (first == "self" || first == "super" || first == "Self").then_some(first)
}

fn is_result_of_event(ty: &Type) -> bool {
    let Some(result) = last_segment(ty).filter(|segment| segment.ident == "Result") else {
        return false;
    };
    let PathArguments::AngleBracketed(generics) = &result.arguments else {
        return false;
    };
    matches!(generics.args.first(), Some(GenericArgument::Type(ty))
        if last_segment(ty).is_some_and(|segment| segment.ident == "Event"))
}
