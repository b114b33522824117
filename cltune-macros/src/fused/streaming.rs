//! Streaming stores, which go past the caches: what the parameter `STREAM` asks for.
//!
//! A processor loads a line of memory into its caches before it stores to it, so that a loop that
//! fills a vector moves twice what it writes. Streaming (non-temporal) stores do not load it. Where
//! the vector fits the caches, they are slower: a tuned choice.

use super::plan::Pass;
use super::program::{Action, Operand, Place, Program, Statement};
use super::value::{At, Shape};
use proc_macro2::TokenStream;
use quote::quote;

/// Whether vectors of an operand's elements may be stored so: those of `out` arguments, which no
/// statement has loaded before.
pub(super) fn is_streamed(operand: &Operand) -> bool {
    // A function stores the elements of a matrix whose lines begin anywhere.
    let is_direct = operand.layout.is_plain() || matches!(operand.shape, Shape::Vector(_));
    is_direct && matches!(operand.place, Place::Buffer { out: true, .. })
}

/// Whether there is the parameter: whether a pass stores such vectors.
pub(super) fn has_parameter(program: &Program, passes: &[&Pass]) -> bool {
    let stores = |pass: &Pass, statement: &Statement| {
        let target = &program.operands[statement.target];
        let by_vectors = match target.shape {
            Shape::Vector(_) => pass.grid.is_none(),
            Shape::Matrix { .. } => statement.at == At::Cell && pass.product(program).is_none(),
            Shape::Number => false,
        };
        statement.action == Action::Store && by_vectors && is_streamed(target)
    };
    passes.iter().any(|pass| {
        let mut statements = pass.looped.iter().map(|at| &program.statements[*at]);
        statements.any(|statement| stores(pass, statement))
    })
}

pub(super) fn parameter() -> TokenStream {
    quote!(STREAM = [false, true],)
}

pub(super) fn default() -> TokenStream {
    quote!(STREAM = false,)
}

/// The constraint: an H200 takes the same time with and without (2026-12-01), and part of a vector
/// is stored as ever. `has_tails` says whether there is the parameter `TAIL`.
pub(super) fn constraint(has_tails: bool) -> TokenStream {
    let whole = has_tails.then(|| quote!(&&TAIL == 0));
    quote!(!STREAM || device.is_cpu == 1 && VW > 1 #whole)
}

/// The macro for a vector in memory.
pub(super) const MACROS: &str = "\
// Stores past the caches, with compilers that can.
#if STREAM && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STREAMED(place, value) __builtin_nontemporal_store(value, &(place))
#endif
#endif
#ifndef STREAMED
#define STREAMED(place, value) (place) = (value)
#endif
";

/// The macro for vector `at` of a line.
pub(super) const OF_LINES: &str = "\
#if STREAM
#define STREAMED_OF_LINE(type, to, value) STREAMED(((__global VEC(type)*)(to))[at], value)
#else
#define STREAMED_OF_LINE(type, to, value) STORED(type, to, value)
#endif
";
