//! Tuned OpenCL kernels.
//!
//! | module | kernels |
//! |---|---|
//! | [`blas`] | operations on vectors: BLAS 1 |
//! | [`conv2d`] | 2D convolution: filters for pictures |
//! | [`gemm`] | matrix multiplication |

#![deny(missing_docs)]

pub mod blas;
pub mod conv2d;
pub mod gemm;
