//! Tuned OpenCL kernels.
//!
//! | module | kernels |
//! |---|---|
//! | [`conv2d`] | 2D convolution: filters for pictures |
//! | [`gemm`] | matrix multiplication |

#![deny(missing_docs)]

pub mod conv2d;
pub mod gemm;
