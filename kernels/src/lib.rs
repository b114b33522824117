//! Tuned OpenCL kernels.
//!
//! | module | kernels |
//! |---|---|
//! | [`blas`] | operations on vectors and on matrices with vectors: BLAS 1 and 2 |
//! | [`conv2d`] | 2D convolution: filters for pictures |
//! | [`gemm`] | matrix multiplication |
//! | [`imaging`] | box filter, ray casting, stereo matching |
//! | [`scheduled`] | products, sums and maps of matrices larger than a device, on all devices |

pub mod blas;
pub mod conv2d;
pub mod gemm;
pub mod imaging;
mod matrix;
pub mod scheduled;
