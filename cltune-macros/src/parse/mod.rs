//! The attribute's grammar: tokens to a syntax tree that keeps every span.
//!
//! | file | owns |
//! |---|---|
//! | `attribute` | the clauses of `#[tunable(…)]` |
//! | `computation`, `tolerance`, `local_arg`, `compile_option`, `stages` | clauses with a grammar of their own |
//! | `arg_options`, `split` | `#[arg(…)]`, `split(…)` in it |
//! | `item` | the function with or without a body |
//! | `argument` | the function's arguments and their types |
//! | `pieces` | lists, assignments and numbers; going on after a mistake |

mod arg_options;
mod argument;
mod attribute;
mod compile_option;
mod computation;
mod item;
mod local_arg;
mod pieces;
mod split;
mod stages;
mod tolerance;

pub(crate) use arg_options::{ArgOptions, CompareSyntax, FillSyntax};
pub(crate) use argument::{
    Argument, ArgumentType, Arguments, ImageType, arguments, element_path, element_type, elements,
    instead, last_segment, not_a_pixel, path_text, ungrouped, vector,
};
pub(crate) use attribute::{Attribute, CLAUSES, TemplateSyntax};
pub(crate) use compile_option::OptionSyntax;
pub(crate) use computation::ComputationSyntax;
pub(crate) use item::{Body, Item};
pub(crate) use local_arg::LocalArg;
pub(crate) use pieces::{Assignment, NamedArray, Number, Spanned};
pub(crate) use split::SplitSyntax;
pub(crate) use stages::{StageSyntax, StepSyntax};
pub(crate) use tolerance::{ToleranceSyntax, ToleranceValue};
