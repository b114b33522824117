//! `cargo cltune`: finds the best parameter values of OpenCL kernels.

mod commands;
mod lockfile_store;

fn main() {}
