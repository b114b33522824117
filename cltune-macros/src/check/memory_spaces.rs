//! The memory of an argument: memory spaces that a parameter chooses, and images.

use super::formulas::{Names, Scopes};
use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{Argument, Attribute, ImageType, not_a_pixel};
use cltune_core::expr::Formula;
use cltune_core::model::{
    Access, ElementType, ImageDeclaration, ImageKind, Memory, MemoryChoice, MemorySpace, is_pixel,
};
use cltune_core::parameter::Domain;
use cltune_formats::formula::Type;
use proc_macro2::Ident;
use syn::Expr;
use syn::ext::IdentExt;

const SAME_SIZE: Names = Names::NoParameters("an image has the same size for all configurations");

/// Where a buffer of the call lives.
pub(super) fn of_buffer(
    argument: &Argument,
    element: ElementType,
    access: Access,
    attribute: &Attribute,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Memory {
    let Argument { name, options, .. } = argument;
    if let Some((_, span)) = &options.size {
        let message = format!(
            "`size` is for images, and `{name}` is a buffer: its length is `len = …`, and the size \
             of an image that it can be is `image = [width, height]`"
        );
        errors.add(*span, message);
    }
    let Some((parameter, span)) = &options.memory else {
        if let Some((_, span)) = &options.image {
            let message = "`image` is the size of the image that an argument can be: it needs \
                           `memory = PARAMETER`, whose values say where the argument lives";
            errors.add(*span, message);
        }
        return Memory::Buffer;
    };
    if access != Access::Read {
        let message = format!(
            "`memory` is for buffers that the kernel only reads, `{name}: &Buffer<…>`: what it \
             writes is a buffer, or an image for all configurations (`&mut Image2d<…>`)"
        );
        errors.add(*span, message);
        return Memory::Buffer;
    }
    if attribute.split.is_some() {
        let message = format!(
            "a call cannot be divided among devices while `{name}` lives where a parameter says"
        );
        errors.add(*span, message);
    }
    if !scopes.is_complete() {
        return Memory::Buffer;
    }
    let Some((parameter, spaces)) = spaces(parameter, scopes, errors) else {
        return Memory::Buffer;
    };
    let image = match (&options.image, spaces.contains(&MemorySpace::Image)) {
        (None, false) => None,
        (None, true) => {
            let message = format!(
                "`{name}` can be an image: give its size in pixels with `image = [width, height]`, \
                 or with `[width, height, depth]`"
            );
            errors.add(*span, message);
            return Memory::Buffer;
        }
        (Some((_, span)), false) => {
            errors.add(*span, "no value of the parameter is \"image\"");
            None
        }
        (Some((size, span)), true) => {
            let kind = match size.len() {
                2 => ImageKind::Image2d,
                3 => ImageKind::Image3d,
                count => {
                    let message = format!("an image has 2 or 3 dimensions, not {count}");
                    errors.add(*span, message);
                    return Memory::Buffer;
                }
            };
            if !is_pixel(element, false) {
                let message = not_a_pixel(element, false);
                errors.add(*span, format!("`{name}` cannot be an image: {message}"));
            }
            Some(ImageDeclaration {
                kind,
                normalized: false,
                size: sizes(size, scopes, errors).into(),
            })
        }
    };
    Memory::Chosen(MemoryChoice { parameter, image })
}

/// The position of a parameter that chooses, and the spaces that are its values.
fn spaces(name: &Ident, scopes: &Scopes, errors: &mut Errors) -> Option<(u16, Vec<MemorySpace>)> {
    let all = || quoted(MemorySpace::ALL.map(MemorySpace::name));
    let parameters = scopes.parameters();
    let position = parameters
        .iter()
        .position(|parameter| name.unraw() == *parameter.name);
    let Some(position) = position else {
        let known = parameters.iter().map(|parameter| &*parameter.name);
        let near = did_you_mean(&name.unraw().to_string(), known);
        let message = format!(
            "there is no parameter `{name}`{near}; declare it with the memory spaces among which \
             it chooses, for example `params({name} = [\"buffer\", \"constant\"])`"
        );
        errors.add(name.span(), message);
        return None;
    };
    let wrong = match &parameters[position].domain {
        Domain::Names(names) => {
            let spaces = names.iter().map(|name| MemorySpace::from_name(name));
            if let Some(spaces) = spaces.collect::<Option<Vec<_>>>() {
                return u16::try_from(position)
                    .ok()
                    .map(|position| (position, spaces));
            }
            let is_other = |name: &&cltune_core::Text| MemorySpace::from_name(name).is_none();
            let other = names.iter().find(is_other);
            other.map_or_else(String::new, |other| {
                format!("\"{other}\" is no memory space")
            })
        }
        _ => "its values are no names".to_owned(),
    };
    let message = format!(
        "`{name}` cannot choose a memory space: {wrong}; memory spaces are {}",
        all()
    );
    errors.add(name.span(), message);
    None
}

/// An image of the call: where it is, and its length as that of a buffer.
pub(super) fn of_image(
    argument: &Argument,
    image: ImageType,
    attribute: &Attribute,
    scopes: &Scopes,
    errors: &mut Errors,
) -> Option<(Memory, Formula)> {
    let Argument { name, options, .. } = argument;
    let ImageType {
        kind, normalized, ..
    } = image;
    let only_for_buffers = [
        (options.len.as_ref().map(|(_, span)| *span), "len"),
        (options.memory.as_ref().map(|(_, span)| *span), "memory"),
        (options.image.as_ref().map(|(_, span)| *span), "image"),
    ];
    for (span, word) in only_for_buffers {
        if let Some(span) = span {
            let message = format!(
                "`{word}` is for buffers, and `{name}` is an image, with `size = [{}]`",
                sizes_of(kind)
            );
            errors.add(span, message);
        }
    }
    if attribute.split.is_some() {
        let message = format!("a call with an image, `{name}`, cannot be divided among devices");
        errors.add(name.span(), message);
    }
    let Some((size, span)) = &options.size else {
        if scopes.is_complete() && !options.is_wrong {
            let message = format!(
                "`#[arg(size = [{}])]` is missing on `{name}`: its size in pixels, which the tuner \
                 allocates and a launch checks",
                sizes_of(kind)
            );
            errors.add(name.span(), message);
        }
        return None;
    };
    if size.len() != kind.rank() {
        let message = format!(
            "the size of an `{}` is `[{}]`",
            kind.rust_name(),
            sizes_of(kind)
        );
        errors.add(*span, message);
        return None;
    }
    let pixels: Expr = match &**size {
        [width, height] => syn::parse_quote!((#width) * (#height)),
        [width, height, depth] => syn::parse_quote!((#width) * (#height) * (#depth)),
        _ => return None,
    };
    let sizes = sizes(size, scopes, errors);
    if sizes.len() != kind.rank() {
        return None;
    }
    let len = scopes.formula(&pixels, Type::Int, SAME_SIZE, errors)?;
    let image = ImageDeclaration {
        kind,
        normalized,
        size: sizes.into(),
    };
    Some((Memory::Image(image), len))
}

const fn sizes_of(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::Image2d => "width, height",
        ImageKind::Image3d => "width, height, depth",
        ImageKind::Image2dArray => "width, height, images",
    }
}

fn sizes(size: &[Expr], scopes: &Scopes, errors: &mut Errors) -> Vec<Formula> {
    let sizes = size.iter();
    sizes
        .filter_map(|size| scopes.formula(size, Type::Int, SAME_SIZE, errors))
        .collect()
}
