//! The model and the declaration, put together from their clauses.

use super::formulas::{self, Names, Scopes};
use super::parameters::Parameter;
use super::{names, tuning, verification};
use crate::environment::Environment;
use crate::errors::Errors;
use crate::parse::{Attribute, Item, Spanned};
use cltune_core::expr::Formula;
use cltune_core::model::{Argument, Model, Scratch, Step, Template};
use cltune_formats::declaration::{
    Compared, Computation, Declaration, Fill, Reference, SourceFile,
};
use syn::Expr;
use syn::ext::IdentExt;

/// What clauses are read with.
#[derive(Clone, Copy)]
pub(super) struct Clauses<'a> {
    pub(super) attribute: &'a Attribute,
    pub(super) item: &'a Item,
    pub(super) environment: &'a Environment,
    pub(super) scopes: &'a Scopes,
    /// Whether the grammar is right: what is missing may otherwise stand where it cannot be read.
    pub(super) grammatical: bool,
}

/// What the tuner computes for itself, and the files that sources were read from.
pub(super) struct Computations {
    pub(super) prepare: Option<Computation>,
    pub(super) reference: Reference,
    pub(super) files: Vec<SourceFile>,
}

impl Clauses<'_> {
    /// The model, without its fingerprint.
    pub(super) fn model(
        self,
        parameters: &[Parameter],
        source: String,
        arguments: Vec<Argument>,
        (scratch, steps): (Vec<Scratch>, Vec<Step>),
        errors: &mut Errors,
    ) -> Model {
        let Self {
            attribute, scopes, ..
        } = self;
        let name = names::lockfile_name(attribute.name.as_ref(), &self.function(), errors);
        let constraints = attribute.constraints.as_ref();
        let defaults = attribute.defaults.as_ref();
        Model {
            name: format!("{}::{name}", self.environment.package.replace('-', "_")).into(),
            fingerprint: "".into(),
            source: source.into(),
            options: tuning::options(attribute.options.as_ref(), scopes, errors).into(),
            parameters: scopes.parameters().to_vec().into(),
            dimensions: scopes.dimensions().to_vec().into(),
            constraints: formulas::conditions(constraints, scopes, errors).into(),
            defines: formulas::defines(attribute.defines.as_ref(), scopes, errors).into(),
            arguments: arguments.into(),
            scratch: scratch.into(),
            steps: steps.into(),
            default: tuning::defaults(defaults, parameters, self.grammatical, errors)
                .map(Into::into),
            template: self.template(errors),
        }
    }

    fn template(self, errors: &mut Errors) -> Option<Template> {
        let written = self.attribute.template.as_ref()?;
        let names = Names::NoParameters("it decides which values the parameters get");
        Some(Template {
            name: written.name.into(),
            scalar_size: written.scalar_size as i64,
            vectors: written.vectors as i64,
            elements: formulas::number(&written.elements, self.scopes, names, errors)?,
        })
    }

    /// The declaration of a model, without what the lockfile says.
    pub(super) fn declaration(
        self,
        model: Model,
        problems: Vec<Vec<i64>>,
        computations: Computations,
        (fills, compared): (Vec<Fill>, Vec<Compared>),
        errors: &mut Errors,
    ) -> Declaration {
        let Self {
            attribute,
            environment,
            scopes,
            grammatical,
            ..
        } = self;
        let names = Names::NoParameters("what a launch does for the caller does not depend on it");
        let tolerance = attribute.tolerance.as_ref();
        let even_work = attribute.even_work.as_ref();
        Declaration {
            model,
            package: environment.package.clone(),
            version: environment.version.clone(),
            source_file: environment.source_file.clone(),
            lockfile_seen: String::new(),
            files: computations.files,
            problems,
            tune_if: formulas::tune_if(attribute.tune_if.as_ref(), scopes, errors),
            prepare: computations.prepare,
            reference: computations.reference,
            tolerance: verification::tolerance(tolerance, grammatical, scopes, errors),
            draws: verification::draws(attribute.draws.as_ref(), errors),
            fills,
            compared,
            bytes: formulas::single(attribute.bytes.as_ref(), scopes, names, errors),
            flops: formulas::single(attribute.flops.as_ref(), scopes, names, errors),
            even_work: even_work.is_some_and(|clause| clause.value.value),
            measure: tuning::measure(attribute, errors),
        }
    }

    /// The function's name.
    pub(super) fn function(self) -> String {
        self.item.signature.ident.unraw().to_string()
    }

    pub(super) fn global(self, errors: &mut Errors) -> Vec<Formula> {
        if let Some(global) = &self.attribute.global {
            return formulas::sizes(global, self.scopes, Names::All, errors);
        }
        if self.grammatical {
            errors.add(
                self.item.signature.ident.span(),
                "the clause `global(…)` is missing: the global size in work-items, for example \
                 `global(n)`",
            );
        }
        Vec::new()
    }

    /// The local size or the offset, which have as many dimensions as the global size.
    pub(super) fn of_same_rank(
        self,
        clause: Option<&Spanned<Vec<Expr>>>,
        global: Option<&Spanned<Vec<Expr>>>,
        errors: &mut Errors,
    ) -> Vec<Formula> {
        let Some(clause) = clause else {
            return Vec::new();
        };
        formulas::check_rank(clause, global, errors);
        formulas::sizes(clause, self.scopes, Names::All, errors)
    }
}
