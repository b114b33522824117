//! Operations on several devices, which are one with several contexts where there is only one.
//!
//! | file | tests |
//! |---|---|
//! | `refusals.rs` | that what does not fit is an error |
//! | `runs.rs` | who does what, what is given up, reports |
//! | `failures.rs` | kernels that refuse, panic or are slow on one device |
//! | `tunables.rs` | tunables with `split(…)` as operations |
//! | `results.rs` | operations with several results |
//! | `kernels.rs` | none: kernels and schedulers |

#[path = "../split/kernels.rs"]
mod divided;
mod failures;
mod kernels;
mod refusals;
mod results;
mod runs;
mod tunables;
