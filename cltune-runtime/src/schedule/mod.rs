//! Operations larger than a device, on all devices: the scheduler.
//!
//! Matrices lie in host memory. An operation becomes tasks on blocks of them; the policy is that of
//! [`cltune_core::tasks`]. Each device has a thread with queues for transfers to it, launches and
//! transfers back, so that all three go on at the same time.
//!
//! | file | owns |
//! |---|---|
//! | `error` | errors |
//! | `host_budget` | the memory of the host that matrices may take |
//! | `matrix_core` | the memory of a matrix |
//! | `matrix` | a matrix as programs have it |
//! | `expression` | what an operation reads: matrices, and temporaries that exist per block |
//! | `kernel` | kernels on blocks |
//! | `operation` | an operation before it is enqueued |
//! | `job` | an operation that was enqueued |
//! | `tunable` | tunables with `split(…)` as operations |
//! | `tunable_kernel` | a tunable as the kernel of an operation |
//! | `scheduler` | what the program calls |
//! | `center` | the state that all threads share |
//! | `decide` | a thread's next order |
//! | `devices` | what is known of each device |
//! | `worker` | the thread of a device |
//! | `probe` | the rates of a device before its first task |
//! | `engine` | the queues of a device and what is under way in them |
//! | `steps` | the steps of tasks on their way through these |
//! | `staging` | the operands of steps |
//! | `transfers` | blocks on their way to a device, tiles on their way back |
//! | `places` | parts of operands in host memory and on the device |
//! | `clock` | the clock of a device |
//! | `device_memory` | the blocks on a device |
//! | `report` | the report of a run |
//! | `timeline` | a run as the Chrome trace format |

mod center;
mod clock;
mod decide;
mod device_memory;
mod devices;
mod engine;
mod error;
mod expression;
mod host_budget;
mod job;
mod kernel;
mod matrix;
mod matrix_core;
mod operation;
mod places;
mod probe;
mod report;
mod scheduler;
mod staging;
mod steps;
mod timeline;
mod transfers;
mod tunable;
mod tunable_kernel;
mod worker;

pub use cltune_core::tasks::{Axis, LinkRates, PlanError};
pub use error::ScheduleError;
pub use expression::{Expression, map};
pub use kernel::{Block, BlockCall, BlockError, BlockKernel, BlockMut};
pub use matrix::{Matrix, MatrixGuard, MatrixGuardMut, Results};
pub use operation::Operation;
pub use report::{DeviceReport, Progress, RunReport};
pub use scheduler::{Scheduler, SchedulerOptions};
#[doc(hidden)]
pub use tunable::{ScheduleArg, enqueue};
