//! `#[derive(KernelStruct)]`: structs that kernels take.

use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{FillSyntax, elements, instead, last_segment, ungrouped, vector};
use cltune_core::parameter::is_c_identifier;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Fields, LitStr, Meta, Path, Token, Type};

/// The implementation of `KernelStruct`, or the mistakes.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let item: DeriveInput = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let structure = structure(&item, &mut errors);
    if errors.is_empty() {
        return structure;
    }
    errors.to_compile_errors()
}

fn structure(item: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let options = StructOptions::parse(&item.attrs, errors);
    check_representation(item, errors);
    if !item.generics.params.is_empty() {
        errors.add(
            item.generics.span(),
            "a struct with generics has no single layout: derive `KernelStruct` for a struct without them",
        );
    }
    let fields = named_fields(item, errors);
    let krate = options.krate.unwrap_or_else(|| syn::parse_quote!(::cltune));
    let fields: Vec<TokenStream> = fields
        .iter()
        .map(|field| self::field(field, &krate, errors))
        .collect();
    let name = &item.ident;
    let rust_name = name.unraw().to_string();
    let opencl_name = options.name.unwrap_or_else(|| rust_name.clone());
    let check = quote_spanned! { name.span() =>
        const _: () = <#name as #krate::KernelStruct>::LAYOUT.assert_portable();
    };
    quote! {
        // SAFETY: the struct is `repr(C)`, its fields are elements or arrays of them, which may
        // hold any bits, and the constant below refuses padding.
        #[automatically_derived]
        unsafe impl #krate::KernelStruct for #name {
            const LAYOUT: &'static #krate::StructType = &#krate::StructType {
                name: #rust_name,
                opencl_name: #opencl_name,
                size: ::core::mem::size_of::<Self>(),
                fields: &[#(#fields),*],
            };
        }
        #check
    }
}

fn named_fields(item: &DeriveInput, errors: &mut Errors) -> Vec<Field> {
    let name = &item.ident;
    let fields = match &item.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            let message = "a kernel takes structs; an enumeration has values that are not valid in Rust: pass \
                           an integer";
            errors.add(data.enum_token.span, message);
            return Vec::new();
        }
        Data::Union(data) => {
            errors.add(data.union_token.span, "a kernel takes structs, not unions");
            return Vec::new();
        }
    };
    match fields {
        Fields::Named(fields) if !fields.named.is_empty() => fields.named.iter().cloned().collect(),
        Fields::Unnamed(fields) => {
            let message = format!(
                "the fields need the names that they have in OpenCL C: `struct {name} {{ x: f32, … }}`"
            );
            errors.add(fields.span(), message);
            Vec::new()
        }
        Fields::Named(_) | Fields::Unit => {
            errors.add(name.span(), "a struct that a kernel takes has fields");
            Vec::new()
        }
    }
}

/// `#[repr(C)]`, perhaps with `align`.
fn check_representation(item: &DeriveInput, errors: &mut Errors) {
    let mut is_c = false;
    for attribute in item.attrs.iter().filter(|of| of.path().is_ident("repr")) {
        let words = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        for word in words.into_iter().flatten() {
            let path = word.path();
            if path.is_ident("C") {
                is_c = true;
            } else if path.is_ident("packed") {
                errors.add(
                    word.span(),
                    "a packed struct has another layout than OpenCL C gives it: remove `packed` and order the \
                     fields by their alignment",
                );
            }
        }
    }
    if !is_c {
        let name = &item.ident;
        let message = format!(
            "`{name}` needs `#[repr(C)]`: without it Rust orders the fields as it likes, and a kernel cannot \
             find them"
        );
        errors.add(name.span(), message);
    }
}

/// `#[kernel_struct(…)]` on the struct.
#[derive(Default)]
struct StructOptions {
    name: Option<String>,
    krate: Option<Path>,
}

impl StructOptions {
    fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut options = Self::default();
        each_word(attributes, errors, |word, input| {
            match word.to_string().as_str() {
                "name" => {
                    input.parse::<Token![=]>()?;
                    let name: LitStr = input.parse()?;
                    let text = name.value();
                    if !is_c_identifier(text.strip_prefix("struct ").unwrap_or(&text)) {
                        return Err(syn::Error::new(
                            name.span(),
                            "this is not the name of a type in OpenCL C, for example `Particle` or \
                             `struct particle`",
                        ));
                    }
                    options.name = Some(text);
                }
                "crate" => {
                    input.parse::<Token![=]>()?;
                    options.krate = Some(input.call(Path::parse_mod_style)?);
                }
                _ => return Err(unknown(word, &["name", "crate"], "on a struct")),
            }
            Ok(())
        });
        options
    }
}

/// `#[kernel_struct(…)]` on a field.
#[derive(Default)]
struct FieldOptions {
    vector: Option<Span>,
    name: Option<String>,
    fill: String,
}

impl FieldOptions {
    fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut options = Self::default();
        each_word(attributes, errors, |word, input| {
            match word.to_string().as_str() {
                "vector" => options.vector = Some(word.span()),
                "name" => {
                    input.parse::<Token![=]>()?;
                    let name: LitStr = input.parse()?;
                    if !is_c_identifier(&name.value()) {
                        let message = "this is not the name of a field in OpenCL C";
                        return Err(syn::Error::new(name.span(), message));
                    }
                    options.name = Some(name.value());
                }
                "fill" => {
                    input.parse::<Token![=]>()?;
                    options.fill = fill(word, &input.parse()?)?;
                }
                _ => {
                    let words = ["vector", "name", "fill"];
                    return Err(unknown(word, &words, "on a field"));
                }
            }
            Ok(())
        });
        options
    }
}

/// Reads the words of each `#[kernel_struct(…)]`.
fn each_word(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut read: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    let is_own = |attribute: &&Attribute| attribute.path().is_ident("kernel_struct");
    for attribute in attributes.iter().filter(is_own) {
        let parsed = attribute.parse_args_with(|input: ParseStream<'_>| {
            while !input.is_empty() {
                let word = input.call(Ident::parse_any)?;
                read(&word, input)?;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        });
        errors.take(parsed);
    }
}

fn unknown(word: &Ident, known: &[&str], place: &str) -> syn::Error {
    let near = did_you_mean(&word.to_string(), known.iter().copied());
    let words = quoted(known.iter().copied());
    let message =
        format!("unknown word `{word}` in `kernel_struct` {place}{near}; there are {words}");
    syn::Error::new(word.span(), message)
}

/// A field's fill in the words of the record.
fn fill(word: &Ident, fill: &FillSyntax) -> syn::Result<String> {
    Ok(match fill {
        FillSyntax::Zeros => "zeros".into(),
        FillSyntax::Iota => "iota".into(),
        FillSyntax::Constant(value) => format!("constant {}", value.value),
        FillSyntax::Uniform(low, high) => format!("uniform {} {}", low.value, high.value),
        FillSyntax::File(_) | FillSyntax::Prepared => {
            let message = "this fills the whole elements of a buffer: write it at the argument, \
                           `#[arg(fill = …)]`";
            return Err(syn::Error::new(word.span(), message));
        }
    })
}

/// A field as a constant expression.
fn field(field: &Field, krate: &Path, errors: &mut Errors) -> TokenStream {
    let options = FieldOptions::parse(&field.attrs, errors);
    let Some(ident) = &field.ident else {
        return TokenStream::new();
    };
    let name = options.name.unwrap_or_else(|| ident.unraw().to_string());
    if !is_c_identifier(&name) {
        let message = format!(
            "`{name}` is no name in OpenCL C: rename the field, or write `#[kernel_struct(name = \"…\")]`"
        );
        errors.add(ident.span(), message);
    }
    let (element, lengths) = dimensions(&field.ty, options.vector, errors);
    errors.take(check_element(&element));
    let count = if lengths.is_empty() {
        quote!(::core::option::Option::None)
    } else {
        let lengths = lengths.iter();
        let product = lengths.fold(quote!(1), |product, length| quote!(#product * (#length)));
        quote!(::core::option::Option::Some(#product))
    };
    let of_element = quote!(<#element as #krate::Element>::TYPE);
    let of_element = if options.vector.is_some() {
        of_element
    } else {
        let message = format!(
            "the type of the field `{name}` is an array by another name: write the array out; \
             `#[kernel_struct(vector)]` makes it a vector of OpenCL C"
        );
        let span = field.ty.span();
        quote_spanned!(span => #krate::__private::no_vector(#of_element, #message))
    };
    let fill = options.fill;
    quote! {
        #krate::StructField {
            name: #name,
            offset: ::core::mem::offset_of!(Self, #ident),
            element: #of_element,
            count: #count,
            fill: #fill,
        }
    }
}

/// The innermost element of a type, and the lengths of the arrays around it. With `vector`, the
/// innermost array is the element.
fn dimensions(ty: &Type, is_vector: Option<Span>, errors: &mut Errors) -> (Type, Vec<Expr>) {
    let mut lengths = Vec::new();
    let mut element = ungrouped(ty);
    while let Type::Array(array) = element {
        let is_innermost = !matches!(ungrouped(&array.elem), Type::Array(_));
        if is_vector.is_some() && is_innermost {
            errors.take(vector(array));
            return (element.clone(), lengths);
        }
        lengths.push(array.len.clone());
        element = ungrouped(&array.elem);
    }
    if let Some(span) = is_vector {
        let message = "a vector is written as an array of its components, for example `[f32; 4]` for `float4`";
        errors.add(span, message);
    }
    (element.clone(), lengths)
}

/// Refuses types that certainly are no elements. The compiler finds the others.
fn check_element(ty: &Type) -> syn::Result<()> {
    const REFUSED: [&str; 8] = [
        "bool", "char", "str", "usize", "isize", "u128", "i128", "String",
    ];
    let refuse = |what: &str| {
        let message = format!(
            "{what} cannot be a field of a struct that kernels take{}: a field is {}, an array, or a struct that \
             derives `KernelStruct`",
            instead(ty),
            elements()
        );
        Err(syn::Error::new(ty.span(), message))
    };
    match ty {
        Type::Path(_) => {
            let name = last_segment(ty).map(|segment| segment.ident.to_string());
            match name.filter(|name| REFUSED.contains(&&**name)) {
                Some(_) => refuse("this type"),
                None => Ok(()),
            }
        }
        Type::Reference(_) | Type::Ptr(_) => {
            refuse("an address of the host's memory means nothing on a device: it")
        }
        // The vector was checked.
        Type::Array(_) => Ok(()),
        _ => refuse("this type"),
    }
}
