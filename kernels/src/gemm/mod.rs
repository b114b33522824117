//! Matrix multiplication: C ← α A B + β C.
//!
//! [`Gemm`] multiplies, with the kernel that is fastest for the sizes on the device:
//!
//! | [`Route`] | kernel |
//! |---|---|
//! | `Direct` | small matrices as they lie |
//! | `Pipelined` | tiles, with copies ahead on three levels; for GPUs |
//! | `Tensor` | the tensor cores of NVIDIA's GPUs, in single and double precision |
//! | `Warpgroup` | those of the Hopper GPUs, with instructions of their own; not in double precision |
//! | `Panels` | vectors, from panels that are copied first; for CPUs |
//! | `PipelinedParts` | that of `Pipelined`, with sums in parts: for few tiles and long sums |
//! | `TensorParts` | the same on tensor cores, in single and double precision |
//!
//! [`Gemm::multiply_batched`] does many small products in one launch, and
//! [`Gemm::multiply_with`] a layer of a neural network. [`Gemm::measure`] times the ways of a
//! product where it is computed, and has later calls take the fastest.
//!
//! [`gemm_classic()`] is the kernel of Nugteren & Codreanu 2015 with its 14 parameters, as it was
//! published: for comparisons, and for trying out tuners.

mod batched;
mod checks;
mod error;
mod estimate;
mod fused;
mod kernels;
mod measure;
mod multiply;
mod operands;
mod options;
mod product;
mod real;
mod route;
mod types;

pub use crate::matrix::{Matrix, MatrixMut, Shape};
pub use batched::Batch;
pub use error::GemmError;
pub use kernels::classic::gemm_classic;
pub use multiply::Gemm;
pub use options::GemmOptions;
pub use real::Real;
pub use route::{Arithmetic, Route};
