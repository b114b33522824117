//! The function of statements that a library has a share in: its calls, and the launches of the
//! parts between them, after all arguments were checked.

use super::item::FusedItem;
use super::library::{Call, View};
use super::parts::{self, Step};
use super::program::Program;
use super::value::{Kind, Value};
use crate::generate;
use cltune_core::model::ScalarType;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, FnArg, Lit, Pat, ReturnType};

/// What calls are made from.
struct Host<'a> {
    item: &'a FusedItem,
    program: &'a Program,
    queue: &'a Ident,
}

/// The function. `arguments` are those of each part.
pub(super) fn function(
    item: &FusedItem,
    program: &Program,
    steps: &[Step],
    arguments: &[Vec<Ident>],
) -> TokenStream {
    let Some(queue) = names(item).next() else {
        return TokenStream::new();
    };
    let host = Host {
        item,
        program,
        queue,
    };
    let function = &item.signature.ident;
    let of_calls = program.calls.iter().map(|call| host.checked(call));
    // The first step checks its own arguments before it does anything.
    let later = steps.iter().skip(1).filter_map(|step| match step {
        Step::Part(at) => Some(*at),
        Step::Call(_) => None,
    });
    let of_parts = later.map(|at| {
        let name = generate::check_name(&parts::name(at + 1));
        let arguments = &arguments[at];
        host.asked(&quote!(#function::#name(#queue, #(#arguments),*)))
    });
    let launches = steps.iter().map(|step| match step {
        Step::Part(at) => {
            let (name, arguments) = (parts::name(at + 1), &arguments[*at]);
            host.asked(&quote!(#function::#name(#queue, #(#arguments),*)))
        }
        Step::Call(at) => host.multiplied(&program.calls[*at]),
    });
    let launches: Vec<TokenStream> = launches.collect();
    let Some((last, before)) = launches.split_last() else {
        return TokenStream::new();
    };
    let (attributes, visibility) = (&item.attributes, &item.visibility);
    let signature = generate::without_argument_attributes(&item.whole);
    quote! {
        #(#attributes)*
        #[allow(unused_results, clippy::too_many_arguments, clippy::needless_question_mark)]
        #visibility #signature {
            #(#of_calls;)*
            #(#of_parts;)*
            #(#before;)*
            ::core::result::Result::Ok(#last)
        }
    }
}

/// The function without anything behind it, where there are mistakes.
pub(super) fn stub(item: &FusedItem) -> TokenStream {
    let (attributes, visibility) = (&item.attributes, &item.visibility);
    let signature = generate::without_argument_attributes(&item.whole);
    quote! {
        #(#attributes)*
        #[allow(unused_variables, clippy::all, clippy::pedantic)]
        #visibility #signature {
            ::core::unreachable!()
        }
    }
}

impl Host<'_> {
    /// `…?`. An error that the return type does not take is reported there.
    fn asked(&self, call: &TokenStream) -> TokenStream {
        let span = match &self.item.signature.output {
            ReturnType::Type(_, ty) => ty.span(),
            ReturnType::Default => Span::call_site(),
        };
        let question = quote_spanned!(span.resolved_at(Span::call_site())=> ?);
        quote!(#call #question)
    }

    /// The call that checks the matrices of a product.
    fn checked(&self, call: &Call) -> TokenStream {
        let (gemm, queue) = (&call.gemm, self.queue);
        let matrices = [&call.left, &call.right, &call.target].map(|view| {
            let text = &self.program.operands[view.operand].name;
            let (name, shape) = (self.argument(text), self.shape(view));
            quote!(#text, #name, #shape)
        });
        let method = method("__check", gemm);
        self.asked(&quote!(#gemm.#method(#queue, #(#matrices),*)))
    }

    /// The call that makes the product.
    fn multiplied(&self, call: &Call) -> TokenStream {
        let (gemm, queue) = (&call.gemm, self.queue);
        let scalar = self.program.operands[call.target.operand].scalar;
        let alpha = self.number(&call.alpha, scalar);
        let beta = call.beta.as_ref();
        let beta = beta.map_or(quote!(0.0), |beta| self.number(beta, scalar));
        let [a, b, c] = [&call.left, &call.right, &call.target].map(|view| {
            let name = self.argument(&self.program.operands[view.operand].name);
            let shape = self.shape(view);
            quote!(#name, #shape)
        });
        let method = method("__multiply", gemm);
        self.asked(&quote!(#gemm.#method(#queue, #alpha, #a, #b, #beta, #c)))
    }

    /// Whether the rows of a matrix are contiguous, with the numbers of rows and of columns, the
    /// distance of lines and the first element.
    fn shape(&self, view: &View) -> TokenStream {
        let by_rows = view.by_rows;
        let line = if by_rows { &view.columns } else { &view.rows };
        let leading = view.leading.as_ref().unwrap_or(line);
        let [rows, columns, leading] =
            [&view.rows, &view.columns, leading].map(|size| self.size(size));
        let offset = self.program.operands[view.operand].layout.offset.as_ref();
        let offset = offset.map_or(quote!(0), |offset| converted(self.argument(offset)));
        quote!((#by_rows, [#rows, #columns, #leading, #offset]))
    }

    /// The size that a name or a number is.
    fn size(&self, expr: &Expr) -> TokenStream {
        match expr {
            Expr::Group(inner) => self.size(&inner.expr),
            Expr::Paren(inner) => self.size(&inner.expr),
            Expr::Lit(ExprLit {
                lit: Lit::Int(number),
                ..
            }) => number.base10_parse().map_or_else(
                |error| error.to_compile_error(),
                |number| Literal::usize_unsuffixed(number).into_token_stream(),
            ),
            other => {
                let name = other.to_token_stream().to_string();
                converted(self.argument(name.trim_start_matches("r#")))
            }
        }
    }

    /// A number of the call in Rust, in the type that products of these elements are computed in.
    fn number(&self, value: &Value, scalar: ScalarType) -> TokenStream {
        match &value.kind {
            Kind::Operand(operand) => {
                let real = if scalar == ScalarType::F64 {
                    quote!(::core::primitive::f64)
                } else {
                    quote!(::core::primitive::f32)
                };
                let name = self.argument(&self.program.operands[*operand].name);
                quote!(<#real as ::core::convert::From<_>>::from(#name))
            }
            Kind::Literal(digits, _) => {
                let fraction = if digits.contains(['.', 'e', 'E']) {
                    digits.clone()
                } else {
                    format!("{digits}.0")
                };
                fraction.parse().unwrap_or_default()
            }
            Kind::Unary(_, inner) => {
                let inner = self.number(inner, scalar);
                quote!((-#inner))
            }
            Kind::Binary(operator, left, right) => {
                let [left, right] = [left, right].map(|side| self.number(side, scalar));
                let operator: TokenStream = operator.parse().unwrap_or_default();
                quote!((#left #operator #right))
            }
            // No number of a call has these.
            Kind::Element(..) | Kind::Call(..) | Kind::Select(_) | Kind::Convert(_) => {
                TokenStream::new()
            }
        }
    }

    /// The argument of a name, as the signature has it: the statements may stand in another macro.
    fn argument(&self, name: &str) -> Option<&Ident> {
        names(self.item).find(|argument| argument.unraw() == *name)
    }
}

/// A method of the library's. That something else has none is reported where it is declared.
fn method(name: &str, gemm: &Ident) -> Ident {
    Ident::new(name, gemm.span())
}

/// The names of a function's arguments.
fn names(item: &FusedItem) -> impl Iterator<Item = &Ident> {
    let inputs = item.signature.inputs.iter();
    inputs.filter_map(|input| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pattern) => Some(&pattern.ident),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    })
}

/// A size beyond what there is where it does not fit, which is reported.
fn converted(name: Option<&Ident>) -> TokenStream {
    let usize = quote!(::core::primitive::usize);
    quote!(<#usize as ::core::convert::TryFrom<_>>::try_from(#name).unwrap_or(#usize::MAX))
}
