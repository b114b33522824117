//! Products of matrices that a library computes: the arguments of type `&mut Gemm<T>` to which they
//! go, and the calls.

use super::literals::computable;
use super::value::Value;
use crate::errors::fail;
use crate::parse::{element_type, last_segment, ungrouped};
use cltune_core::model::{ElementType, ScalarType};
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, GenericArgument, Pat, PathArguments, Signature, Type};

/// An argument that multiplies matrices.
#[derive(Clone)]
pub(super) struct Gemm {
    pub(super) name: Ident,
    /// The elements of its matrices.
    pub(super) scalar: ScalarType,
}

/// Those of a signature, and the mistakes in them.
#[derive(Default)]
pub(super) struct Gemms {
    pub(super) list: Vec<Gemm>,
    pub(super) errors: Vec<syn::Error>,
}

impl Gemms {
    /// Whether products go to the library.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.errors.is_empty()
    }
}

/// `C = alpha * A * B + beta * C`.
pub(super) struct Call {
    pub(super) gemm: Ident,
    /// A number of the call's, as are those in `beta`.
    pub(super) alpha: Value,
    /// `None` where `C` is only written.
    pub(super) beta: Option<Value>,
    pub(super) left: View,
    pub(super) right: View,
    pub(super) target: View,
}

/// How a matrix lies in its buffer.
pub(super) struct View {
    pub(super) operand: usize,
    pub(super) by_rows: bool,
    pub(super) rows: Expr,
    pub(super) columns: Expr,
    /// The distance of lines, where they do not follow one another.
    pub(super) leading: Option<Expr>,
}

/// Takes these arguments out of a signature, since no kernel gets them.
pub(super) fn taken(signature: &mut Signature) -> Gemms {
    let mut found = Gemms::default();
    let inputs = std::mem::take(&mut signature.inputs);
    for input in inputs {
        match gemm(&input) {
            None => signature.inputs.push(input),
            Some(Ok(gemm)) => {
                if found.list.iter().any(|other| other.scalar == gemm.scalar) {
                    let scalar = gemm.scalar.rust_name();
                    let message = format!("there is another `Gemm<{scalar}>`: keep one");
                    found
                        .errors
                        .push(syn::Error::new(gemm.name.span(), message));
                }
                found.list.push(gemm);
            }
            Some(Err(error)) => found.errors.push(error),
        }
    }
    found
}

/// What an argument is declared as; `None` where it is no `Gemm`, however it is passed.
fn gemm(input: &FnArg) -> Option<syn::Result<Gemm>> {
    let FnArg::Typed(typed) = input else {
        return None;
    };
    let reference = match ungrouped(&typed.ty) {
        Type::Reference(reference) => Some(reference),
        _ => None,
    };
    let passed = reference.map_or(&*typed.ty, |reference| &reference.elem);
    let segment = last_segment(passed).filter(|segment| segment.ident == "Gemm")?;
    let expected = "products go to a `&mut Gemm<f32>`, or one for `f64` or `f16`: it keeps memory that \
                    matrices are copied to";
    if reference.is_none_or(|reference| reference.mutability.is_none()) {
        return Some(fail(typed.ty.span(), expected));
    }
    let Pat::Ident(pattern) = &*typed.pat else {
        return Some(fail(
            typed.pat.span(),
            "an argument of a tunable is a plain name",
        ));
    };
    if let Some(attribute) = typed.attrs.first() {
        return Some(fail(
            attribute.span(),
            "a `Gemm` takes no attributes: it is no argument of a kernel",
        ));
    }
    let element = match &segment.arguments {
        PathArguments::AngleBracketed(generics) => generics.args.first(),
        _ => None,
    };
    let Some(GenericArgument::Type(element)) = element else {
        return Some(fail(segment.span(), expected));
    };
    let scalar = element_type(element).ok().and_then(ElementType::as_scalar);
    Some(match scalar {
        Some(scalar) if !scalar.is_integer() => {
            computable(scalar, element.span()).map(|scalar| Gemm {
                name: pattern.ident.clone(),
                scalar,
            })
        }
        _ => fail(element.span(), expected),
    })
}
