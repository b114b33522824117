//! The typed parameters: `Params`, and an enum for each parameter with named values.

use crate::check::Parameter;
use cltune_core::parameter::Domain;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use syn::Path;
use syn::ext::IdentExt;

/// `Params` with its conversions.
pub(super) fn parameters(krate: &Path, parameters: &[Parameter]) -> TokenStream {
    let enums = parameters
        .iter()
        .filter_map(|parameter| match &parameter.domain {
            Some(Domain::Names(names)) => {
                let names = names.iter().map(AsRef::as_ref).collect::<Vec<&str>>();
                Some(named_values(&parameter.ident, &names))
            }
            _ => None,
        });
    let idents: Vec<&Ident> = parameters
        .iter()
        .map(|parameter| &parameter.ident)
        .collect();
    let names: Vec<String> = idents
        .iter()
        .map(|ident| ident.unraw().to_string())
        .collect();
    let docs: Vec<String> = parameters.iter().map(describe).collect();
    let types = parameters.iter().map(|parameter| match &parameter.domain {
        Some(Domain::Names(_)) => {
            let ident = &parameter.ident;
            quote!(#ident)
        }
        Some(Domain::Booleans(_)) => quote!(::core::primitive::bool),
        Some(domain) if domain.has_fractions() => quote!(::core::primitive::f64),
        _ => quote!(::core::primitive::i64),
    });
    let fraction = quote!(#krate::__private::core::parameter::Fraction);
    let to_codes = parameters.iter().map(|parameter| {
        let ident = &parameter.ident;
        match &parameter.domain {
            Some(Domain::Booleans(_) | Domain::Names(_)) => {
                quote!(self.#ident as ::core::primitive::i64)
            }
            Some(domain) if domain.has_fractions() => quote!(#fraction::of(self.#ident).code()),
            _ => quote!(self.#ident),
        }
    });
    let from_codes = parameters.iter().enumerate().map(|(position, parameter)| {
        let ident = &parameter.ident;
        let position = Literal::usize_unsuffixed(position);
        let code = quote!(*codes.get(#position)?);
        match &parameter.domain {
            Some(Domain::Booleans(_)) => quote! {
                #ident: match #code {
                    0 => false,
                    1 => true,
                    _ => return ::core::option::Option::None,
                }
            },
            Some(Domain::Names(_)) => quote!(#ident: #ident::from_code(#code)?),
            Some(domain) if domain.has_fractions() => {
                quote!(#ident: #fraction::from_code(#code).get())
            }
            _ => quote!(#ident: #code),
        }
    });
    let count = Literal::usize_unsuffixed(parameters.len());
    let mut domains = parameters
        .iter()
        .filter_map(|parameter| parameter.domain.as_ref());
    let has_fractions = domains.any(Domain::has_fractions);
    // Floating-point numbers have no `Eq`; their codes do.
    let (derived, comparisons) = if has_fractions {
        (quote!(Clone, Copy, Debug), comparisons_by_codes())
    } else {
        (
            quote!(Clone, Copy, Debug, PartialEq, Eq, Hash),
            TokenStream::new(),
        )
    };
    quote! {
        #(#enums)*

        /// A configuration: one value of each parameter.
        #[derive(#derived)]
        pub struct Params {
            #(#[doc = #docs] pub #idents: #types,)*
        }

        #comparisons

        impl Params {
            /// The values as codes, in the order of the declaration: integers as they are,
            /// booleans as 0 and 1, numbers with a fraction as integers of the same order, named
            /// values as their positions.
            pub const fn to_codes(&self) -> [::core::primitive::i64; #count] {
                [#(#to_codes),*]
            }

            /// The configuration with these codes; `None` when they are too few or too many, or
            /// when one is not that of a value's kind.
            pub fn from_codes(
                codes: &[::core::primitive::i64],
            ) -> ::core::option::Option<Self> {
                if codes.len() != #count {
                    return ::core::option::Option::None;
                }
                ::core::option::Option::Some(Self { #(#from_codes),* })
            }
        }

        impl #krate::Configuration for Params {
            const NAMES: &'static [&'static ::core::primitive::str] = &[#(#names),*];

            type Codes = [::core::primitive::i64; #count];

            fn to_codes(&self) -> Self::Codes {
                Self::to_codes(self)
            }

            fn from_codes(
                codes: &[::core::primitive::i64],
            ) -> ::core::option::Option<Self> {
                Self::from_codes(codes)
            }
        }
    }
}

/// What `derive` cannot make of a configuration with floating-point numbers.
fn comparisons_by_codes() -> TokenStream {
    quote! {
        impl ::core::cmp::PartialEq for Params {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                self.to_codes() == other.to_codes()
            }
        }

        impl ::core::cmp::Eq for Params {}

        impl ::core::hash::Hash for Params {
            fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                ::core::hash::Hash::hash(&self.to_codes(), state)
            }
        }
    }
}

/// The enum of a parameter with named values.
fn named_values(ident: &Ident, names: &[&str]) -> TokenStream {
    let about = format!("The values of the parameter `{}`.", ident.unraw());
    let variants: Vec<Ident> = names.iter().map(|name| variant(name)).collect();
    let docs = names.iter().map(|name| format!("`{name}`."));
    let codes: Vec<Literal> = (0..names.len()).map(Literal::usize_unsuffixed).collect();
    quote! {
        #[doc = #about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum #ident {
            #(#[doc = #docs] #variants = #codes,)*
        }

        impl #ident {
            fn from_code(code: ::core::primitive::i64) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(match code {
                    #(#codes => Self::#variants,)*
                    _ => return ::core::option::Option::None,
                })
            }
        }
    }
}

/// The variant of a named value, which may be a word of Rust.
pub(super) fn variant(name: &str) -> Ident {
    let span = Span::call_site();
    syn::parse_str::<Ident>(name)
        .map_or_else(|_| Ident::new_raw(name, span), |_| Ident::new(name, span))
}

fn describe(parameter: &Parameter) -> String {
    let name = parameter.ident.unraw();
    match &parameter.domain {
        Some(Domain::Range {
            first,
            last,
            step: 1,
        }) => format!("`{name}`: {first} to {last}."),
        Some(Domain::Range { first, last, step }) => {
            format!("`{name}`: {first} to {last} by {step}.")
        }
        Some(Domain::PowersOfTwo { first, last }) => {
            format!("`{name}`: the powers of two from {first} to {last}.")
        }
        Some(Domain::Integers(values)) if values.len() <= 16 => listed(&name, values.iter()),
        Some(Domain::PerDevice(values)) if values.len() <= 16 => {
            listed(&name, values.iter().map(|value| &value.text))
        }
        Some(Domain::Fractions(values)) if values.len() <= 16 => listed(&name, values.iter()),
        Some(Domain::Reals(range)) => format!("`{name}`: a number from {range}."),
        Some(domain) => format!("`{name}`: one of {} values.", domain.len()),
        None => format!("`{name}`."),
    }
}

fn listed<T: ToString>(name: &Ident, values: impl Iterator<Item = T>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    format!("`{name}`: {}.", values.join(", "))
}
