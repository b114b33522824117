//! Matrices among the arguments: `#[arg(matrix = [rows, columns], ld = …, layout = …)]`.
//!
//! The words are taken away, and `len` says what `#[tunable]` needs of them.

use super::operations::fail;
use super::program::Storage;
use super::value::At;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, FnArg, Meta, Pat, Signature};

/// A matrix as it is declared.
pub(super) struct Matrix {
    pub(super) rows: Expr,
    pub(super) columns: Expr,
    pub(super) storage: Storage,
}

/// The matrices of a signature by the names of arguments, and the mistakes in their declarations.
#[derive(Default)]
pub(super) struct Matrices {
    pub(super) list: Vec<(String, Matrix)>,
    pub(super) errors: Vec<syn::Error>,
}

/// Takes the declarations of matrices out of a signature.
pub(super) fn taken(signature: &mut Signature) -> Matrices {
    let mut found = Matrices::default();
    for input in &mut signature.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let Pat::Ident(pattern) = &*typed.pat else {
            continue;
        };
        let name = pattern.ident.unraw().to_string();
        for attribute in &mut typed.attrs {
            match declared(attribute) {
                Ok(Some(matrix)) => found.list.push((name.clone(), matrix)),
                Ok(None) => {}
                Err(error) => found.errors.push(error),
            }
        }
    }
    found
}

/// The matrix that an attribute declares.
fn declared(attribute: &mut Attribute) -> syn::Result<Option<Matrix>> {
    let Meta::List(list) = &mut attribute.meta else {
        return Ok(None);
    };
    if !list.path.is_ident("arg") {
        return Ok(None);
    }
    let (mut matrix, mut leading, mut layout, mut len) = (None, None, None, None);
    let mut rest: Vec<TokenStream> = Vec::new();
    for piece in pieces(list.tokens.clone()) {
        let word = match piece.clone().into_iter().next() {
            Some(TokenTree::Ident(word)) => word,
            _ => Ident::new("_", Span::call_site()),
        };
        let place = match word.to_string().as_str() {
            "matrix" => &mut matrix,
            "ld" => &mut leading,
            "layout" => &mut layout,
            "len" => {
                len = Some(word.span());
                rest.push(piece);
                continue;
            }
            _ => {
                rest.push(piece);
                continue;
            }
        };
        let value: TokenStream = piece.into_iter().skip(2).collect();
        if place.replace((word.clone(), value)).is_some() {
            return fail(word.span(), format!("`{word}` is given twice"));
        }
    }
    let Some((word, sizes)) = matrix else {
        let Some((word, _)) = leading.or(layout) else {
            return Ok(None);
        };
        list.tokens = quote!(#(#rest),*);
        let message = format!("`{word}` belongs to `matrix = [rows, columns]`");
        return fail(word.span(), message);
    };
    let expected = "the size of a matrix is written `matrix = [rows, columns]`";
    let sizes = match syn::parse2::<Expr>(sizes) {
        Ok(Expr::Array(array)) => array.elems,
        Ok(other) => return fail(other.span(), expected),
        Err(_) => return fail(word.span(), expected),
    };
    let [rows, columns] = sizes.iter().collect::<Vec<_>>()[..] else {
        return fail(word.span(), expected);
    };
    for size in [rows, columns] {
        if size.to_token_stream().to_string() == "1" {
            let message = "a matrix of one row or column is a vector: write `len = …`";
            return fail(size.span(), message);
        }
    }
    if let Some(span) = len {
        let message = "the length follows from `matrix` and `ld`: leave `len` out";
        return fail(span, message);
    }
    let by_columns = match layout {
        None => false,
        Some((word, layout)) => match layout.to_string().as_str() {
            "rows" => false,
            "columns" => true,
            _ => {
                let message = "a layout is `rows`, which is what is meant without it, or `columns`";
                return fail(word.span(), message);
            }
        },
    };
    let leading = match leading {
        None => None,
        Some((word, value)) => match syn::parse2::<Expr>(value) {
            Ok(value) => Some(value),
            Err(_) => return fail(word.span(), "the distance of rows is written `ld = lda`"),
        },
    };
    let (lines, line) = if by_columns {
        (columns, rows)
    } else {
        (rows, columns)
    };
    let span = word.span();
    rest.push(match &leading {
        None => quote_spanned!(span=> len = (#lines) * (#line)),
        Some(leading) => quote_spanned!(span=>
            len = if (#lines) * (#line) > 0 { ((#lines) - 1) * (#leading) + (#line) } else { 0 }
        ),
    });
    list.tokens = quote!(#(#rest),*);
    Ok(Some(Matrix {
        rows: rows.clone(),
        columns: columns.clone(),
        storage: Storage {
            at: if by_columns { At::Crossed } else { At::Cell },
            leading,
        },
    }))
}

/// What stands between commas.
fn pieces(tokens: TokenStream) -> Vec<TokenStream> {
    let mut pieces = vec![TokenStream::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => pieces.push(TokenStream::new()),
            _ => {
                if let Some(last) = pieces.last_mut() {
                    last.extend([token]);
                }
            }
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
