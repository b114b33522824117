//! Tuning inside of the program that uses a kernel.
//!
//! It happens in the program's own process: a library cannot start its user's program a second time to
//! have a worker, as `cargo cltune` does. So a driver that crashes takes the program with it; what was
//! being tried is noted in the cache before, and costs one configuration at the next start.
//!
//! | file | owns |
//! |---|---|
//! | `searching` | from a tunable to a search of its space |
//! | `once` | tuning at the first call, which waits |
//! | `account` | what exploring in calls may cost |
//! | `forecast` | what the next steps will cost |
//! | `spending` | which steps may begin: these two together |
//! | `pace` | what building beside the calls costs them |
//! | `explorer` | which configuration serves the next call |
//! | `finals` | the best of them in turns with the default |
//! | `builder` | configurations built in a thread beside the program |
//! | `stopwatch` | how long a call's launch takes |
//! | `check` | whether a configuration computes what the default does |
//! | `exploring` | what the explorer decides, done: all of these together |
//! | `online` | tuning with the calls of the program, from the first to the last |

mod account;
mod builder;
mod check;
mod explorer;
mod exploring;
mod finals;
mod forecast;
mod once;
mod online;
mod pace;
mod searching;
mod spending;
mod stopwatch;

pub(crate) use once::tune_once;
pub(crate) use online::{Ended, Online, Subject};
