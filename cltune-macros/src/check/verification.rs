//! The clauses about verification: the tolerance and the number of draws.

use super::formulas::{self, Names, Scopes};
use crate::errors::{Errors, did_you_mean};
use crate::parse::{Number, Spanned, ToleranceSyntax, ToleranceValue};
use cltune_core::expr::Formula;
use cltune_formats::declaration::{ElementTolerance, MOST_DRAWS, NormTolerance, Tolerance};
use cltune_formats::formula::Type;
use proc_macro2::{Ident, Span};
use syn::{Expr, LitInt};

const WORDS: [&str; 4] = ["rel", "abs", "l2", "accumulates"];

/// The clause `tolerance(…)`.
pub(super) fn tolerance(
    clause: Option<&Spanned<Vec<ToleranceSyntax>>>,
    grammatical: bool,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Tolerance {
    let mut words = Words::default();
    let Some(clause) = clause else {
        return words.tolerance();
    };
    for part in &clause.value {
        words.read(part, scopes, errors);
    }
    if clause.value.is_empty() && grammatical {
        errors.add(
            clause.span,
            "`tolerance` needs `rel`, `abs`, `l2` or `accumulates`, for example \
             `tolerance(rel = 1e-4)`",
        );
    }
    let tolerance = words.tolerance();
    let is_default_used = match tolerance.norm {
        None => tolerance.elements.is_none(),
        Some(norm) => norm == NormTolerance::Default,
    };
    if let Some(span) = words.accumulates_at.filter(|_| !is_default_used) {
        errors.add(
            span,
            "`accumulates` scales the bounds that follow from the element's type, and here all \
             bounds are numbers: remove it or the numbers (`l2` alone is the norm with such a \
             bound)",
        );
    }
    tolerance
}

/// The clause's words as far as they were read.
#[derive(Default)]
struct Words {
    rel: Option<f64>,
    abs: Option<f64>,
    norm: Option<NormTolerance>,
    accumulates: Option<Formula>,
    accumulates_at: Option<Span>,
}

impl Words {
    fn tolerance(&self) -> Tolerance {
        let elements = (self.rel.is_some() || self.abs.is_some()).then(|| ElementTolerance {
            rel: self.rel.unwrap_or(0.0),
            abs: self.abs.unwrap_or(0.0),
        });
        Tolerance {
            elements,
            norm: self.norm,
            accumulates: self.accumulates.clone(),
        }
    }

    fn read(&mut self, part: &ToleranceSyntax, scopes: &Scopes, errors: &mut Errors) {
        let ToleranceSyntax { word, value } = part;
        let name = word.to_string();
        let is_repeated = match (name.as_str(), value) {
            ("rel", ToleranceValue::Number(number)) => {
                self.rel.replace(bound(number, errors)).is_some()
            }
            ("abs", ToleranceValue::Number(number)) => {
                self.abs.replace(bound(number, errors)).is_some()
            }
            ("l2", ToleranceValue::None) => self.norm.replace(NormTolerance::Default).is_some(),
            ("l2", ToleranceValue::Number(number)) => {
                let bound = NormTolerance::Declared(bound(number, errors));
                self.norm.replace(bound).is_some()
            }
            ("accumulates", ToleranceValue::Formula(expr)) => {
                self.accumulates = accumulates(expr, scopes, errors);
                self.accumulates_at.replace(word.span()).is_some()
            }
            ("rel" | "abs" | "accumulates", _) => {
                errors.add(word.span(), needs_value(word));
                false
            }
            _ => {
                let near = did_you_mean(&name, WORDS);
                let message = format!(
                    "unknown word `{name}` in `tolerance`{near}; there are `rel`, `abs`, `l2` and \
                     `accumulates`"
                );
                errors.add(word.span(), message);
                false
            }
        };
        if is_repeated {
            errors.add(word.span(), format!("`{name}` is given twice; keep one"));
        }
    }
}

fn needs_value(word: &Ident) -> String {
    let example = if word == "accumulates" { "k" } else { "1e-4" };
    format!("`{word}` needs a value, for example `{word} = {example}`")
}

fn bound(number: &Number, errors: &mut Errors) -> f64 {
    if !(number.value.is_finite() && number.value >= 0.0) {
        errors.add(number.span, "a tolerance is finite and not negative");
    }
    number.value
}

fn accumulates(expr: &Expr, scopes: &Scopes, errors: &mut Errors) -> Option<Formula> {
    let names = Names::NoParameters("what results are compared with does not depend on it");
    let formula = scopes.formula(expr, Type::Int, names, errors)?;
    if let Some(Ok(terms)) = formulas::constant(&formula)
        && terms < 1
    {
        let message = format!("a result accumulates at least 1 term, not {terms}");
        errors.push(syn::Error::new_spanned(expr, message));
        return None;
    }
    Some(formula)
}

/// The clause `draws = 4`.
pub(super) fn draws(clause: Option<&Spanned<LitInt>>, errors: &mut Errors) -> Option<u32> {
    let literal = &clause?.value;
    let draws = literal.base10_parse().ok();
    let draws = draws.filter(|draws| (1..=MOST_DRAWS).contains(draws));
    if draws.is_none() {
        errors.add(
            literal.span(),
            format!("the number of draws is from 1 to {MOST_DRAWS}"),
        );
    }
    draws
}
