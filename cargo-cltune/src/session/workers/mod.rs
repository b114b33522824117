//! Worker processes of a session, which are replaced when they die.
//!
//! | file | owns |
//! |---|---|
//! | `start` | starting workers, their time limit, and the pool of idle ones |
//! | `measurement` | a worker that measures |
//! | `compile` | a worker that only builds |

mod compile;
mod measurement;
mod start;

pub(crate) use compile::{BuildResult, CompileWorker, Gate};
pub(crate) use measurement::MeasurementWorker;
pub(crate) use start::prepare;
pub(crate) use start::{IdleWorkers, WorkerError, idle_power, list_and_keep, list_devices};
