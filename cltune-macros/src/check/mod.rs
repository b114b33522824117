//! The rules: from the syntax tree to a declaration. Whatever is wrong is collected at its token
//! and left out, so that the rest is still checked and the item can still be generated.
//!
//! | file | owns |
//! |---|---|
//! | `signature` | what the function may look like |
//! | `parameters`, `domain` | parameters and their values |
//! | `problems` | problem dimensions and the sizes to tune for |
//! | `names` | identifiers: what the preprocessor and Rust take, and clashes |
//! | `formulas` | which names a formula may use; constant formulas |
//! | `arguments`, `fills` | the kernel's arguments and what the tuner fills them with |
//! | `tuning` | defaults, options and reference |
//! | `verification` | tolerance and draws |
//! | `split` | what is divided among devices |
//! | `source` | the kernel's source |
//! | `kernel` | whether it can have the kernels that are named |
//! | `lock` | the lockfile's results |

mod arguments;
mod domain;
mod fills;
mod formulas;
mod kernel;
mod lock;
mod names;
mod parameters;
mod problems;
mod signature;
mod source;
mod split;
mod tuning;
mod verification;

pub(crate) use parameters::Parameter;
pub(crate) use signature::relative_start;
pub(crate) use split::CheckedDivision;

use crate::environment::Environment;
use crate::errors::Errors;
use crate::parse::{self, Argument, Attribute, Item, Spanned};
use cltune_core::Text;
use cltune_core::declaration::Declaration;
use cltune_core::fingerprint;
use cltune_core::model::Model;
use cltune_core::select::Table;
use formulas::{Names, Scopes};
use proc_macro2::Ident;
use std::path::PathBuf;
use syn::ext::IdentExt;

/// A tunable with what the generators need; complete when there are no errors.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The function's argument for the queue.
    pub(crate) queue: Option<Ident>,
    /// The arguments after the queue, in the order of the Rust function.
    pub(crate) arguments: Vec<Argument>,
    /// The parameters with their identifiers.
    pub(crate) parameters: Vec<Parameter>,
    /// The identifiers of the problem dimensions.
    pub(crate) dimensions: Vec<Ident>,
    /// The dimensions along which a call can be divided among devices.
    pub(crate) divisions: Vec<CheckedDivision>,
    /// The declaration; the model is part of it.
    pub(crate) declaration: Declaration,
    /// The results from the lockfile.
    pub(crate) table: Table,
    /// What to warn of: results that are there and do not belong to this version of the kernel.
    pub(crate) stale: Option<String>,
    /// Files whose change must lead to a new expansion.
    pub(crate) tracked: Vec<PathBuf>,
}

/// Checks a declaration.
pub(crate) fn check(
    attribute: &Attribute,
    item: &Item,
    environment: &Environment,
    errors: &mut Errors,
) -> Checked {
    // After a mistake in the grammar some names are not known, and whatever uses them would be
    // reported as a second mistake.
    let grammatical = errors.is_empty();
    signature::check(&item.signature, errors);
    signature::check_crate(attribute.krate.as_ref(), errors);
    let parse::Arguments {
        queue,
        list: arguments,
        complete,
    } = parse::arguments(&item.signature, errors);
    let grammatical = grammatical && complete;
    let parameters = parameters::parameters(attribute.params.as_ref(), errors);
    let problems = problems::problems(&attribute.tune, &arguments, grammatical, errors);
    names::check(attribute, &arguments, &parameters, errors);
    let complete = grammatical && problems.complete;
    let scopes = Scopes::new(&parameters, &problems.dimensions, &arguments, complete);

    let kernel_arguments =
        arguments::arguments(attribute, &arguments, &problems.dimensions, &scopes, errors);
    let global = if let Some(global) = &attribute.global {
        formulas::sizes(global, &scopes, Names::All, errors)
    } else {
        if grammatical {
            errors.add(
                item.signature.ident.span(),
                "the clause `global(…)` is missing: the global size in work-items, for \
                 example `global(n)`",
            );
        }
        Vec::new()
    };
    let same_rank = |clause: Option<&Spanned<Vec<syn::Expr>>>, errors: &mut Errors| {
        let Some(clause) = clause else {
            return Vec::new();
        };
        formulas::check_rank(clause, attribute.global.as_ref(), errors);
        formulas::sizes(clause, &scopes, Names::All, errors)
    };
    let local = same_rank(attribute.local.as_ref(), errors);
    let offset = same_rank(attribute.offset.as_ref(), errors);
    let source = source::source(attribute, item, environment, grammatical, errors);
    let reference = tuning::reference(attribute.reference.as_ref(), environment, &scopes, errors);
    let function = item.signature.ident.unraw().to_string();
    let name = names::lockfile_name(attribute.name.as_ref(), &function, errors);
    let mut model = Model {
        name: format!("{}::{name}", environment.package.replace('-', "_")).into(),
        fingerprint: "".into(),
        kernel: names::kernel_name(attribute.kernel.as_ref(), &function, errors).into(),
        source: source.text.into(),
        options: tuning::options(attribute.options.as_ref(), errors).into(),
        parameters: scopes.parameters().to_vec().into(),
        dimensions: scopes.dimensions().to_vec().into(),
        constraints: formulas::conditions(attribute.constraints.as_ref(), &scopes, errors).into(),
        global: global.into(),
        local: local.into(),
        offset: offset.into(),
        local_memory: formulas::single(
            attribute.local_memory.as_ref(),
            &scopes,
            Names::All,
            errors,
        ),
        defines: formulas::defines(attribute.defines.as_ref(), &scopes, errors).into(),
        arguments: kernel_arguments.arguments.into(),
        default: tuning::defaults(
            attribute.defaults.as_ref(),
            &parameters,
            grammatical,
            errors,
        )
        .map(Into::into),
    };
    let per_launch = Names::NoParameters("what a launch does for the caller does not depend on it");
    let mut declaration = Declaration {
        package: environment.package.clone(),
        version: environment.version.clone(),
        source_file: environment.source_file.clone(),
        lockfile_seen: String::new(),
        problems: problems.sizes,
        tune_if: formulas::tune_if(attribute.tune_if.as_ref(), &scopes, errors),
        reference: reference.value,
        tolerance: verification::tolerance(
            attribute.tolerance.as_ref(),
            grammatical,
            &scopes,
            errors,
        ),
        draws: verification::draws(attribute.draws.as_ref(), errors),
        fills: kernel_arguments.fills,
        bytes: formulas::single(attribute.bytes.as_ref(), &scopes, per_launch, errors),
        flops: formulas::single(attribute.flops.as_ref(), &scopes, per_launch, errors),
        even_work: attribute
            .even_work
            .as_ref()
            .is_some_and(|clause| clause.value.value),
        model: model.clone(),
    };
    let divisions = split::divisions(attribute, &arguments, &problems.dimensions, &scopes, errors);
    if errors.is_empty() {
        split::check_lengths(
            &divisions,
            &arguments,
            &model,
            &declaration.problems,
            errors,
        );
        let function = item.signature.ident.span();
        kernel::check(attribute, function, &model, &declaration, errors);
    }
    let mut tracked = source.files;
    tracked.extend(reference.files);
    let mut baked = lock::Baked::default();
    if errors.is_empty() {
        model.fingerprint = fingerprint::of(&model).into();
        baked = lock::read(environment, &model, errors);
        declaration.model = model;
    }
    declaration.lockfile_seen = baked.seen;
    tracked.extend(baked.tracked);
    tracked.sort();
    tracked.dedup();
    Checked {
        queue,
        arguments,
        parameters,
        dimensions: problems.dimensions,
        divisions,
        declaration,
        table: baked.table,
        stale: baked.stale,
        tracked,
    }
}

/// An identifier as formulas, the kernel and the lockfile know it.
fn text(ident: &Ident) -> Text {
    ident.unraw().to_string().into()
}
