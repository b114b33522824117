//! `cargo cltune`: finds the best parameter values of OpenCL kernels.
fn main() {}
