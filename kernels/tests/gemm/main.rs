//! Products on this machine's device against sums in double precision on the host. With
//! `CLTUNE_TEST_FULL=1` there are up to ten times as many random ones. Without it, each route has
//! one for each type at least.
//!
//! | file | tests |
//! |---|---|
//! | `results.rs` | every route and type, element by element |
//! | `tensor_cores.rs` | the same of the routes on tensor cores |
//! | `parts.rs` | sums in parts: of any length, and the same each time |
//! | `precision.rs` | that what is chosen is as precise as plain arithmetic; all bits of `f64` |
//! | `special.rs` | infinities, NaN, overflow and denormal numbers |
//! | `fused.rs` | products in the statements of `#[fused]` |
//! | `batched.rs` | many products in one call, and that what does not fit is an error |
//! | `refusals.rs` | that what does not fit is an error, and that the route is known before |
//! | `host.rs` | none: matrices on the host |

mod batched;
mod fused;
mod host;
mod parts;
mod precision;
mod refusals;
mod results;
mod special;
mod tensor_cores;
