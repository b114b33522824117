//! Tuned OpenCL kernels.
//!
//! | module | kernels |
//! |---|---|
//! | [`gemm`] | matrix multiplication |

#![deny(missing_docs)]

pub mod gemm;
