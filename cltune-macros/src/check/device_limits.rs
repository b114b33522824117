//! Device limits in places where they have no meaning.

use cltune_core::device::DeviceField;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Expr;

/// An error at the first use of a device's limits in an expression whose value is the same on all
/// devices; `instead` says why it is, and what to write where that limit may be used.
pub(super) fn same_on_all_devices(
    expr: &Expr,
    instead: impl FnOnce(&str) -> String,
) -> syn::Result<()> {
    let Some(limit) = device_limit(expr.to_token_stream()) else {
        return Ok(());
    };
    let written: String = limit.iter().map(ToString::to_string).collect();
    let known = |name: &TokenTree| DeviceField::from_name(&name.to_string()).is_some();
    let example = match limit.last() {
        Some(name) if known(name) => &*written,
        _ => "device.max_work_group_size",
    };
    let message = format!("`{written}` cannot be used here: {}", instead(example));
    let tokens: TokenStream = limit.into_iter().collect();
    Err(syn::Error::new_spanned(tokens, message))
}

/// Whether an expression uses a device's limits.
pub(super) fn uses_device_limits(expr: &Expr) -> bool {
    device_limit(expr.to_token_stream()).is_some()
}

/// The tokens of the first `device.LIMIT`.
fn device_limit(tokens: TokenStream) -> Option<Vec<TokenTree>> {
    let mut tokens = tokens.into_iter();
    let mut after_dot = false;
    while let Some(token) = tokens.next() {
        // No field follows the second dot of a range.
        let dot = is_dot(&token) && !after_dot;
        match token {
            TokenTree::Group(group) => {
                if let Some(limit) = device_limit(group.stream()) {
                    return Some(limit);
                }
            }
            TokenTree::Ident(ident) if !after_dot && ident == "device" => {
                let rest: Vec<TokenTree> = tokens.take(2).collect();
                let field = match &*rest {
                    [dot, TokenTree::Ident(_)] if is_dot(dot) => rest,
                    _ => Vec::new(),
                };
                return Some(std::iter::once(ident.into()).chain(field).collect());
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        after_dot = dot;
    }
    None
}

pub(super) fn is_dot(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '.')
}
