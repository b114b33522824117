//! Launching: from a call of the generated function to a command in a queue.
//!
//! | file | owns |
//! |---|---|
//! | `results` | the results that the selection rule chooses from |
//! | `offline` | those of lockfiles that are read at run time |
//! | `selection` | the configuration that a device and a problem get, for programs |
//! | `choice` | the first configuration of the rule that builds, and why others were passed over |
//! | `explain` | the same for people |
//! | `key` | the hash by which a remembered launch is found |
//! | `cache` | the launches that a context remembers |
//! | `tuner` | run-time tuning, where it is part of the build |

mod cache;
mod choice;
mod explain;
mod key;
#[cfg(feature = "offline")]
mod offline;
mod results;
mod selection;
mod tuner;

pub(crate) use cache::LaunchCache;
pub use explain::{Explanation, explain};
pub(crate) use results::TunedResults;
pub use selection::{Baked, Configuration, Selection, default_params, select};

use crate::error::Result;
use crate::event::Event;
use crate::kernel::{Arg, Tunable};
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
    LaunchCache::of(queue.context()).launch(tunable, queue, None, dims, args)
}

/// Checks what [`launch`] would check, and launches nothing. The program is built if it was not
/// yet.
///
/// # Errors
/// See [`crate::Error`].
pub fn check(
    tunable: &'static Tunable,
    queue: &Queue,
    dims: &[i64],
    args: &[Arg<'_>],
) -> Result<()> {
    LaunchCache::of(queue.context()).check(tunable, queue, dims, args)
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
    LaunchCache::of(queue.context()).launch(tunable, queue, Some(codes), dims, args)
}
