//! The concepts that cltune's macro, tuner and run time share.
//!
//! This crate is pure: no OpenCL, no I/O, no global state. Everything in it is tested without a
//! device. The macro crate, the run-time crate and `cargo cltune` depend on it and on nothing of
//! each other's inside. What only searching needs is the crate `cltune-search`.
//!
//! | module | owns |
//! |---|---|
//! | [`expr`] | formulas over parameters, problem dimensions and device limits: parse, check, compile, evaluate |
//! | [`parameter`] | a tunable parameter, its domain, its values |
//! | [`device`] | the description of an OpenCL device |
//! | [`source`] | a kernel's source with what it includes |
//! | [`model`] | the compiled form of a tunable: what a launch needs |
//! | `fingerprint` | whether tuned values still belong to a tunable (feature `lockfile`) |
//! | [`select`] | which configuration a device and a problem get |
//! | [`split`] | one kernel on several devices: who computes what |
//! | `lockfile` | `cltune.lock`: read, write, record, merge (feature `lockfile`) |
//! | [`database`] | template defaults: what expressions that nobody tuned get |
//! | [`declaration`] | the model and what only the tuner needs: problem sizes, reference, fills |
//! | [`capture_format`] | the format of recorded launches |
//! | `record` | declarations inside compiled artifacts (feature `lockfile`) |
//! | `toml_text` | texts and numbers as TOML has them, for the lockfile and the records |

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod capture_format;
pub mod database;
pub mod declaration;
pub mod device;
pub mod expr;
#[cfg(feature = "lockfile")]
pub mod fingerprint;
mod fraction;
#[cfg(feature = "lockfile")]
pub mod lockfile;
pub mod model;
pub mod parameter;
#[cfg(feature = "lockfile")]
pub mod record;
pub mod select;
pub mod source;
pub mod split;
#[cfg(feature = "lockfile")]
mod toml_text;

use std::borrow::Cow;

/// Text that is static in generated code and owned when read from a file.
pub type Text = Cow<'static, str>;

/// A list that is static in generated code and owned when read from a file.
pub type List<T> = Cow<'static, [T]>;
