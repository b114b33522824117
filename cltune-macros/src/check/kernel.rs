//! A look for the kernels that a declaration names in its source.
//!
//! Only the driver's preprocessor knows what functions a source has. What it cannot have shows
//! here, when the program is compiled: a name that does not occur in it, where no macro can make it
//! up.

use crate::errors::{Errors, did_you_mean};
use crate::parse::{Attribute, StepSyntax};
use cltune_core::model::{Model, mentioned};
use cltune_core::parameter::Domain;
use cltune_formats::declaration::{Declaration, Reference};
use proc_macro2::Span;

/// Checks the names of all kernels; `function` is where the tunable's is when no clause names it.
pub(super) fn check(
    attribute: &Attribute,
    function: Span,
    declaration: &Declaration,
    errors: &mut Errors,
) {
    let model = &declaration.model;
    look(model, model, &stage_places(attribute, function), errors);
    let prepare = attribute.prepare.as_ref().map(|clause| &clause.value);
    let reference = attribute.reference.as_ref();
    let reference = reference.and_then(|clause| clause.value.as_ref());
    let of_reference = match &declaration.reference {
        Reference::Default => None,
        Reference::Own(computation) => Some(computation),
    };
    let computations = [
        (prepare, declaration.prepare.as_ref()),
        (reference, of_reference),
    ];
    for (written, computation) in computations {
        let Some((written, computation)) = written.zip(computation) else {
            continue;
        };
        let kernel = written.kernel.as_ref();
        let mut places: Vec<_> = kernel
            .map(|kernel| (kernel.span(), ""))
            .into_iter()
            .collect();
        collect(&written.steps, &mut places);
        look(model, &computation.model(model), &places, errors);
    }
}

/// Looks for the kernels of all stages of `of`, which are named in these places.
fn look(model: &Model, of: &Model, places: &[(Span, &str)], errors: &mut Errors) {
    let source = without_places(&of.source);
    for (stage, (span, hint)) in of.stages().into_iter().zip(places) {
        // Which kernels a name with parameters in it stands for, only a configuration tells.
        if !stage.kernel.contains('{') && !may_have(model, &source, &stage.kernel) {
            errors.add(*span, missing(&source, &stage.kernel, hint));
        }
    }
}

/// Where the kernels of steps are named.
fn collect(steps: &[StepSyntax], places: &mut Vec<(Span, &'static str)>) {
    for step in steps {
        match step {
            StepSyntax::Launch(stage) => places.push((stage.kernel.span, "")),
            StepSyntax::Repeat { steps, .. } => collect(steps, places),
            _ => {}
        }
    }
}

/// Where the kernels of the stages are named, and what to say about it.
fn stage_places(attribute: &Attribute, function: Span) -> Vec<(Span, &'static str)> {
    if let Some(stages) = &attribute.stages {
        let mut places = Vec::new();
        collect(&stages.value, &mut places);
        return places;
    }
    vec![match &attribute.kernel {
        Some(clause) => (clause.value.span(), ""),
        None => (
            function,
            ", the Rust function's name; `kernel = \"…\"` names another",
        ),
    }]
}

/// A source without the lines that say where it is from, for example from the body of the function
/// which has that very name.
fn without_places(source: &str) -> String {
    let lines = source.lines().filter(|line| !line.starts_with("#line "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the name occurs where a kernel's name can come from.
fn may_have(model: &Model, source: &str, kernel: &str) -> bool {
    let mut names = vec![(kernel.to_owned(), String::new())];
    // The values of named parameters are pasted into the source.
    for parameter in model.parameters.iter() {
        if let Domain::Names(values) = &parameter.domain {
            let values = values.iter();
            names.extend(values.map(|value| (String::new(), value.to_string())));
        }
    }
    let options: Vec<&str> = model.options.iter().map(|option| &*option.text).collect();
    let mentioned = mentioned(source, &options.join(" "), names);
    mentioned.iter().any(|(name, _)| name == kernel)
}

fn missing(source: &str, kernel: &str, hint: &str) -> String {
    let words = source.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let near = did_you_mean(kernel, words);
    format!("the source has no kernel `{kernel}`{hint}{near}")
}
