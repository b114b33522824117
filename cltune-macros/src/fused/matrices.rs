//! Matrices among the arguments: `#[arg(matrix = [rows, columns], ld = …, layout = …)]`.
//!
//! The words are taken away, and `len` says what `#[tunable]` needs of them.

use super::program::Storage;
use super::value::At;
use crate::errors::fail;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
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
    /// The arguments whose declarations have them.
    pub(super) wrong: Vec<String>,
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
            match taken_from(attribute) {
                Ok(Some(matrix)) => found.list.push((name.clone(), matrix)),
                Ok(None) => {}
                Err(error) => {
                    found.wrong.push(name.clone());
                    found.errors.push(error);
                }
            }
        }
    }
    found
}

/// The matrix that an attribute declares, whose words are taken away.
fn taken_from(attribute: &mut Attribute) -> syn::Result<Option<Matrix>> {
    let Meta::List(list) = &mut attribute.meta else {
        return Ok(None);
    };
    if !list.path.is_ident("arg") {
        return Ok(None);
    }
    let mut words: Vec<(Ident, TokenStream)> = Vec::new();
    let mut rest: Vec<TokenStream> = Vec::new();
    let mut len = None;
    for piece in pieces(list.tokens.clone()) {
        let word = match piece.clone().into_iter().next() {
            Some(TokenTree::Ident(word)) => word,
            _ => Ident::new("_", Span::call_site()),
        };
        if word == "len" {
            len = Some(word.span());
        }
        if ["matrix", "ld", "layout"].iter().any(|known| word == known) {
            let mut value = piece.into_iter().skip(1);
            let is_given =
                matches!(value.next(), Some(TokenTree::Punct(it)) if it.as_char() == '=');
            words.push((word, value.filter(|_| is_given).collect()));
        } else {
            rest.push(piece);
        }
    }
    if words.is_empty() {
        return Ok(None);
    }
    let matrix = declared(&words, len);
    rest.extend(match &matrix {
        Ok(matrix) => Some(matrix.length()),
        // Whatever fits: the mistake is reported.
        Err(_) if len.is_none() => Some(quote!(len = 1)),
        Err(_) => None,
    });
    list.tokens = quote!(#(#rest),*);
    matrix.map(Some)
}

/// The matrix that words declare; `len` is where that word stands.
fn declared(words: &[(Ident, TokenStream)], len: Option<Span>) -> syn::Result<Matrix> {
    for (at, (word, _)) in words.iter().enumerate() {
        if words[..at].iter().any(|(other, _)| other == word) {
            return fail(word.span(), format!("`{word}` is given twice"));
        }
    }
    let find = |name: &str| words.iter().find(|(word, _)| word == name);
    let Some((word, sizes)) = find("matrix") else {
        let word = &words[0].0;
        let message = format!("`{word}` belongs to `matrix = [rows, columns]`");
        return fail(word.span(), message);
    };
    let expected = "the size of a matrix is written `matrix = [rows, columns]`";
    let sizes = match syn::parse2::<Expr>(sizes.clone()) {
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
    let at = match find("layout") {
        None => At::Cell,
        Some((word, layout)) => match layout.to_string().as_str() {
            "rows" => At::Cell,
            "columns" => At::Crossed,
            _ => {
                let message = "a layout is `rows`, which is what is meant without it, or `columns`";
                return fail(word.span(), message);
            }
        },
    };
    let leading = match find("ld") {
        None => None,
        Some((word, value)) => match syn::parse2::<Expr>(value.clone()) {
            Ok(value) => Some(value),
            Err(_) => return fail(word.span(), "the distance of lines is written `ld = lda`"),
        },
    };
    Ok(Matrix {
        rows: rows.clone(),
        columns: columns.clone(),
        storage: Storage { at, leading },
    })
}

impl Matrix {
    /// The length of the buffer, as `#[tunable]` takes it.
    fn length(&self) -> TokenStream {
        let (lines, line) = match self.storage.at {
            At::Crossed => (&self.columns, &self.rows),
            _ => (&self.rows, &self.columns),
        };
        match &self.storage.leading {
            None => quote!(len = (#lines) * (#line)),
            Some(leading) => quote! {
                len = if (#lines) * (#line) > 0 { ((#lines) - 1) * (#leading) + (#line) } else { 0 }
            },
        }
    }
}

/// What stands between commas.
pub(super) fn pieces(tokens: TokenStream) -> Vec<TokenStream> {
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
