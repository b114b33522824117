//! Tuning inside of the program that uses a kernel.
//!
//! It happens in the program's own process: a library cannot start its user's program a second time to
//! have a worker, as `cargo cltune` does. So a driver that crashes takes the program with it; what was
//! being tried is noted in the cache before, and costs one configuration at the next start.
//!
//! | file | owns |
//! |---|---|
//! | `declaration` | what the tuner must know of a tunable |
//! | `once` | tuning at the first call, which waits |

mod declaration;
mod once;

pub(crate) use once::tune_once;
