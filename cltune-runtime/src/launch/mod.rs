//! Launching: from a call of the generated function to a command in a queue.
//!
//! | file | owns |
//! |---|---|
//! | `tunable` | a tunable as generated code holds it |
//! | `knowledge` | what is known of a tunable when a configuration is selected |
//! | `offline` | lockfiles that are read at run time |
//! | `selection` | which configuration a device and a problem get, for programs |
//! | `choice` | the first configuration of the rule that builds, and why others were passed over |
//! | `explain` | the same for people |
//! | `options` | the compile options of a configuration |
//! | `programs` | built programs, each once in a context |
//! | `workshop` | what building needs of a context |
//! | `local_memory` | local-memory arguments |
//! | `fit` | whether a device has what a compiled kernel needs |
//! | `prepared` | a launch with everything decided |
//! | `refusals` | configurations that the driver refused |
//! | `key` | what a remembered launch is found by |
//! | `cache` | what a context remembers of launches |
//! | `arg` | the arguments of a call |

mod arg;
mod cache;
mod choice;
mod explain;
mod fit;
mod key;
mod knowledge;
mod local_memory;
#[cfg(feature = "offline")]
mod offline;
mod options;
mod prepared;
mod programs;
mod refusals;
mod selection;
mod tunable;
mod workshop;

pub use arg::Arg;
#[cfg(feature = "tuning")]
pub(crate) use arg::Passed;
pub(crate) use cache::LaunchCache;
pub use explain::{Explanation, explain};
#[cfg(feature = "tuning")]
pub(crate) use fit::check_fit;
pub(crate) use knowledge::Knowledge;
#[cfg(feature = "tuning")]
pub(crate) use local_memory::set_local_memory;
#[cfg(feature = "offline")]
pub(crate) use offline::readable;
#[cfg(feature = "tuning")]
pub(crate) use options::build_options;
#[cfg(feature = "tuning")]
pub(crate) use prepared::Prepared;
pub use selection::{Baked, Configuration, Selection, default_params, select};
pub use tunable::Tunable;
pub(crate) use workshop::Workshop;

use crate::error::Result;
use crate::event::Event;
use crate::queue::Queue;

/// Launches a tunable with the configuration that the selection rule gives it.
///
/// # Errors
/// See [`crate::Error`].
pub fn launch(
    tunable: &'static Tunable,
    queue: &Queue,
    dims: &[i64],
    args: &[Arg<'_>],
) -> Result<Event> {
    queue
        .context()
        .launches()
        .launch(tunable, queue, None, dims, args)
}

/// Launches a tunable with a given configuration.
///
/// # Errors
/// See [`crate::Error`]; [`crate::Error::InvalidConfiguration`] when it breaks a constraint or a
/// limit of the device.
pub fn launch_with(
    tunable: &'static Tunable,
    codes: &[i64],
    queue: &Queue,
    dims: &[i64],
    args: &[Arg<'_>],
) -> Result<Event> {
    queue
        .context()
        .launches()
        .launch(tunable, queue, Some(codes), dims, args)
}
