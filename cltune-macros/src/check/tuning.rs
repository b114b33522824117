//! The default configuration, the compile options, and what is measured.

use super::domain;
use super::formulas::{self, Names, Scopes};
use super::parameters::Parameter;
use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{Assignment, Attribute, OptionSyntax, Spanned};
use cltune_core::measure::{Caches, Measure};
use cltune_core::model::CompileOption;
use cltune_formats::formula::Type;
use syn::ext::IdentExt;

/// The clauses `measure(…)` and `objective(…)`.
pub(super) fn measure(attribute: &Attribute, errors: &mut Errors) -> Measure {
    let caches = attribute.measure.as_ref();
    let objective = attribute.objective.as_ref();
    let measure = Measure {
        caches: caches.map(|clause| clause.value).unwrap_or_default(),
        objective: objective.map(|clause| clause.value).unwrap_or_default(),
    };
    if let Some(clause) = objective
        && measure.objective.needs_energy()
        && measure.caches == Caches::Cold
    {
        errors.add(
            clause.span,
            "what displaces the content of caches takes energy as well, which cannot be told from the kernel's: \
             leave `measure(cold)` or this clause out",
        );
    }
    measure
}

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
