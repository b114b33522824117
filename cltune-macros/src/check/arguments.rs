//! The arguments of a call, and the local memory of a single launch.

use super::compared::{compared, compares_something};
use super::fills::{self, fill};
use super::formulas::{Names, Scopes};
use super::identifiers::text;
use super::{memory_spaces, strides};
use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{Argument, ArgumentType, Attribute, LocalArg, element_type};
use cltune_core::expr::Formula;
use cltune_core::model::{self, Access, ArgumentKind, ElementType, ScalarType, StageArgument};
use cltune_formats::declaration::{Compared, Fill};
use cltune_formats::formula::Type;
use proc_macro2::Ident;
use syn::ext::IdentExt;

/// The arguments of a call.
#[derive(Default)]
pub(super) struct KernelArguments {
    /// Those that are passed, in the order of the function's.
    pub(super) arguments: Vec<model::Argument>,
    /// One for each of them.
    pub(super) fills: Vec<Fill>,
    /// One for each of them.
    pub(super) compared: Vec<Compared>,
    /// The kernel's arguments where the tunable is one launch: the same, with local memory between.
    pub(super) of_launch: Vec<StageArgument>,
}

impl KernelArguments {
    fn push(&mut self, name: &Ident, kind: ArgumentKind, fill: Fill, compared: Compared) {
        let name = text(name);
        if let Ok(position) = u16::try_from(self.arguments.len()) {
            self.of_launch.push(StageArgument::Passed(position));
        }
        self.arguments.push(model::Argument { name, kind });
        self.fills.push(fill);
        self.compared.push(compared);
    }
}

/// The arguments of a call.
pub(super) fn arguments(
    attribute: &Attribute,
    written: &[Argument],
    dimensions: &[Ident],
    scopes: &Scopes,
    errors: &mut Errors,
) -> KernelArguments {
    let no_locals = Vec::new();
    let locals = attribute
        .local_args
        .as_ref()
        .map_or(&no_locals, |clause| &clause.value);
    // Stages name their local memory themselves.
    let locals = if attribute.stages.is_some() {
        &no_locals
    } else {
        locals
    };
    check_places(locals, written, errors);
    let mut kernel = KernelArguments::default();
    for argument in written {
        strides::check(argument, written, dimensions, attribute, errors);
        let before = |local: &&LocalArg| {
            local
                .before
                .as_ref()
                .is_some_and(|before| before.unraw() == argument.name.unraw())
        };
        for local in locals.iter().filter(before) {
            push_local(&mut kernel, local, scopes, errors);
        }
        let dimension = dimensions
            .iter()
            .position(|dimension| *dimension == argument.name);
        match argument.kind {
            None => {}
            Some(ArgumentType::Scalar(scalar)) => {
                push_scalar(&mut kernel, argument, scalar, dimension, scopes, errors);
            }
            Some(ArgumentType::Buffer { element, mutable }) => {
                let access = access(argument, mutable, errors);
                let len = len(argument, scopes, errors);
                let fill = fill(&argument.options, element, access, errors);
                let compared = compared(argument, access, len.as_ref(), scopes, errors);
                let memory =
                    memory_spaces::of_buffer(argument, element, access, attribute, scopes, errors);
                let kind = ArgumentKind::Buffer {
                    element,
                    access,
                    len,
                    memory,
                };
                kernel.push(&argument.name, kind, fill, compared);
            }
            Some(ArgumentType::Image(image)) => {
                let element = image.element;
                let access = access(argument, image.mutable, errors);
                let fill = fill(&argument.options, element, access, errors);
                let image = memory_spaces::of_image(argument, image, attribute, scopes, errors);
                if let Some((memory, len)) = image {
                    let len = Some(len);
                    let compared = compared(argument, access, len.as_ref(), scopes, errors);
                    let kind = ArgumentKind::Buffer {
                        element,
                        access,
                        len,
                        memory,
                    };
                    kernel.push(&argument.name, kind, fill, compared);
                }
            }
        }
    }
    for local in locals.iter().filter(|local| local.before.is_none()) {
        push_local(&mut kernel, local, scopes, errors);
    }
    compares_something(written, &kernel.arguments, &kernel.compared, errors);
    kernel
}

fn push_scalar(
    kernel: &mut KernelArguments,
    argument: &Argument,
    scalar: ElementType,
    dimension: Option<usize>,
    scopes: &Scopes,
    errors: &mut Errors,
) {
    let Argument { name, options, .. } = argument;
    let only_for_buffers = [
        (options.len.as_ref().map(|(_, span)| *span), "len"),
        (options.out, "out"),
        (options.fill.as_ref().map(|(_, span)| *span), "fill"),
        (options.memory.as_ref().map(|(_, span)| *span), "memory"),
        (options.image.as_ref().map(|(_, span)| *span), "image"),
        (options.size.as_ref().map(|(_, span)| *span), "size"),
        (options.compare.as_ref().map(|(_, span)| *span), "compare"),
    ];
    for (span, word) in only_for_buffers {
        if let Some(span) = span {
            errors.add(
                span,
                format!("`{word}` is for buffers, and `{name}` is a scalar"),
            );
        }
    }
    let fill = match (dimension, &options.value) {
        (Some(_), Some((_, span))) => {
            let message = format!(
                "`{name}` is a problem dimension: its values while tuning are those of `tune`"
            );
            errors.add(*span, message);
            Fill::None
        }
        (Some(_), None) => Fill::None,
        (None, Some((value, _))) => Fill::Constant(fills::element(*value, scalar, errors)),
        (None, None) => {
            let is_given = options.host_only.is_some() || options.is_wrong;
            // The fields of a struct may have values of their own.
            let is_integer = scalar.component().is_some_and(ScalarType::is_integer);
            if is_integer && !is_given && scopes.is_complete() {
                let of_dimension = match scalar.as_scalar() {
                    Some(_) => {
                        format!("make it a problem dimension with `tune({name} = …)`, or give it")
                    }
                    None => "give each of its components".to_owned(),
                };
                let message = format!(
                    "the tuner needs values for `{name}`: {of_dimension} one value with \
                     `#[arg(value = …)]`"
                );
                errors.add(name.span(), message);
            }
            if is_integer {
                Fill::FLOATS
            } else {
                fills::usual(scalar)
            }
        }
    };
    if let Some(span) = options.host_only {
        if dimension.is_none() && scopes.is_complete() {
            let message = format!(
                "`host_only` is for problem dimensions that only formulas use, and `{name}` is \
                 not in `tune`"
            );
            errors.add(span, message);
        }
        return;
    }
    let dimension = dimension.and_then(|dimension| u16::try_from(dimension).ok());
    let kind = ArgumentKind::Scalar { scalar, dimension };
    kernel.push(name, kind, fill, Compared::All);
}

fn access(argument: &Argument, mutable: bool, errors: &mut Errors) -> Access {
    let Argument { name, options, .. } = argument;
    let only_for_scalars = [
        (options.value.as_ref().map(|(_, span)| *span), "value"),
        (options.host_only, "host_only"),
    ];
    for (span, word) in only_for_scalars {
        if let Some(span) = span {
            errors.add(
                span,
                format!(
                    "`{word}` is for scalars, and `{name}` is {}",
                    noun(argument)
                ),
            );
        }
    }
    match (options.out, mutable) {
        (None, false) => Access::Read,
        (None, true) => Access::ReadWrite,
        (Some(_), true) => Access::Write,
        (Some(span), false) => {
            let message = format!(
                "the kernel writes an `out` argument: make it `{name}: &mut {}<…>`",
                match argument.kind {
                    Some(ArgumentType::Image(image)) => image.kind.rust_name(),
                    _ => "Buffer",
                }
            );
            errors.add(span, message);
            Access::Write
        }
    }
}

const fn noun(argument: &Argument) -> &'static str {
    match argument.kind {
        Some(ArgumentType::Image(_)) => "an image",
        _ => "a buffer",
    }
}

fn len(argument: &Argument, scopes: &Scopes, errors: &mut Errors) -> Option<Formula> {
    let Some((len, _)) = &argument.options.len else {
        if scopes.is_complete() && !argument.options.is_wrong {
            let name = &argument.name;
            let message = format!(
                "`#[arg(len = …)]` is missing on `{name}`: the least number of elements, which \
                 the tuner allocates and a launch checks"
            );
            errors.add(name.span(), message);
        }
        return None;
    };
    let names = Names::NoParameters("a buffer has the same length for all configurations");
    scopes.formula(len, Type::Int, names, errors)
}

fn push_local(
    kernel: &mut KernelArguments,
    local: &LocalArg,
    scopes: &Scopes,
    errors: &mut Errors,
) {
    let element = errors.take(element_type(&local.array.element));
    let len = scopes.formula(&local.array.len, Type::Int, Names::All, errors);
    if let (Some(element), Some(len)) = (element, len) {
        let name = text(&local.array.name);
        kernel
            .of_launch
            .push(StageArgument::Local { name, element, len });
    }
}

fn check_places(locals: &[LocalArg], written: &[Argument], errors: &mut Errors) {
    for before in locals.iter().filter_map(|local| local.before.as_ref()) {
        let is_passed = |argument: &&Argument| argument.options.host_only.is_none();
        let mut passed = written.iter().filter(is_passed);
        if !passed
            .clone()
            .any(|argument| argument.name.unraw() == before.unraw())
        {
            let names: Vec<String> = passed
                .by_ref()
                .map(|argument| argument.name.unraw().to_string())
                .collect();
            let near = did_you_mean(&before.to_string(), names.iter().map(String::as_str));
            let message = format!(
                "the kernel has no argument `{before}`{near}; its arguments are {}",
                quoted(&names)
            );
            errors.add(before.span(), message);
        }
    }
}
