//! One module for each way of use.

mod every_clause;
mod huge;
mod images;
mod parameter_values;
mod places;
mod records;
mod saxpy;
mod source_text;
