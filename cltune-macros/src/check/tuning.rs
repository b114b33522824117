//! The clauses that only the tuner needs: the default configuration, compile options, the
//! reference.

use super::formulas::{self, Names, Scopes};
use super::parameters::Parameter;
use super::{domain, names, source};
use crate::environment::Environment;
use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{Assignment, OptionSyntax, ReferenceSyntax, Spanned};
use cltune_core::declaration::SourceFile;
use cltune_core::declaration::{Reference, ReferenceKernel};
use cltune_core::expr::Type;
use cltune_core::model::CompileOption;
use syn::ext::IdentExt;

/// The clause `defaults(…)`, as codes.
pub(super) fn defaults(
    clause: Option<&Spanned<Vec<Assignment>>>,
    parameters: &[Parameter],
    grammatical: bool,
    errors: &mut Errors,
) -> Option<Vec<i64>> {
    let clause = clause?;
    let mut codes = vec![None; parameters.len()];
    let mut given = vec![false; parameters.len()];
    for Assignment { name, value } in &clause.value {
        let position = parameters
            .iter()
            .position(|parameter| parameter.ident.unraw() == name.unraw());
        let Some(position) = position else {
            if grammatical {
                errors.add(
                    name.span(),
                    unknown_parameter(&name.to_string(), parameters),
                );
            }
            continue;
        };
        if std::mem::replace(&mut given[position], true) {
            errors.add(
                name.span(),
                format!("the default of `{name}` is given twice; keep one"),
            );
            continue;
        }
        let parameter = &parameters[position];
        if let (Some(value), Some(domain)) = (value, &parameter.domain) {
            codes[position] = errors.take(domain::member(value, &parameter.ident, domain));
        }
    }
    let missing: Vec<String> = parameters
        .iter()
        .zip(&given)
        .filter(|(_, given)| !**given)
        .map(|(parameter, _)| parameter.ident.unraw().to_string())
        .collect();
    if !missing.is_empty() && grammatical {
        let message = format!(
            "`defaults` names every parameter; missing: {}",
            quoted(&missing)
        );
        errors.add(clause.span, message);
    }
    codes.into_iter().collect()
}

fn unknown_parameter(name: &str, parameters: &[Parameter]) -> String {
    let known: Vec<String> = parameters
        .iter()
        .map(|parameter| parameter.ident.unraw().to_string())
        .collect();
    let near = did_you_mean(name, known.iter().map(String::as_str));
    match &*known {
        [] => format!("there is no parameter `{name}`; the tunable has none"),
        known => format!(
            "there is no parameter `{name}`{near}; parameters: {}",
            quoted(known)
        ),
    }
}

/// The clause `options(…)`.
pub(super) fn options(
    clause: Option<&Spanned<Vec<OptionSyntax>>>,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Vec<CompileOption> {
    let options = clause.iter().flat_map(|clause| &clause.value);
    options
        .map(|option| {
            let text = option.text.value();
            if text.trim().is_empty() || text.contains(['\0', '\n', '\r']) {
                errors.add(
                    option.text.span(),
                    "a compile option is not empty and has no line ends, for example \
                     `\"-cl-fast-relaxed-math\"`",
                );
            }
            let condition = option.condition.as_ref().and_then(|condition| {
                let formula = scopes.formula(condition, Type::Bool, Names::All, errors)?;
                if let Some(Ok(value)) = formulas::constant(&formula) {
                    let what = if value == 0 { "never" } else { "always" };
                    let message = format!(
                        "this option is {what} given: its condition uses neither parameters, nor \
                         problem dimensions, nor device limits"
                    );
                    errors.push(syn::Error::new_spanned(condition, message));
                }
                Some(formula)
            });
            CompileOption {
                text: text.into(),
                condition,
            }
        })
        .collect()
}

/// A reference and the files its source was read from.
pub(super) struct CheckedReference {
    pub(super) value: Reference,
    pub(super) files: Vec<SourceFile>,
}

/// The clause `reference`.
pub(super) fn reference(
    clause: Option<&Spanned<Option<ReferenceSyntax>>>,
    environment: &Environment,
    scopes: &Scopes,
    errors: &mut Errors,
) -> CheckedReference {
    let mut checked = CheckedReference {
        value: Reference::Default,
        files: Vec::new(),
    };
    let Some(clause) = clause else {
        return checked;
    };
    let Some(written) = &clause.value else {
        return checked;
    };
    let source = written.source.as_ref().map(|path| {
        let source = source::file(path, environment, errors);
        checked.files.extend(source.files);
        source.text
    });
    let at = |expressions: &Option<Vec<syn::Expr>>| {
        expressions.as_ref().map(|expressions| Spanned {
            value: expressions.clone(),
            span: clause.span,
        })
    };
    let (global, local) = (at(&written.global), at(&written.local));
    let names = Names::NoParameters("a reference is the same for all configurations");
    let sizes = |size: &Option<Spanned<Vec<syn::Expr>>>, errors: &mut Errors| {
        size.as_ref().map_or_else(Vec::new, |size| {
            formulas::sizes(size, scopes, names, errors)
        })
    };
    if let Some(local) = &local {
        formulas::check_rank(local, global.as_ref(), errors);
    }
    let global_size = sizes(&global, errors);
    let local_size = sizes(&local, errors);
    let Some(kernel) = &written.kernel else {
        if scopes.is_complete() {
            errors.add(
                clause.span,
                "a reference names its kernel: `reference(kernel = \"…\", global(…))`",
            );
        }
        return checked;
    };
    names::check_kernel_name(kernel, errors);
    if global.is_none() && scopes.is_complete() {
        errors.add(
            clause.span,
            "a reference has a global size: `reference(kernel = \"…\", global(…))`",
        );
    }
    checked.value = Reference::Kernel(ReferenceKernel {
        kernel: kernel.value(),
        source,
        global: global_size,
        local: local_size,
    });
    checked
}
