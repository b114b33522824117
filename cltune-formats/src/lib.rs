//! Texts that cltune's macro and tuner read and write: formulas, declarations with their records
//! and fingerprints, and the lockfile.
//!
//! This crate is pure, like `cltune-core`: it is handed texts and returns texts. A program that
//! only launches does not compile it.
//!
//! | module | owns |
//! |---|---|
//! | [`formula`] | formulas in Rust syntax: parse, check, compile |
//! | [`source`] | a kernel's source with what it includes |
//! | [`declaration`] | the model and what only the tuner needs: problem sizes, reference, fills |
//! | [`record`] | declarations inside compiled artifacts |
//! | [`fingerprint`] | whether tuned values still belong to a tunable |
//! | [`lockfile`] | `cltune.lock`: read, write, record, merge |
//! | [`database`] | template defaults as text |
//! | `toml_text` | texts and numbers as TOML has them |

#![forbid(unsafe_code)]

pub mod database;
pub mod declaration;
pub mod fingerprint;
pub mod formula;
pub mod lockfile;
pub mod record;
pub mod source;
mod toml_text;
