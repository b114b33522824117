//! Products on this machine's device against sums in double precision on the host.
//!
//! | file | tests |
//! |---|---|
//! | `results.rs` | every route and type, element by element |
//! | `precision.rs` | that what is chosen is as precise as plain arithmetic |
//! | `fused.rs` | products in the statements of `#[fused]` |
//! | `refusals.rs` | that what does not fit is an error |
//! | `host.rs` | none: matrices on the host |

mod fused;
mod host;
mod precision;
mod refusals;
mod results;
