//! Operations on vectors, and of matrices with vectors: level 1 of BLAS and part of level 2, in
//! single and double precision.
//!
//! | function | does |
//! |---|---|
//! | [`axpy`] | y ← α x + y |
//! | [`scal`] | x ← α x |
//! | [`copy`] | y ← x |
//! | [`swap`] | x ↔ y |
//! | [`rot`] | (x, y) ← (c x + s y, c y − s x) |
//! | [`dot`] | Σ xᵢ yᵢ |
//! | [`nrm2`] | √(Σ xᵢ²), without overflow and underflow of squares |
//! | [`asum`] | Σ \|xᵢ\| |
//! | [`iamax`] | the first index of the largest \|xᵢ\|, from 0 on |
//! | [`gemv`] | y ← α A x + β y, also of Aᵀ |
//! | [`ger`] | A ← α x yᵀ + A |
//! | [`transpose`] | B ← Aᵀ |
//! | [`copy_matrix`] | B ← A, with a value where B is larger |
//!
//! Matrices are those of [`gemm`](crate::gemm): of either layout, with a leading dimension,
//! anywhere in a buffer. Vectors begin anywhere in a buffer and have strides of either sign
//! ([`Vector`], [`VectorMut`]). Results of reductions stay on the device, as a vector of one
//! element: later work needs no host, and whoever wants the number reads the buffer.
//!
//! ```no_run
//! use cltune_kernels::blas::{self, Vector, VectorMut};
//! use cltune::{Buffer, Queue};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let queue = Queue::default_device()?;
//! let x = Buffer::from_slice(&queue, &[1.0_f32, 2.0, 3.0])?;
//! // Every other element, from the second one on.
//! let mut y = Buffer::from_slice(&queue, &[0.0_f32, 1.0, 0.0, 1.0, 0.0, 1.0])?;
//! let odd = VectorMut::new(&mut y, 3).offset(1).stride(2);
//! blas::axpy(&queue, 2.0, Vector::new(&x, 3), odd)?;
//! assert_eq!(y.read(&queue)?, [0.0, 3.0, 0.0, 5.0, 0.0, 7.0]);
//!
//! let mut norm = Buffer::new(queue.context(), 1)?;
//! blas::nrm2(&queue, Vector::new(&x, 3), VectorMut::new(&mut norm, 1))?;
//! assert_eq!(norm.read(&queue)?, [14.0_f32.sqrt()]);
//! # Ok(())
//! # }
//! ```

mod error;
mod kernels;
mod level1;
mod level2;
mod matrix_kernels;
mod real;
mod vector;

pub use crate::matrix::{Matrix, MatrixMut, Shape};
pub use error::BlasError;
pub use level1::{asum, axpy, copy, dot, iamax, nrm2, rot, scal, swap};
pub use level2::{copy_matrix, gemv, ger, transpose};
pub use real::Real;
pub use vector::{Vector, VectorMut};
