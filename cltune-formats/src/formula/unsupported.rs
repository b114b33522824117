//! The syntax of Rust that formulas do not have: the token of each, and what to write instead.

use proc_macro2::Span;
use syn::Expr;
use syn::spanned::Spanned;

/// What every such message ends with.
const SUPPORTED: &str = "formulas have integers, booleans, parameters, problem dimensions, \
                         `device.LIMIT`, arithmetic, comparison, `&& || !`, `if … else …` and \
                         functions such as `a.min(b)`";

/// The token that shows an unsupported expression, and the message.
pub(super) fn unsupported(expr: &Expr) -> (Span, String) {
    let (span, what): (Span, &str) = match expr {
        Expr::Array(expr) => (expr.bracket_token.span.join(), "an array"),
        Expr::Assign(expr) => (
            expr.eq_token.span(),
            "an assignment (to compare, write `==`)",
        ),
        Expr::Async(expr) => (expr.async_token.span, "`async`"),
        Expr::Await(expr) => (expr.await_token.span, "`.await`"),
        Expr::Block(expr) => (expr.span(), "a labelled block"),
        Expr::Break(expr) => (expr.break_token.span, "`break`"),
        Expr::Cast(expr) => (
            expr.as_token.span,
            "a cast (leave it out: all integers are 64-bit)",
        ),
        Expr::Closure(expr) => (expr.inputs_begin.span(), "a closure"),
        Expr::Const(expr) => (expr.const_token.span, "a `const` block"),
        Expr::Continue(expr) => (expr.continue_token.span, "`continue`"),
        Expr::ForLoop(expr) => (expr.for_token.span, "a loop"),
        Expr::Index(expr) => (expr.bracket_token.span.join(), "indexing"),
        Expr::Infer(expr) => (expr.underscore_token.span(), "`_`"),
        Expr::Let(expr) => (expr.let_token.span, "`let`"),
        Expr::Loop(expr) => (expr.loop_token.span, "a loop"),
        Expr::Macro(expr) => (expr.mac.path.span(), "a macro call"),
        Expr::Match(expr) => (
            expr.match_token.span,
            "`match` (write `if … else if … else …`)",
        ),
        Expr::Range(expr) => (expr.limits.span(), "a range (write `a <= x && x <= b`)"),
        Expr::RawAddr(expr) => (expr.and_token.span(), "a reference"),
        Expr::Reference(expr) => (expr.and_token.span(), "a reference"),
        Expr::Repeat(expr) => (expr.bracket_token.span.join(), "an array"),
        Expr::Return(expr) => (expr.return_token.span, "`return`"),
        Expr::Struct(expr) => (expr.path.span(), "a struct"),
        Expr::Try(expr) => (expr.question_token.span(), "`?`"),
        Expr::Tuple(expr) => (expr.paren_token.span.join(), "a tuple"),
        Expr::Unsafe(expr) => (expr.unsafe_token.span, "`unsafe`"),
        Expr::While(expr) => (expr.while_token.span, "a loop"),
        other => (other.span(), "this"),
    };
    (
        span,
        format!("{what} is not supported in formulas: {SUPPORTED}"),
    )
}
