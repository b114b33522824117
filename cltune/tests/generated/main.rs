//! Programs that `#[tunable]` generates, in the places where it must work. One module for each way
//! of use.

#![forbid(unsafe_code)]
#![deny(missing_docs, unreachable_pub, warnings)]

mod every_clause;
mod huge;
mod images;
mod parameter_values;
mod places;
mod records;
mod saxpy;
mod source_text;
