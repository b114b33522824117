//! The clauses of the attribute: those that are taken, those that are made and therefore refused, and
//! both together.

use crate::errors::Errors;
use crate::parse::{Attribute, CLAUSES};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;

/// The clauses that `#[fused]` makes itself, and where each is written.
fn made_clauses(written: &Attribute) -> [(&'static str, Option<Span>); 16] {
    [
        ("source", written.source.as_ref().map(|clause| clause.span)),
        ("kernel", written.kernel.as_ref().map(|clause| clause.span)),
        ("params", written.params.as_ref().map(|clause| clause.span)),
        (
            "constraints",
            written.constraints.as_ref().map(|clause| clause.span),
        ),
        ("global", written.global.as_ref().map(|clause| clause.span)),
        ("local", written.local.as_ref().map(|clause| clause.span)),
        ("offset", written.offset.as_ref().map(|clause| clause.span)),
        (
            "local_memory",
            written.local_memory.as_ref().map(|clause| clause.span),
        ),
        (
            "local_args",
            written.local_args.as_ref().map(|clause| clause.span),
        ),
        (
            "reference",
            written.reference.as_ref().map(|clause| clause.span),
        ),
        (
            "defines",
            written.defines.as_ref().map(|clause| clause.span),
        ),
        (
            "defaults",
            written.defaults.as_ref().map(|clause| clause.span),
        ),
        (
            "even_work",
            written.even_work.as_ref().map(|clause| clause.span),
        ),
        ("split", written.split.as_ref().map(|clause| clause.span)),
        (
            "scratch",
            written.scratch.as_ref().map(|clause| clause.span),
        ),
        ("stages", written.stages.as_ref().map(|clause| clause.span)),
    ]
}

/// The clauses that it takes.
pub(super) fn offered() -> Vec<&'static str> {
    let made = made_clauses(&Attribute::default());
    let is_made = |clause: &&str| made.iter().any(|(word, _)| word == clause);
    CLAUSES
        .into_iter()
        .filter(|clause| !is_made(clause))
        .collect()
}

/// Reports clauses that say what `#[fused]` makes itself.
pub(super) fn refuse_clauses(written: &Attribute, errors: &mut Errors) {
    for (word, span) in made_clauses(written) {
        if let Some(span) = span {
            let message = format!(
                "`#[fused]` makes `{word}` from the statements: leave it out, or declare the kernels \
                 yourself with `#[tunable]`"
            );
            errors.add(span, message);
        }
    }
}

/// Reports clauses that are about one tunable, where there are several.
pub(super) fn refuse_for_parts(written: &Attribute, errors: &mut Errors) {
    let spans = [
        (
            "prepare",
            written.prepare.as_ref().map(|clause| clause.span),
        ),
        ("bytes", written.bytes.as_ref().map(|clause| clause.span)),
        ("flops", written.flops.as_ref().map(|clause| clause.span)),
    ];
    for (word, span) in spans {
        if let Some(span) = span {
            let message = format!(
                "`{word}` is about one tunable, and here the statements before and after a product of the \
                 library are one each: leave it out"
            );
            errors.add(span, message);
        }
    }
}

/// The clauses that were written, and those that are made.
pub(super) fn joined(written: &TokenStream, made: &TokenStream) -> TokenStream {
    if written.is_empty() {
        return made.clone();
    }
    let ends_with_comma =
        written.clone().into_iter().last().is_some_and(
            |token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','),
        );
    let comma = (!ends_with_comma).then(|| quote!(,));
    quote!(#written #comma #made)
}
