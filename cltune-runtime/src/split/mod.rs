//! One kernel on several devices: `#[tunable(split(…))]`.
//!
//! A call is divided along one problem dimension. Every device computes its share as a smaller
//! problem of the same tunable, with the configuration that the selection rule gives it, from its
//! part of each argument; results go to their places in the caller's slices. The sizes of the
//! shares are computed in [`cltune_core::split`]; a device that fails drops out, and the others do
//! its share, too.
//!
//! | file | owns |
//! |---|---|
//! | `device_set` | the devices, with what is kept between calls |
//! | `problem` | a call's arguments, and the checks against the declaration |
//! | `profiles` | the configuration and the speed of each device for a problem |
//! | `call` | a call from its first share to its last |
//! | `probe` | small first shares while speeds are unknown |
//! | `chunking` | a share in chunks, and whether its data goes through pinned memory |
//! | `operands` | what each chunk gets of each argument |
//! | `work` | the work of a device on its share, its results, and the attribution of failures |
//! | `worker` | a device at work: upload, launch, read back |
//! | `buffers` | a device's buffers, and launches with them |
//! | `resident_inputs` | inputs that stay on a device as long as they do not change |
//! | `pipeline` | a share through pinned memory, its transfers beside its launches |
//! | `copy_threads` | threads that copy to and from pinned staging buffers, and their jobs |
//! | `report` | the shares of a call and their times |

mod buffers;
mod call;
mod chunking;
mod copy_threads;
mod device_set;
mod operands;
mod pipeline;
mod probe;
mod problem;
mod profiles;
mod report;
mod resident_inputs;
mod work;
mod worker;

pub(crate) use buffers::launch;
pub use call::split;
pub use device_set::{DeviceSet, Sharing, Transfers};
pub use problem::SplitArg;
pub(crate) use problem::{Divided, Meaning, beyond_type, least_len, scalar_of};
pub(crate) use profiles::{Choice, choose};
pub use report::{SplitReport, SplitShare};
pub(crate) use work::{Attribution, Failure};
