//! Programs that `#[tunable]` generates, in the places where it must work.

#![forbid(unsafe_code)]
#![deny(missing_docs, unreachable_pub, warnings)]

#[path = "pass/mod.rs"]
mod pass;
