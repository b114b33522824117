//! The concepts that cltune's macro, tuner and run time share: all that a launch needs.
//!
//! This crate is pure: no OpenCL, no I/O, no global state. Everything in it is tested without a
//! device. The macro crate, the run-time crate and `cargo cltune` depend on it and on nothing of
//! each other's inside. What is written as text (formulas, declarations, records, the lockfile) is
//! the crate `cltune-formats`, and what only searching needs the crate `cltune-search`.
//!
//! | module | owns |
//! |---|---|
//! | [`expr`] | compiled formulas over parameters, problem dimensions and device limits, and their values |
//! | [`parameter`] | a tunable parameter, its domain, its values |
//! | [`device`] | the description of an OpenCL device |
//! | [`model`] | the compiled form of a tunable: what a launch needs |
//! | [`select`] | which configuration a device and a problem get |
//! | [`split`] | one kernel on several devices: who computes what |
//! | [`tasks`] | operations in blocks on several devices: the policy of the scheduler |
//! | [`measure`] | the state of the caches when a launch is timed, and the objective |
//! | [`database`] | template defaults: what expressions that nobody tuned get |
//! | [`capture_format`] | the format of recorded launches |

#![forbid(unsafe_code)]

pub mod capture_format;
pub mod database;
pub mod device;
pub mod expr;
mod fraction;
pub mod measure;
pub mod model;
pub mod parameter;
mod real_range;
pub mod select;
pub mod split;
pub mod tasks;

use std::borrow::Cow;

/// Text that is static in generated code and owned when read from a file.
pub type Text = Cow<'static, str>;

/// A list that is static in generated code and owned when read from a file.
pub type List<T> = Cow<'static, [T]>;
