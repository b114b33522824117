//! Performance-portable OpenCL for Rust.
