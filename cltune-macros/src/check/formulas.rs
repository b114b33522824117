//! Formulas: the names they may use, and checks of constant ones.

use super::device_limits::is_dot;
use super::identifiers::text;
use super::parameters::Parameter;
use crate::errors::Errors;
use crate::parse::{Argument, ArgumentType, Assignment, Spanned};
use cltune_core::Text;
use cltune_core::device::DeviceLimits;
use cltune_core::expr::{Env, EvalError, Formula, Op};
use cltune_core::model::{Define, ScalarType};
use cltune_core::parameter;
use cltune_formats::formula::{Scope, Type};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use syn::Expr;
use syn::ext::IdentExt;

/// Which names a formula may use.
#[derive(Clone, Copy)]
pub(super) enum Names {
    /// Parameters and problem dimensions.
    All,
    /// Problem dimensions only, and why.
    NoParameters(&'static str),
}

/// The names of a tunable.
#[derive(Clone)]
pub(super) struct Scopes {
    parameters: Vec<parameter::Parameter>,
    /// The problem dimensions, then the rounds around the formula.
    dimensions: Vec<Text>,
    /// The number of problem dimensions.
    problem_dimensions: usize,
    /// Names that are there and cannot be used, with the reason; without one where a mistake was
    /// reported at their declaration.
    unusable: HashMap<String, Option<String>>,
    /// Whether every name is known; else formulas are not looked at.
    complete: bool,
}

impl Scopes {
    pub(super) fn new(
        parameters: &[Parameter],
        dimensions: &[Ident],
        arguments: &[Argument],
        complete: bool,
    ) -> Self {
        let mut unusable = HashMap::new();
        for argument in arguments {
            let name = argument.name.unraw().to_string();
            let reason = match argument.kind {
                None => None,
                Some(ArgumentType::Scalar(_)) if dimensions.contains(&argument.name) => continue,
                Some(ArgumentType::Scalar(element))
                    if element.as_scalar().is_some_and(ScalarType::is_integer) =>
                {
                    Some(format!(
                        "`{name}` is not a problem dimension: to use it in formulas, add it to \
                     `tune({name} = …)` with the sizes to tune for"
                    ))
                }
                Some(ArgumentType::Scalar(element)) => Some(format!(
                    "`{name}` is of type `{}`: formulas use integers, which are parameters, \
                     problem dimensions and device limits",
                    element.rust_name()
                )),
                Some(ArgumentType::Image(_)) => Some(format!(
                    "`{name}` is an image: formulas use parameters, problem dimensions and device \
                     limits"
                )),
                Some(ArgumentType::Buffer { .. }) => Some(format!(
                    "`{name}` is a buffer: formulas use parameters, problem dimensions and \
                     device limits"
                )),
            };
            unusable.insert(name, reason);
        }
        for parameter in parameters {
            let name = parameter.ident.unraw();
            let clashes = arguments
                .iter()
                .any(|argument| argument.name.unraw() == name);
            if parameter.domain.is_none() || clashes {
                unusable.insert(name.to_string(), None);
            }
        }
        Self {
            parameters: parameters.iter().map(Parameter::core).collect(),
            dimensions: dimensions.iter().map(text).collect(),
            problem_dimensions: dimensions.len(),
            unusable,
            complete,
        }
    }

    pub(super) fn parameters(&self) -> &[parameter::Parameter] {
        &self.parameters
    }

    pub(super) fn dimensions(&self) -> &[Text] {
        &self.dimensions
    }

    /// The same names, and that of a round.
    pub(super) fn in_round(&self, round: &Ident) -> Self {
        let mut inner = self.clone();
        inner.dimensions.push(text(round));
        inner
    }

    /// The same names for what is the same in all rounds.
    pub(super) fn without_rounds(&self) -> Self {
        let mut outer = self.clone();
        for round in outer.dimensions.split_off(self.problem_dimensions) {
            let reason = format!(
                "`{round}` is the number of a round, and sizes are the same in all rounds; \
                 conditions and computed scalars may use it"
            );
            outer.unusable.insert(round.to_string(), Some(reason));
        }
        outer
    }

    /// Whether every name is known.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// The formula of an expression, or its mistakes collected.
    pub(super) fn formula(
        &self,
        expr: &Expr,
        expected: Type,
        names: Names,
        errors: &mut Errors,
    ) -> Option<Formula> {
        if !self.complete {
            return None;
        }
        let mut used = Vec::new();
        collect_names(expr.to_token_stream(), &mut used);
        let mut usable = true;
        for ident in used {
            let name = ident.unraw().to_string();
            if let Some(reason) = self.unusable.get(&name) {
                if let Some(reason) = reason {
                    errors.add(ident.span(), reason);
                }
                usable = false;
            } else if let Names::NoParameters(reason) = names
                && self
                    .parameters
                    .iter()
                    .any(|parameter| parameter.name == name)
            {
                let message = format!("`{name}` is a parameter and cannot be used here: {reason}");
                errors.add(ident.span(), message);
                usable = false;
            }
        }
        if !usable {
            return None;
        }
        let scope = Scope {
            parameters: &self.parameters,
            dimensions: &self.dimensions,
        };
        let formula = errors.take_all(cltune_formats::formula::from_syn(expr, &scope, expected))?;
        if let Some(Err(error)) = constant(&formula) {
            let message = format!("this formula never has a value: {error}");
            errors.push(syn::Error::new_spanned(expr, message));
            return None;
        }
        Some(formula)
    }
}

/// The names an expression uses as values: neither fields, nor methods, nor functions.
fn collect_names(tokens: TokenStream, names: &mut Vec<Ident>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut after_dot = false;
    while let Some(token) = tokens.next() {
        let dot = is_dot(&token);
        match token {
            TokenTree::Group(group) => collect_names(group.stream(), names),
            TokenTree::Ident(ident) if !after_dot => {
                let is_call = matches!(tokens.peek(), Some(TokenTree::Group(group))
                    if group.delimiter() == proc_macro2::Delimiter::Parenthesis);
                if !is_call {
                    names.push(ident);
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        after_dot = dot;
    }
}

/// The value of a formula without names; `None` for others.
pub(super) fn constant(formula: &Formula) -> Option<Result<i64, EvalError>> {
    let is_variable = |op: &Op| matches!(op, Op::Param(_) | Op::Dim(_) | Op::Device(_));
    if formula.program.ops.iter().any(is_variable) {
        return None;
    }
    let nothing = DeviceLimits::default();
    Some(formula.eval(&Env {
        params: &[],
        dims: &[],
        device: &nothing,
    }))
}

/// The clause `constraints(…)`.
pub(super) fn conditions(
    clause: Option<&Spanned<Vec<Expr>>>,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Vec<Formula> {
    let conditions = clause.iter().flat_map(|clause| &clause.value);
    conditions
        .filter_map(|condition| {
            let formula = scopes.formula(condition, Type::Bool, Names::All, errors)?;
            if let Some(Ok(0)) = constant(&formula) {
                let message = "this constraint is never true, so no configuration is valid";
                errors.push(syn::Error::new_spanned(condition, message));
            }
            Some(formula)
        })
        .collect()
}

/// A size in work-items: one to three dimensions.
pub(super) fn sizes(
    clause: &Spanned<Vec<Expr>>,
    scopes: &Scopes,
    names: Names,
    errors: &mut Errors,
) -> Vec<Formula> {
    if !(1..=3).contains(&clause.value.len()) && scopes.complete {
        let message = format!("a size has 1 to 3 dimensions, not {}", clause.value.len());
        errors.add(clause.span, message);
    }
    clause
        .value
        .iter()
        .filter_map(|size| scopes.formula(size, Type::Int, names, errors))
        .collect()
}

/// Local sizes and offsets have as many dimensions as the global size.
pub(super) fn check_rank(
    clause: &Spanned<Vec<Expr>>,
    global: Option<&Spanned<Vec<Expr>>>,
    errors: &mut Errors,
) {
    let Some(global) = global else {
        return;
    };
    let ranks = 1..=3;
    let (rank, expected) = (clause.value.len(), global.value.len());
    if rank != expected && ranks.contains(&rank) && ranks.contains(&expected) && errors.is_empty() {
        let dimensions = if expected == 1 {
            "dimension"
        } else {
            "dimensions"
        };
        let message = format!("the global size has {expected} {dimensions}, but this has {rank}");
        errors.add(clause.span, message);
    }
}

/// A clause of one formula.
pub(super) fn single(
    clause: Option<&Spanned<Expr>>,
    scopes: &Scopes,
    names: Names,
    errors: &mut Errors,
) -> Option<Formula> {
    number(&clause?.value, scopes, names, errors)
}

/// A formula that stands in no clause of its own.
pub(super) fn number(
    formula: &Expr,
    scopes: &Scopes,
    names: Names,
    errors: &mut Errors,
) -> Option<Formula> {
    scopes.formula(formula, Type::Int, names, errors)
}

/// The clause `tune_if(…)`.
pub(super) fn tune_if(
    clause: Option<&Spanned<Expr>>,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Option<Formula> {
    let condition = &clause?.value;
    let names = Names::NoParameters("which problems are tuned does not depend on it");
    let formula = scopes.formula(condition, Type::Bool, names, errors)?;
    if let Some(Ok(0)) = constant(&formula) {
        let message = "this condition is never true, so nothing is tuned on any device";
        errors.push(syn::Error::new_spanned(condition, message));
    }
    Some(formula)
}

/// The clause `defines(…)`.
pub(super) fn defines(
    clause: Option<&Spanned<Vec<Assignment>>>,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Vec<Define> {
    let defines = clause.iter().flat_map(|clause| &clause.value);
    defines
        .filter_map(|define| {
            let value = define.value.as_ref()?;
            Some(Define {
                name: text(&define.name),
                value: scopes.formula(value, Type::Int, Names::All, errors)?,
            })
        })
        .collect()
}
