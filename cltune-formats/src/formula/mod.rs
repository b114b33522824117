//! Formulas in Rust syntax: from an expression or a text to a
//! [`Formula`](cltune_core::expr::Formula), parsed, checked and compiled.
//!
//! The types are `i64` and `bool`, and names, which can only be compared. [`cltune_core::expr`]
//! evaluates what this module makes.
//!
//! The syntax of a formula: integer literals, `true` and `false`; parameters and problem dimensions
//! by name; `device.LIMIT` with a field of [`DeviceLimits`](cltune_core::device::DeviceLimits);
//! `+ - * / %`, `<< >>`, `& | ^`, `== != < <= > >=`, `&& || !`; `if … { … } else { … }`; and `min`,
//! `max`, `abs`, `pow`, `is_power_of_two`, `div_ceil` and `next_multiple_of`, as methods or as
//! functions. A parameter whose values are names is compared with a string literal,
//! `T == "float4"`.
//!
//! `&&`, `||` and `if` evaluate only what they need, so `VW == 0 || n % VW == 0` has a value where
//! `VW` is 0.
//!
//! | file | owns |
//! |---|---|
//! | `parse` | the entry points |
//! | `nesting` | the bound of how deeply expressions nest |
//! | `syntax`, `unsupported` | from Rust's syntax tree to a formula's, and messages for what formulas do not have |
//! | `ast` | the syntax tree |
//! | `scope` | the names that a formula may use, and errors |
//! | `check` | types |
//! | `compile` | from the tree to a program |
//! | `display` | the canonical text |

mod ast;
mod check;
mod compile;
mod display;
mod nesting;
mod parse;
mod scope;
mod syntax;
mod unsupported;

pub use nesting::check_nesting;
pub use parse::{check_text, from_syn, parse};
pub use scope::{ParseError, Scope, Type};
