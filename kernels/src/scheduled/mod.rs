//! Operations of matrices and vectors that may be larger than a device, on all devices: for
//! [`cltune::schedule::Scheduler`].
//!
//! | function | does |
//! |---|---|
//! | [`gemm`] | C ← α A B + β C, of matrices and temporaries |
//! | [`gemv`] | y ← α A x + β y |
//! | [`dot`], [`total`] | Σ xᵢ yᵢ, Σ xᵢ |
//! | [`sum`], [`difference`], [`scaled`] | temporaries A + B, A − B, α A |
//!
//! Each but the temporaries is enqueued and returns at once. A and B of a product may be
//! temporaries, also those that a function of your own computes
//! ([`cltune::schedule::map`]):
//!
//! ```no_run
//! use cltune_kernels::scheduled::{difference, gemm, sum};
//! use cltune::Device;
//! use cltune::schedule::Scheduler;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scheduler = Scheduler::new(&Device::all()?)?;
//! let n = 30_000;
//! let mut a = scheduler.matrix::<f32>(n, n)?;
//! let mut b = scheduler.matrix::<f32>(n, n)?;
//! let mut c = scheduler.matrix::<f32>(n, n)?;
//! a.values_mut().fill(1.0);
//! b.values_mut().fill(2.0);
//! // C = (A + B) (A - B)
//! gemm(&scheduler, 1.0, sum(&a, &b)?, difference(&a, &b)?, 0.0, &mut c)?;
//! println!("{}", scheduler.finish()?);
//! assert_eq!(c.values()?[0], -3.0 * n as f32);
//! # Ok(())
//! # }
//! ```

mod elementwise;
mod kernels;
mod product;
mod real;
mod reduction;

pub use elementwise::{difference, scaled, sum};
pub use product::{gemm, gemm_with, gemv};
pub use real::Real;
pub use reduction::{dot, total};
