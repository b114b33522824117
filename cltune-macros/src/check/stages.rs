//! The steps of a call: those of `stages(…)`, or the one launch that the clauses describe.

use super::arguments::KernelArguments;
use super::assemble::Clauses;
use super::formulas::{self, Names};
use super::names;
use super::steps::{Checked, Group, Purpose};
use crate::errors::Errors;
use crate::parse::Argument;
use cltune_core::model::{Scratch, Stage, Step};
use proc_macro2::Span;
use syn::ext::IdentExt;

/// The scratch buffers and the steps of a call.
pub(super) fn steps(
    clauses: Clauses<'_>,
    kernel: &KernelArguments,
    written: &[Argument],
    errors: &mut Errors,
) -> (Vec<Scratch>, Vec<Step>) {
    let attribute = clauses.attribute;
    let Some(stages) = &attribute.stages else {
        if let Some(clause) = &attribute.scratch {
            errors.add(
                clause.span,
                "only the stages of `stages(…)` can take a scratch buffer",
            );
        }
        let stage = single(clauses, kernel, errors);
        return (Vec::new(), vec![Step::Launch(stage)]);
    };
    refuse_clauses_of_a_launch(clauses, errors);
    let scratch = attribute.scratch.as_ref();
    let locals = attribute.local_args.as_ref();
    let group = Group {
        steps: &stages.value,
        scratch: scratch.map_or(&[], |clause| &clause.value),
        locals: locals.map_or(&[], |clause| &clause.value),
        clause: ("stages", stages.span),
    };
    let Checked {
        scratch,
        steps,
        used,
    } = group.check(Purpose::Call, clauses, kernel, errors);
    if clauses.scopes.is_complete() && errors.is_empty() {
        group.report_unused(&used, errors);
        for name in written.iter().map(|argument| &argument.name) {
            // Formulas may use it, and the reference takes it.
            let dimensions = clauses.scopes.dimensions();
            let is_dimension = dimensions
                .iter()
                .any(|dimension| name.unraw() == **dimension);
            if !used.contains(&name.unraw().to_string()) && !is_dimension {
                errors.add(name.span(), format!("no stage takes `{name}`"));
            }
        }
    }
    (scratch, steps)
}

/// The stage of a tunable that is one launch.
fn single(clauses: Clauses<'_>, kernel: &KernelArguments, errors: &mut Errors) -> Stage {
    let attribute = clauses.attribute;
    let function = clauses.function();
    let local_memory = attribute.local_memory.as_ref();
    Stage {
        kernel: names::kernel_name(attribute.kernel.as_ref(), &function, errors).into(),
        when: None,
        global: clauses.global(errors).into(),
        local: clauses
            .of_same_rank(attribute.local.as_ref(), attribute.global.as_ref(), errors)
            .into(),
        offset: clauses
            .of_same_rank(attribute.offset.as_ref(), attribute.global.as_ref(), errors)
            .into(),
        local_memory: formulas::single(local_memory, clauses.scopes, Names::All, errors),
        arguments: kernel.of_launch.clone().into(),
    }
}

/// The clauses that stand in each stage, or have no meaning for a group of launches.
fn refuse_clauses_of_a_launch(clauses: Clauses<'_>, errors: &mut Errors) {
    let attribute = clauses.attribute;
    let span = |word: &'static str, span: Option<Span>| Some((word, span?));
    let sizes = [
        span(
            "global",
            attribute.global.as_ref().map(|clause| clause.span),
        ),
        span("local", attribute.local.as_ref().map(|clause| clause.span)),
        span(
            "offset",
            attribute.offset.as_ref().map(|clause| clause.span),
        ),
        span(
            "local_memory",
            attribute.local_memory.as_ref().map(|clause| clause.span),
        ),
        span(
            "kernel",
            attribute.kernel.as_ref().map(|clause| clause.span),
        ),
    ];
    for (word, span) in sizes.into_iter().flatten() {
        let message = if word == "kernel" {
            "each stage names its kernel: `stage(KERNEL(…), …)`".to_owned()
        } else {
            format!("with `stages`, each stage has its own `{word}`: write it there")
        };
        errors.add(span, message);
    }
    if let Some(clause) = &attribute.split {
        errors.add(
            clause.span,
            "a group of launches cannot be divided among devices: the stages of one device would \
             need what those of another computed",
        );
    }
    if let Some(clause) = &attribute.even_work {
        errors.add(
            clause.span,
            "`even_work` is about the work-groups of one launch, and this is a group of launches",
        );
    }
}
