//! Run-time tuning: tuning inside of the program that uses a kernel.
//!
//! It happens in the program's own process: a library cannot start its user's program a second time
//! to have a worker, as `cargo cltune` does. A driver that crashes therefore takes the program with
//! it; the configuration under trial is noted in the cache before, and is left out at the next
//! start.
//!
//! | file | owns |
//! |---|---|
//! | `search` | the search of a tunable's space, ready to begin |
//! | `once` | tuning at the first call, which waits |
//! | `online` | on-line tuning, with the program's calls, from the first call to the last |
//! | `exploration` | an on-line search under way: the decisions of the policy, carried out |
//! | `exploration_policy` | the configuration that serves the next call |
//! | `overhead` | the budget of on-line tuning, and the costs of its steps |
//! | `background_builder` | configurations built in a thread beside the program |
//! | `launch_timer` | the time of a call's launch |
//! | `check` | comparison of a configuration's results with the default's |

mod background_builder;
mod check;
mod exploration;
mod exploration_policy;
mod launch_timer;
mod once;
mod online;
mod overhead;
mod search;

pub(crate) use exploration::{Ended, Subject};
pub(crate) use once::tune_once;
pub(crate) use online::OnlineTuner;
