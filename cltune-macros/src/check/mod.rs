//! The rules: from the syntax tree to a declaration. Whatever is wrong is collected at its token
//! and left out, so that the rest is still checked and the item can still be generated.
//!
//! | file | owns |
//! |---|---|
//! | `signature` | what the function may look like |
//! | `parameters`, `domain`, `real_range`, `literals` | parameters and their values |
//! | `problems` | problem dimensions and the sizes to tune for |
//! | `identifiers` | the names that the preprocessor, OpenCL C and Rust take |
//! | `names` | names that clash; the names of the kernel and of its results |
//! | `formulas` | the names that a formula may use; constant formulas |
//! | `device_limits` | device limits in places where they have no meaning |
//! | `arguments`, `fills` | the kernel's arguments and what the tuner fills them with |
//! | `compared` | which elements of results are compared |
//! | `memory_spaces` | memory spaces that a parameter chooses, and images |
//! | `tuning` | defaults and options |
//! | `computation` | what the tuner computes for itself: prepared inputs, the reference |
//! | `verification` | tolerance and draws |
//! | `split` | what is divided among devices |
//! | `stages` | the steps of a call, or its one launch |
//! | `memory` | scratch buffers and local memory of steps |
//! | `steps` | the steps of a call, of `prepare` and of `reference` |
//! | `source` | the kernel's source |
//! | `kernel` | whether it can have the kernels that are named |
//! | `assemble` | the model and the declaration, put together |
//! | `lock` | the lockfile's results |

mod arguments;
mod assemble;
mod compared;
mod computation;
mod device_limits;
mod domain;
mod fills;
mod formulas;
mod identifiers;
mod kernel;
mod literals;
mod lock;
mod memory;
mod memory_spaces;
mod names;
mod parameters;
mod problems;
mod real_range;
mod signature;
mod source;
mod split;
mod stages;
mod steps;
mod strides;
mod tuning;
mod verification;

pub(crate) use lock::IfStructs;
pub(crate) use parameters::Parameter;
pub(crate) use signature::relative_start;
pub(crate) use split::CheckedDivision;

use crate::environment::Environment;
use crate::errors::Errors;
use crate::parse::{self, Argument, Attribute, Item};
use assemble::Clauses;
use cltune_core::select::Table;
use cltune_formats::declaration::Declaration;
use cltune_formats::fingerprint;
use formulas::Scopes;
use proc_macro2::Ident;
use std::path::PathBuf;
use syn::Signature;

/// A tunable with what the generators need; complete when there are no errors.
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
    /// What to warn of: that the file of `CLTUNE_LOCK` is not there.
    pub(crate) missing_lockfile: Option<String>,
    /// What decides whether results are used, where the compiler has to.
    pub(crate) if_structs: Option<IfStructs>,
    /// Files whose change must lead to a new expansion.
    pub(crate) tracked: Vec<PathBuf>,
}

/// Checks a function that launches several tunables: what it looks like, and where its vectors and
/// matrices lie.
pub(crate) fn check_function(signature: &Signature, attribute: &Attribute, errors: &mut Errors) {
    signature::check(signature, errors);
    signature::check_crate(attribute.krate.as_ref(), errors);
    // Its types were checked before.
    let arguments = parse::arguments(signature, &mut Errors::default()).list;
    let problems = problems::problems(&attribute.tune, &arguments, true, errors);
    for argument in &arguments {
        strides::check(
            argument,
            &arguments,
            &problems.dimensions,
            attribute,
            errors,
        );
    }
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
    let source = source::source(attribute, item, environment, grammatical, errors);
    let clauses = Clauses {
        attribute,
        item,
        environment,
        scopes: &scopes,
        grammatical,
    };
    let computations = computation::computations(clauses, &kernel_arguments, &arguments, errors);
    let steps = stages::steps(clauses, &kernel_arguments, &arguments, errors);
    let mut declaration = clauses.declaration(
        clauses.model(
            &parameters,
            source.text,
            kernel_arguments.arguments,
            steps,
            errors,
        ),
        problems.sizes,
        computations,
        (kernel_arguments.fills, kernel_arguments.compared),
        errors,
    );
    let divisions = split::divisions(attribute, &arguments, &problems.dimensions, &scopes, errors);
    if errors.is_empty() {
        let (model, problems) = (&declaration.model, &declaration.problems);
        split::check_lengths(&divisions, &arguments, model, problems, errors);
        let function = item.signature.ident.span();
        kernel::check(attribute, function, &declaration, errors);
    }
    let mut files = source.files;
    files.append(&mut declaration.files);
    let absolute = files.iter().map(|file| environment.absolute(&file.path));
    let mut tracked: Vec<PathBuf> = absolute.collect();
    files.extend(environment.rust_file());
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup();
    declaration.files = files;
    let mut baked = lock::Baked::default();
    if errors.is_empty() {
        let model = &mut declaration.model;
        model.fingerprint = fingerprint::of(model).into();
        baked = lock::read(environment, model, errors);
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
        missing_lockfile: baked.missing,
        if_structs: baked.if_structs,
        tracked,
    }
}
