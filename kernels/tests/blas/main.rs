//! Operations on vectors and matrices on this machine's device against sums in double precision on
//! the host.
//!
//! | file | tests |
//! |---|---|
//! | `results.rs` | every function, on vectors of any length, offset and stride |
//! | `matrices.rs` | products of matrices with vectors, and copies of matrices |
//! | `numbers.rs` | NaN, infinity, overflow and underflow |
//! | `refusals.rs` | that what does not fit is an error |
//! | `host.rs` | none: vectors on the host |

mod host;
mod matrices;
mod numbers;
mod refusals;
mod results;
