//! Worker processes of a session, which are replaced when they die.
//!
//! | file | owns |
//! |---|---|
//! | `start` | starting workers, and their time limit |
//! | `early` | workers that start before it is known what for |
//! | `idle` | the pool of idle ones |
//! | `measurement` | a worker that measures |
//! | `compile` | a worker that only builds |

mod compile;
mod early;
mod idle;
mod measurement;
mod start;

pub(crate) use compile::{BuildResult, CompileWorker, Gate};
pub(crate) use early::EarlyWorkers;
pub(crate) use idle::IdleWorkers;
pub(crate) use measurement::MeasurementWorker;
pub(crate) use start::prepare;
pub(crate) use start::{WorkerError, idle_power, list_devices};
