//! `offset` and `stride` of a buffer: the arguments that say where the elements of a vector lie.

use crate::errors::{Errors, did_you_mean};
use crate::parse::{Argument, ArgumentType, Attribute};
use cltune_core::model::ScalarType;
use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;

/// The value that an offset has while tuning.
const OFFSET: f64 = 0.0;
/// The value that a stride has while tuning.
const STRIDE: f64 = 1.0;

/// Whether the words stand where they mean something, and name arguments of the right types.
pub(super) fn check(
    argument: &Argument,
    written: &[Argument],
    dimensions: &[Ident],
    attribute: &Attribute,
    errors: &mut Errors,
) {
    let options = &argument.options;
    let unsigned = [ScalarType::U32, ScalarType::U64];
    let signed = [ScalarType::I32, ScalarType::I64];
    let words = [
        ("offset", &options.offset, unsigned, OFFSET),
        ("stride", &options.stride, signed, STRIDE),
    ];
    for (word, given, types, while_tuning) in words {
        let Some((name, span)) = given else { continue };
        if let Some(message) = refusal(argument, attribute, word) {
            errors.add(*span, message);
            continue;
        }
        let named = written
            .iter()
            .find(|other| other.name.unraw() == name.unraw());
        let Some(named) = named else {
            let names = written.iter().map(|other| other.name.unraw().to_string());
            let names: Vec<String> = names.collect();
            let near = did_you_mean(&name.to_string(), names.iter().map(String::as_str));
            let message =
                format!("`{word}` names an argument, and there is no argument `{name}`{near}");
            errors.add(name.span(), message);
            continue;
        };
        check_named(
            named,
            name.span(),
            (word, types, while_tuning),
            dimensions,
            errors,
        );
    }
}

/// Why the word means nothing for this argument.
fn refusal(argument: &Argument, attribute: &Attribute, word: &str) -> Option<String> {
    let Argument { name, options, .. } = argument;
    match argument.kind {
        Some(ArgumentType::Buffer { .. }) | None => {}
        _ => return Some(format!("`{word}` is for buffers, and `{name}` is none")),
    }
    if attribute.split.is_some() {
        return Some(format!(
            "a call cannot be divided among devices while `{name}` has an `{word}` of the call's"
        ));
    }
    options
        .memory
        .is_some()
        .then(|| format!("`{name}` lives where a parameter says, and has no `{word}` there"))
}

/// Whether the argument that is named is an integer that the tuner knows the value of.
fn check_named(
    named: &Argument,
    span: Span,
    (word, types, while_tuning): (&str, [ScalarType; 2], f64),
    dimensions: &[Ident],
    errors: &mut Errors,
) {
    let name = &named.name;
    let scalar = match named.kind {
        Some(ArgumentType::Scalar(element)) => element.as_scalar(),
        // Was reported.
        None => return,
        _ => None,
    };
    if !scalar.is_some_and(|scalar| types.contains(&scalar)) {
        let [short, long] = types.map(ScalarType::rust_name);
        let message = format!("`{word}` names an argument of type `{short}` or `{long}`");
        errors.add(span, message);
    } else if dimensions.contains(name) {
        let message = format!(
            "`{name}` is in `tune`: problem dimensions are sizes, and the `{word}` of a vector is none"
        );
        errors.add(span, message);
    } else if let Some((value, at)) = &named.options.value
        && value.value != while_tuning
    {
        let message = format!(
            "`{name}` is the `{word}` of a vector, which is {while_tuning} while tuning: the tuner \
             makes buffers of `len` elements"
        );
        errors.add(*at, message);
    }
}
