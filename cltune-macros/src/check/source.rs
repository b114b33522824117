//! The kernel's source: a file or the function's body, with includes resolved.

use crate::environment::Environment;
use crate::errors::Errors;
use crate::parse::{Attribute, Body, Item};
use cltune_formats::declaration::SourceFile;
use cltune_formats::fingerprint;
use cltune_formats::source::{Flattened, SourceError, flatten, flatten_text};
use syn::LitStr;
use syn::ext::IdentExt;

/// A source with its includes, and the files it was read from.
#[derive(Default)]
pub(super) struct Source {
    pub(super) text: String,
    pub(super) files: Vec<SourceFile>,
}

/// The tunable's source.
pub(super) fn source(
    attribute: &Attribute,
    item: &Item,
    environment: &Environment,
    grammatical: bool,
    errors: &mut Errors,
) -> Source {
    match (&attribute.source, &item.body) {
        (Some(clause), Body::None) => file(&clause.value, environment, errors),
        (None, Body::Source(body)) => inline(item, body, environment, errors),
        (_, Body::Wrong(error)) => {
            errors.push(error.clone());
            Source::default()
        }
        (Some(clause), Body::Source(_)) => {
            errors.add(
                clause.span,
                "the kernel's source is given twice: here and in the function's body; keep one",
            );
            Source::default()
        }
        (None, Body::None) => {
            if grammatical {
                errors.add(
                    item.signature.ident.span(),
                    "the kernel's source is missing: add `source = \"kernels/….cl\"` to the \
                     attribute, or give the function a body that is a string literal",
                );
            }
            Source::default()
        }
    }
}

/// A source file, relative to the package.
pub(super) fn file(path: &LitStr, environment: &Environment, errors: &mut Errors) -> Source {
    let text = path.value();
    let is_absolute = text.starts_with('/') || std::path::Path::new(&text).is_absolute();
    if text.is_empty() || is_absolute || text.contains('\\') {
        errors.add(
            path.span(),
            "write the path of a file relative to the package, with `/`, for example \
             `kernels/saxpy.cl`",
        );
        return Source::default();
    }
    let mut files = Vec::new();
    let flattened = flatten(&text, &mut reader(environment, &mut files));
    collect(flattened, files, path, errors)
}

fn inline(item: &Item, body: &LitStr, environment: &Environment, errors: &mut Errors) -> Source {
    // No folder in it: what it includes counts from the package, as a source file does.
    let label = format!("body of {}", item.signature.ident.unraw());
    let mut files = Vec::new();
    let flattened = flatten_text(&label, &body.value(), &mut reader(environment, &mut files));
    collect(flattened, files, body, errors)
}

/// Reads files of the package, and notes what was in them.
fn reader<'a>(
    environment: &'a Environment,
    files: &'a mut Vec<SourceFile>,
) -> impl FnMut(&str) -> Result<String, String> + 'a {
    move |path| {
        let text = environment.read(path)?;
        files.push(SourceFile {
            path: path.to_owned(),
            content: fingerprint::of_text(&text),
        });
        Ok(text)
    }
}

fn collect(
    flattened: Result<Flattened, SourceError>,
    files: Vec<SourceFile>,
    at: &LitStr,
    errors: &mut Errors,
) -> Source {
    match flattened {
        Ok(Flattened { text, .. }) if text.contains('\0') => {
            errors.add(at.span(), "the kernel's source contains a NUL character");
            Source::default()
        }
        Ok(Flattened { text, .. }) => Source { text, files },
        Err(error) => {
            errors.add(at.span(), error);
            Source::default()
        }
    }
}
