//! The function's arguments.

use super::arg_options::ArgOptions;
use crate::errors::{Errors, quoted};
use cltune_core::model::{ElementType, ImageKind, ScalarType, StructType, is_pixel};
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{
    Expr, ExprLit, FnArg, GenericArgument, Lit, Pat, Path, PathArguments, PathSegment, Type,
    TypeArray,
};

/// An argument after the queue.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    /// `None` where the type is wrong, which was reported: the name is known all the same.
    pub(crate) kind: Option<ArgumentType>,
    pub(crate) options: ArgOptions,
}

/// The types an argument may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentType {
    /// Passed by value: a scalar, a vector or a struct.
    Scalar(ElementType),
    Buffer {
        element: ElementType,
        mutable: bool,
    },
    Image(ImageType),
}

/// The type of an image.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImageType {
    pub(crate) kind: ImageKind,
    pub(crate) element: ElementType,
    /// Whether it is `Normalized<…>`.
    pub(crate) normalized: bool,
    pub(crate) mutable: bool,
}

const QUEUE: &str = "the first argument of a tunable is `queue: &Queue`";

/// The arguments of a function.
pub(crate) struct Arguments {
    pub(crate) queue: Option<Ident>,
    /// Those after the queue.
    pub(crate) list: Vec<Argument>,
    /// Whether all have names: one that has none was reported and is not in the list.
    pub(crate) complete: bool,
}

/// The arguments of a function. What is wrong is collected and left out.
pub(crate) fn arguments(signature: &syn::Signature, errors: &mut Errors) -> Arguments {
    // A receiver is reported with the signature.
    let is_typed = |input: &&FnArg| matches!(input, FnArg::Typed(_));
    let mut inputs = signature.inputs.iter().filter(is_typed).peekable();
    let queue = if let Some(first) = inputs.next_if(|first| is_meant_as_queue(first)) {
        queue(first, errors)
    } else {
        // What comes first is one of the kernel's.
        let span = inputs.peek().map(Spanned::span);
        errors.add(span.unwrap_or(signature.paren_token.span.join()), QUEUE);
        None
    };
    let read: Vec<Option<Argument>> = inputs.map(|input| argument(input, errors)).collect();
    let complete = read.iter().all(Option::is_some);
    Arguments {
        queue,
        list: read.into_iter().flatten().collect(),
        complete,
    }
}

/// Whether the type is a `Queue`, however it is passed.
fn is_meant_as_queue(input: &FnArg) -> bool {
    let FnArg::Typed(typed) = input else {
        return false;
    };
    let passed = match ungrouped(&typed.ty) {
        Type::Reference(reference) => &reference.elem,
        _ => &typed.ty,
    };
    last_segment(passed).is_some_and(|segment| segment.ident == "Queue")
}

fn queue(input: &FnArg, errors: &mut Errors) -> Option<Ident> {
    let FnArg::Typed(typed) = input else {
        return None;
    };
    let is_queue = matches!(ungrouped(&typed.ty), Type::Reference(reference)
        if reference.mutability.is_none()
            && last_segment(&reference.elem).is_some_and(|segment| segment.ident == "Queue"));
    if !is_queue {
        errors.add(typed.ty.span(), QUEUE);
        return None;
    }
    if let Some(attribute) = typed.attrs.first() {
        errors.add(attribute.span(), "the queue takes no attributes");
    }
    errors.take(name(&typed.pat))
}

fn argument(input: &FnArg, errors: &mut Errors) -> Option<Argument> {
    let FnArg::Typed(typed) = input else {
        return None;
    };
    let options = ArgOptions::parse(&typed.attrs, errors);
    let name = errors.take(name(&typed.pat))?;
    let kind = errors.take(kind(&typed.ty));
    Some(Argument {
        name,
        kind,
        options,
    })
}

fn name(pattern: &Pat) -> syn::Result<Ident> {
    match pattern {
        Pat::Ident(ident)
            if ident.by_ref.is_none() && ident.mutability.is_none() && ident.subpat.is_none() =>
        {
            Ok(ident.ident.clone())
        }
        _ => Err(syn::Error::new(
            pattern.span(),
            "an argument of a tunable is a plain name",
        )),
    }
}

fn kind(ty: &Type) -> syn::Result<ArgumentType> {
    let unsupported = || {
        let message = format!(
            "this type cannot be passed to a kernel{}: an argument is {}, a struct that derives \
             `KernelStruct`, `&Buffer<T>` or `&mut Buffer<T>` of such elements, or an image of them \
             (`&Image2d<T>`)",
            instead(ty),
            elements()
        );
        syn::Error::new(ty.span(), message)
    };
    match ungrouped(ty) {
        Type::Path(_) => scalar(ty)
            .map(ElementType::from)
            .or_else(|| structure(ty))
            .map(ArgumentType::Scalar)
            .ok_or_else(unsupported),
        Type::Array(array) => vector(array).map(ArgumentType::Scalar),
        Type::Reference(reference) => {
            let segment = last_segment(&reference.elem).ok_or_else(unsupported)?;
            let image = ImageKind::from_rust_name(&segment.ident.to_string());
            if image.is_none() && segment.ident != "Buffer" {
                return Err(unsupported());
            }
            if segment.arguments.is_none() {
                let name = &segment.ident;
                let message =
                    format!("`{name}` needs the type of its elements, for example `{name}<f32>`");
                return Err(syn::Error::new(segment.span(), message));
            }
            let element = generic(segment).ok_or_else(unsupported)?;
            let mutable = reference.mutability.is_some();
            let Some(kind) = image else {
                return Ok(ArgumentType::Buffer {
                    element: element_type(element)?,
                    mutable,
                });
            };
            let wrapper = last_segment(element).filter(|segment| segment.ident == "Normalized");
            let normalized = wrapper.is_some();
            let ty = wrapper.map_or(Some(element), generic);
            let ty = ty.ok_or_else(unsupported)?;
            let element = element_type(ty)?;
            if !is_pixel(element, normalized) {
                return Err(syn::Error::new(ty.span(), not_a_pixel(element, normalized)));
            }
            Ok(ArgumentType::Image(ImageType {
                kind,
                element,
                normalized,
                mutable,
            }))
        }
        _ => Err(unsupported()),
    }
}

/// Why elements are not the pixels of an image.
pub(crate) fn not_a_pixel(element: ElementType, normalized: bool) -> String {
    if element.component() == Some(ScalarType::BF16) && !normalized {
        return "OpenCL has no pixels of `bf16`: use `u16`, the bits of which the kernel reads as \
                numbers"
            .into();
    }
    let channels = if normalized {
        "normalized integers of 8 or 16 bits"
    } else {
        "numbers of at most 32 bits"
    };
    let element = element.rust_name();
    format!("a pixel is 1, 2 or 4 {channels}, and this one is `{element}`")
}

/// The only type in the angle brackets of a segment.
fn generic(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(generics) = &segment.arguments else {
        return None;
    };
    let mut types = generics.args.iter();
    match (types.next(), types.next()) {
        (Some(GenericArgument::Type(ty)), None) => Some(ty),
        _ => None,
    }
}

/// What to write for a scalar that OpenCL C has no kernel argument for.
pub(crate) fn instead(ty: &Type) -> &'static str {
    let name = last_segment(ty).map(|segment| segment.ident.to_string());
    match name.as_deref() {
        Some("usize") => " (write `u32` or `u64`)",
        Some("isize") => " (write `i32` or `i64`)",
        Some("bool") => " (write `u32`, which is 0 or 1)",
        _ => "",
    }
}

/// The type of a buffer's elements.
pub(crate) fn element_type(ty: &Type) -> syn::Result<ElementType> {
    if let Type::Array(array) = ungrouped(ty) {
        return vector(array);
    }
    let scalar = scalar(ty).map(ElementType::from);
    scalar.or_else(|| structure(ty)).ok_or_else(|| {
        let message = format!(
            "this type cannot be an element{}: an element is {}, or a struct that derives `KernelStruct`",
            instead(ty),
            elements()
        );
        syn::Error::new(ty.span(), message)
    })
}

/// A struct of the program's own: a path that looks like a type's and is none of the names that
/// mean something else. Its layout is the compiler's to find; here it has its path as its name and
/// no fields.
fn structure(ty: &Type) -> Option<ElementType> {
    const OTHERS: [&str; 5] = ["String", "Buffer", "Queue", "Event", "Self"];
    let path = element_path(ty)?;
    let last = path.segments.last()?.ident.to_string();
    let is_plain = path
        .segments
        .iter()
        .all(|segment| segment.arguments.is_none());
    let is_type = last.starts_with(char::is_uppercase) && !OTHERS.contains(&&*last);
    (is_plain && is_type).then(|| {
        ElementType::Struct(Box::leak(Box::new(StructType {
            name: String::leak(path_text(path)),
            opencl_name: "",
            size: 0,
            fields: &[],
        })))
    })
}

/// The path that an argument's type or its element is.
pub(crate) fn element_path(ty: &Type) -> Option<&Path> {
    match ungrouped(ty) {
        Type::Reference(reference) => {
            let segment = last_segment(&reference.elem)?;
            let PathArguments::AngleBracketed(generics) = &segment.arguments else {
                return None;
            };
            match generics.args.first()? {
                GenericArgument::Type(element) => element_path(element),
                _ => None,
            }
        }
        Type::Path(path) if path.qself.is_none() => Some(&path.path),
        _ => None,
    }
}

/// A path without generics as text.
pub(crate) fn path_text(path: &Path) -> String {
    let segments = path.segments.iter();
    let segments: Vec<_> = segments.map(|segment| segment.ident.to_string()).collect();
    let start = path.leading_colon.map_or("", |_| "::");
    format!("{start}{}", segments.join("::"))
}

/// The elements that there are, for messages.
pub(crate) fn elements() -> String {
    let scalars = quoted(ScalarType::ALL.iter().map(|scalar| scalar.rust_name()));
    format!("a scalar ({scalars}) or a vector of 2, 4, 8 or 16 of them (`[f32; 4]` for `float4`)")
}

/// An array as a vector of OpenCL C.
pub(crate) fn vector(array: &TypeArray) -> syn::Result<ElementType> {
    let scalar = scalar(&array.elem).ok_or_else(|| {
        let message = format!(
            "the components of a vector are scalars{}: an element is {}",
            instead(&array.elem),
            elements()
        );
        syn::Error::new(array.elem.span(), message)
    })?;
    let lanes = match ungrouped_expr(&array.len) {
        Expr::Lit(ExprLit {
            lit: Lit::Int(lanes),
            ..
        }) => lanes.base10_parse::<u64>().ok(),
        _ => None,
    };
    let known = ElementType::LANES
        .into_iter()
        .find(|known| Some(u64::from(*known)) == lanes);
    if let Some(lanes) = known {
        return Ok(ElementType::vector(scalar, lanes));
    }
    let (rust, opencl) = (scalar.rust_name(), scalar.opencl_name());
    let message = match lanes {
        Some(3) => format!(
            "an array of 3 has another size than OpenCL's `{opencl}3`, which takes the memory of \
             `{opencl}4`: pass `[{rust}; 4]` and leave its last component unused, or pass a buffer \
             of three times as many `{rust}` and read it with `vload3`"
        ),
        Some(lanes) => {
            format!("OpenCL has vectors of 2, 4, 8 and 16 components, and this array has {lanes}")
        }
        None => "the number of a vector's components is written as a number: 2, 4, 8 or 16".into(),
    };
    Err(syn::Error::new(array.len.span(), message))
}

/// An expression without the invisible parentheses of `macro_rules!`.
fn ungrouped_expr(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

fn scalar(ty: &Type) -> Option<ScalarType> {
    let segment = last_segment(ty)?;
    if !segment.arguments.is_none() {
        return None;
    }
    ScalarType::from_rust_name(&segment.ident.to_string())
}

/// The last name of a path: the macro sees names, not what they mean.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungrouped(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

/// A type without parentheses and without the invisible ones of `macro_rules!`.
pub(crate) fn ungrouped(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        }
    }
}
