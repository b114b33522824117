//! Random draws without replacement, which spaces have too.

pub use cltune_core::space::Permutation;
