//! One kernel on several devices: `#[tunable(split(…))]`.
//!
//! A call is divided along one problem dimension. Every device computes its share as a smaller problem
//! of the same tunable, with the configuration that the selection rule gives it, from its part of each
//! argument; results go to their places in the caller's slices. Who gets how much is computed in
//! [`cltune_core::split`]; a device that fails drops out, and the others do its share, too.
//!
//! | file | owns |
//! |---|---|
//! | `device_set` | the devices, with what is kept between calls |
//! | `argument` | what the caller passes |
//! | `problem` | a call that was checked: sizes and layouts |
//! | `known` | what is known of each device for a problem: configuration and speed |
//! | `call` | a call from its first share to its last |
//! | `probe` | small first shares while speeds are unknown |
//! | `round` | devices that work at the same time |
//! | `portions`, `across` | a share in pieces, and whether its data goes through pinned memory |
//! | `operands` | what each piece gets of each argument |
//! | `turn` | what a device has to do in a round, and what came of it |
//! | `worker` | a device's turn: upload, launch, read back |
//! | `buffers` | a device's buffers |
//! | `contents` | which bytes of pinned memory a buffer has, and how others are put together from such |
//! | `residents` | inputs that stay on a device as long as they do not change |
//! | `pipeline` | a turn through pinned memory, its transfers beside its launches |
//! | `flows` | what a turn transfers, and whether it is in pinned memory already |
//! | `lanes`, `jobs` | threads that copy to and from pinned memory; what they are to do |
//! | `blame` | what a failure says about the device |
//! | `report` | who did what, and how long it took |

mod across;
mod argument;
mod blame;
mod buffers;
mod call;
mod contents;
mod device_set;
mod flows;
mod jobs;
mod known;
mod lanes;
mod operands;
mod pipeline;
mod portions;
mod probe;
mod problem;
mod report;
mod residents;
mod round;
mod turn;
mod worker;

pub use argument::SplitArg;
pub use call::split;
pub use device_set::{DeviceSet, Sharing, Transfers};
pub use report::{SplitReport, SplitShare};
pub(crate) use residents::{free_kept, free_stale};
