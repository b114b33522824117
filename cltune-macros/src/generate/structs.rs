//! The structs of a tunable's arguments. The macro knows their paths; their layouts are constants
//! that the compiler finds.

use super::context::Context;
use crate::parse::{element_path, path_text};
use cltune_core::model::StructType;
use cltune_formats::record::encode_parts;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{FnArg, Path};

/// The constants of the module: each struct's layout, all of them with their names in the record,
/// the fingerprint, and whether the lockfile's results are used. Nothing without structs.
pub(super) fn constants(context: &Context<'_>) -> TokenStream {
    let krate = context.krate;
    let declaration = &context.checked.declaration;
    let model = &declaration.model;
    let structs = declaration.structs();
    if structs.is_empty() {
        return TokenStream::new();
    }
    let constants = structs.iter().map(|ty| {
        let (constant, path) = (constant(ty), path(context, ty));
        quote! {
            #[allow(non_upper_case_globals)]
            const #constant: &#krate::StructType = <#path as #krate::KernelStruct>::LAYOUT;
        }
    });
    let named = |structs: &[&StructType]| {
        let named = structs.iter().map(|ty| {
            let (name, constant) = (ty.name, constant(ty));
            quote!((#name, #constant))
        });
        quote!(&[#(#named),*])
    };
    // What only the reference takes decides nothing about tuned values.
    let (of_call, named) = (named(&model.structs()), named(&structs));
    let fingerprint = &*model.fingerprint;
    let are_used = match &context.checked.if_structs {
        None => quote!(true),
        Some(results) => {
            let of_results = &results.fingerprint;
            quote!(#krate::__private::is_same_text(#of_results, FINGERPRINT))
        }
    };
    quote! {
        #(#constants)*
        const STRUCTS: &[#krate::__private::core::model::Named] = #named;
        const FINGERPRINT: &::core::primitive::str = #krate::__private::text(
            &#krate::__private::core::model::fingerprint_with_structs(#fingerprint, #of_call),
        );
        #[doc(hidden)]
        pub(super) const RESULTS_ARE_USED: ::core::primitive::bool = #are_used;
    }
}

/// The name of the constant for a struct's layout.
pub(super) fn constant(ty: &StructType) -> Ident {
    let name = ty.name.replace("::", "_").replace("r#", "");
    format_ident!("LAYOUT_{name}")
}

/// A struct's path in the module.
pub(super) fn path(context: &Context<'_>, ty: &StructType) -> TokenStream {
    let inputs = context.item.signature.inputs.iter();
    let paths = inputs.filter_map(|input| match input {
        FnArg::Typed(typed) => element_path(&typed.ty),
        FnArg::Receiver(_) => None,
    });
    let mut paths = paths.filter(|path| path_text(path) == ty.name);
    // With the place where it is written, for the compiler's errors; scratch and local memory have
    // the attribute's.
    let path = paths.next().cloned();
    let path = path.or_else(|| syn::parse_str::<Path>(ty.name).ok());
    let Some(mut path) = path else {
        return TokenStream::new();
    };
    let is_absolute = path.leading_colon.is_some() || path.segments[0].ident == "crate";
    if is_absolute {
        return path.into_token_stream();
    }
    if path.segments[0].ident == "self" {
        path.segments = path.segments.into_iter().skip(1).collect();
    }
    quote!(super::#path)
}

/// The fingerprint as a constant expression; `None` without structs.
pub(super) fn fingerprint(context: &Context<'_>) -> Option<TokenStream> {
    let structs = context.checked.declaration.model.structs();
    (!structs.is_empty()).then(|| quote!(Borrowed(FINGERPRINT)))
}

/// The record's bytes and their number, as constant expressions.
pub(super) fn record(context: &Context<'_>) -> (TokenStream, TokenStream) {
    let krate = context.krate;
    let (header, text) = encode_parts(&context.checked.declaration);
    let header = Literal::byte_string(&header);
    let core = quote!(#krate::__private::core::model);
    let length = quote!(#core::record_length(#header, #text, STRUCTS));
    let bytes = quote!(#core::record_with_structs(#header, #text, STRUCTS));
    (bytes, length)
}
