//! The process that touches the driver, and the supervisor's handle on it.
//!
//! Drivers crash, hang and leak. So every call to one is made in a worker: this executable in a
//! hidden mode, which reads requests from its standard input and answers on its standard output,
//! a JSON object per line. A worker that dies or does not answer in time costs one configuration.
//!
//! | file | owns |
//! |---|---|
//! | `protocol` | requests and answers |
//! | `serve` | the worker's side |
//! | `environment` | environment variables that every worker gets |
//! | `handle` | the supervisor's side: start, ask with a time limit, kill |
//! | `verifier` | a worker that verifies without timing |
//! | `patience` | waiting that is not confused by sleep, and that Ctrl-C shortens |

mod environment;
mod handle;
mod patience;
mod protocol;
mod serve;
mod verifier;

pub(crate) use handle::{Worker, WorkerFailure};
pub(crate) use protocol::{DeviceRecord, Prepare, Request, Response, Verified};
pub(crate) use serve::serve;
pub(crate) use verifier::{Unverified, Verifier};
