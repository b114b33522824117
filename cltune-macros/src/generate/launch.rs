//! The call into the run time.

use super::context::Context;
use super::structs;
use crate::parse::{Argument, ArgumentType, ImageType};
use cltune_core::model::{ElementType, ScalarType};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

/// The problem's dimensions from the arguments of the call: `[i64; N]`.
pub(super) fn dims(context: &Context<'_>) -> TokenStream {
    let int = quote!(::core::primitive::i64);
    let dims = context.checked.dimensions.iter().map(|name| {
        let scalar = context
            .checked
            .arguments
            .iter()
            .find_map(|argument| match argument.kind {
                Some(ArgumentType::Scalar(element)) if argument.name == *name => {
                    element.as_scalar()
                }
                _ => None,
            });
        match scalar {
            Some(ScalarType::I64) => quote!(#name),
            // More than any device can work on; formulas then overflow, which is reported.
            Some(ScalarType::U64) => quote! {
                <#int as ::core::convert::TryFrom<_>>::try_from(#name).unwrap_or(#int::MAX)
            },
            _ => quote!(<#int as ::core::convert::From<_>>::from(#name)),
        }
    });
    quote!([#(#dims),*])
}

/// The kernel's arguments, without local memory: `[Arg; N]`.
pub(super) fn args(context: &Context<'_>) -> TokenStream {
    let krate = context.krate;
    let passed = context
        .checked
        .arguments
        .iter()
        .filter(|argument| argument.options.host_only.is_none() && argument.kind.is_some());
    let args = passed.map(|argument @ Argument { name, kind, .. }| match kind {
        Some(ArgumentType::Buffer { mutable: true, .. }) => {
            let strided = strided(context, argument);
            quote!(#krate::__private::Arg::buffer_mut(#name) #strided)
        }
        Some(ArgumentType::Buffer { .. }) => {
            let strided = strided(context, argument);
            quote!(#krate::__private::Arg::buffer(#name) #strided)
        }
        Some(ArgumentType::Image(ImageType { mutable: true, .. })) => {
            quote!(#krate::__private::Arg::image_mut(#name))
        }
        Some(ArgumentType::Image(_)) => quote!(#krate::__private::Arg::image(#name)),
        Some(ArgumentType::Scalar(_)) | None => quote!(#krate::__private::Arg::scalar(&#name)),
    });
    quote!([#(#args),*])
}

/// The call that says which elements of a buffer are used, where not the first ones.
fn strided(context: &Context<'_>, argument: &Argument) -> Option<TokenStream> {
    let options = &argument.options;
    let of = |named: &Option<(Ident, Span)>, types: [ScalarType; 2]| {
        let (name, _) = named.as_ref()?;
        let mut arguments = context.checked.arguments.iter();
        let named = arguments.find(|argument| argument.name.unraw() == name.unraw())?;
        match named.kind {
            Some(ArgumentType::Scalar(element))
                if types.map(Some).contains(&element.as_scalar()) =>
            {
                let (name, ty) = (&named.name, format_ident!("{}", types[1].rust_name()));
                Some(quote!(<::core::primitive::#ty as ::core::convert::From<_>>::from(#name)))
            }
            // Was reported.
            _ => None,
        }
    };
    let offset = of(&options.offset, [ScalarType::U32, ScalarType::U64]);
    let stride = of(&options.stride, [ScalarType::I32, ScalarType::I64]);
    if offset.is_none() && stride.is_none() {
        return None;
    }
    let (offset, stride) = (offset.unwrap_or(quote!(0)), stride.unwrap_or(quote!(1)));
    Some(quote!(.strided(#offset, #stride)))
}

/// The declared arguments with types that mean the same wherever they stand; `buffer` is the type
/// of one with such elements.
pub(super) fn inputs(
    context: &Context<'_>,
    buffer: impl Fn(TokenStream) -> TokenStream,
) -> TokenStream {
    let inputs = context.checked.arguments.iter().map(|argument| {
        let name = &argument.name;
        let ty = match argument.kind {
            // A mistake was reported there; callers are not to give another.
            None => quote!(impl ::core::marker::Sized),
            Some(ArgumentType::Scalar(element)) => element_type(context, element),
            Some(ArgumentType::Buffer { element, mutable }) => {
                let buffer = buffer(element_type(context, element));
                let mutable = mutable.then(|| quote!(mut));
                quote!(&#mutable #buffer)
            }
            Some(ArgumentType::Image(image)) => {
                let krate = context.krate;
                let kind = format_ident!("{}", image.kind.rust_name());
                let element = element_type(context, image.element);
                let element = if image.normalized {
                    quote!(#krate::Normalized<#element>)
                } else {
                    element
                };
                let mutable = image.mutable.then(|| quote!(mut));
                quote!(&#mutable #krate::#kind<#element>)
            }
        };
        quote!(#name: #ty)
    });
    quote!(#(#inputs),*)
}

fn element_type(context: &Context<'_>, element: ElementType) -> TokenStream {
    match element {
        ElementType::Vector { scalar, lanes: 1 } => scalar_type(context, scalar),
        ElementType::Vector { scalar, lanes } => {
            let scalar = scalar_type(context, scalar);
            let lanes = Literal::u8_unsuffixed(lanes);
            quote!([#scalar; #lanes])
        }
        ElementType::Struct(ty) => structs::path(context, ty),
    }
}

fn scalar_type(context: &Context<'_>, scalar: ScalarType) -> TokenStream {
    let name = format_ident!("{}", scalar.rust_name());
    if matches!(scalar, ScalarType::F16 | ScalarType::BF16) {
        let krate = context.krate;
        quote!(#krate::#name)
    } else {
        quote!(::core::primitive::#name)
    }
}
