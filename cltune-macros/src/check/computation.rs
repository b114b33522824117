//! The clauses `prepare` and `reference`: what the tuner computes for itself.

use super::arguments::KernelArguments;
use super::assemble::{Clauses, Computations};
use super::formulas;
use super::steps::{Checked, Group, Purpose};
use super::{names, source};
use crate::errors::Errors;
use crate::parse::{Argument, ComputationSyntax, Spanned};
use cltune_core::model::{Access, ArgumentKind};
use cltune_formats::declaration::{Compared, Computation, Fill, Reference, SourceFile};
use proc_macro2::{Ident, Span};
use std::collections::HashSet;
use syn::Expr;
use syn::ext::IdentExt;

/// Both clauses.
pub(super) fn computations(
    clauses: Clauses<'_>,
    kernel: &KernelArguments,
    written: &[Argument],
    errors: &mut Errors,
) -> Computations {
    let mut files = Vec::new();
    let prepare = prepare(clauses, kernel, written, &mut files, errors);
    let reference = reference(clauses, kernel, &mut files, errors);
    Computations {
        prepare,
        reference: reference.map_or(Reference::Default, Reference::Own),
        files,
    }
}

fn prepare(
    clauses: Clauses<'_>,
    kernel: &KernelArguments,
    written: &[Argument],
    files: &mut Vec<SourceFile>,
    errors: &mut Errors,
) -> Option<Computation> {
    // Those that cannot be filled at all are reported where they are.
    let is_prepared = |name: &Ident| {
        let mut fills = kernel.arguments.iter().zip(&kernel.fills);
        fills.any(|(argument, fill)| name.unraw() == *argument.name && *fill == Fill::Prepared)
    };
    let prepared = written.iter().filter_map(|argument| {
        let (_, span) = argument.options.fill.as_ref()?;
        is_prepared(&argument.name).then_some((&argument.name, *span))
    });
    let prepared: Vec<_> = prepared.collect();
    let Some(clause) = &clauses.attribute.prepare else {
        if clauses.grammatical {
            for (name, span) in prepared {
                let message = format!(
                    "the steps of the clause `prepare(…)` make the contents of `{name}`, and there \
                     is none"
                );
                errors.add(span, message);
            }
        }
        return None;
    };
    let written = ("prepare", clause.span);
    let (computation, used) = steps(
        &clause.value,
        written,
        Purpose::Prepare,
        clauses,
        kernel,
        files,
        errors,
    );
    if let Some(used) = used {
        if prepared.is_empty() {
            errors.add(
                clause.span,
                "`prepare` makes the contents of no argument: add `#[arg(fill = prepared)]` to \
                 those that its kernels write",
            );
        }
        for (name, span) in prepared {
            if !used.contains(&name.unraw().to_string()) {
                errors.add(span, format!("no step of `prepare` takes `{name}`"));
            }
        }
    }
    Some(computation)
}

fn reference(
    clauses: Clauses<'_>,
    kernel: &KernelArguments,
    files: &mut Vec<SourceFile>,
    errors: &mut Errors,
) -> Option<Computation> {
    let Spanned { value, span } = clauses.attribute.reference.as_ref()?;
    let written = value.as_ref()?;
    if written.steps.is_empty() {
        return one_kernel(written, *span, clauses, kernel, files, errors);
    }
    let of_kernel = written.kernel.as_ref().map(syn::LitStr::span);
    if of_kernel.is_some() || written.global.is_some() || written.local.is_some() {
        errors.add(
            of_kernel.unwrap_or(*span),
            "a reference is one kernel with `kernel`, `global` and `local`, or steps that have \
             these themselves",
        );
    }
    let clause = ("reference", *span);
    let (computation, used) = steps(
        written,
        clause,
        Purpose::Reference,
        clauses,
        kernel,
        files,
        errors,
    );
    if let Some(used) = used {
        let results = kernel.arguments.iter().zip(&kernel.compared);
        let compared = results.filter(|(argument, compared)| {
            let is_written = matches!(argument.kind, ArgumentKind::Buffer { access, .. }
                if access != Access::Read);
            is_written && **compared != Compared::None
        });
        for (argument, _) in compared {
            let name = &argument.name;
            if !used.contains(&**name) {
                let message = format!(
                    "no step of the reference takes `{name}`, whose results are compared \
                     (`#[arg(compare = none)]` leaves them out)"
                );
                errors.add(*span, message);
            }
        }
    }
    Some(computation)
}

/// The steps of a clause, and the names that they take where nothing is wrong so far.
fn steps(
    written: &ComputationSyntax,
    clause: (&'static str, Span),
    purpose: Purpose,
    clauses: Clauses<'_>,
    kernel: &KernelArguments,
    files: &mut Vec<SourceFile>,
    errors: &mut Errors,
) -> (Computation, Option<HashSet<String>>) {
    let group = Group {
        steps: &written.steps,
        scratch: written.scratch.as_deref().unwrap_or_default(),
        locals: written.local_args.as_deref().unwrap_or_default(),
        clause,
    };
    let Checked {
        scratch,
        steps,
        used,
    } = group.check(purpose, clauses, kernel, errors);
    let computation = Computation {
        source: own_source(written, clauses, files, errors),
        scratch,
        steps,
    };
    let is_right = clauses.scopes.is_complete() && errors.is_empty();
    let used = is_right.then(|| {
        group.report_unused(&used, errors);
        used
    });
    (computation, used)
}

fn own_source(
    written: &ComputationSyntax,
    clauses: Clauses<'_>,
    files: &mut Vec<SourceFile>,
    errors: &mut Errors,
) -> Option<String> {
    let source = source::file(written.source.as_ref()?, clauses.environment, errors);
    files.extend(source.files);
    Some(source.text)
}

/// A reference that is one kernel, with the function's arguments.
fn one_kernel(
    written: &ComputationSyntax,
    clause: Span,
    clauses: Clauses<'_>,
    kernel: &KernelArguments,
    files: &mut Vec<SourceFile>,
    errors: &mut Errors,
) -> Option<Computation> {
    let scopes = clauses.scopes;
    let source = own_source(written, clauses, files, errors);
    let at = |expressions: &Option<Vec<Expr>>| {
        expressions.as_ref().map(|expressions| Spanned {
            value: expressions.clone(),
            span: clause,
        })
    };
    let (global, local) = (at(&written.global), at(&written.local));
    let sizes = |size: &Option<Spanned<Vec<Expr>>>, errors: &mut Errors| {
        size.as_ref().map_or_else(Vec::new, |size| {
            formulas::sizes(size, scopes, Purpose::Reference.names(), errors)
        })
    };
    if let Some(local) = &local {
        formulas::check_rank(local, global.as_ref(), errors);
    }
    let global_size = sizes(&global, errors);
    let local_size = sizes(&local, errors);
    if written.scratch.is_some() || written.local_args.is_some() {
        errors.add(
            clause,
            "only the stages of a reference take memory of its own: `reference(stage(…), …)`",
        );
    }
    let Some(name) = &written.kernel else {
        if scopes.is_complete() {
            errors.add(
                clause,
                "a reference names its kernel: `reference(kernel = \"…\", global(…))`",
            );
        }
        return None;
    };
    names::check_kernel_name(name, errors);
    if global.is_none() && scopes.is_complete() {
        errors.add(
            clause,
            "a reference has a global size: `reference(kernel = \"…\", global(…))`",
        );
    }
    let arguments = kernel.arguments.len();
    Some(Computation {
        source,
        ..Computation::of_kernel(name.value(), arguments, global_size, local_size)
    })
}
