//! A tuning session: every package, tunable, device and problem that was asked for.
//!
//! | file | owns |
//! |---|---|
//! | `plan` | what is to be tuned |
//! | `budget` | how long a search may take |
//! | `bench` | a worker that is ready to measure, replaced when it dies |
//! | `search` | the search of one kernel, device and problem: from the space to the choice |
//! | `course` | its loop: one configuration after another |
//! | `finalists` | choosing between close configurations |
//! | `keep` | the lockfile, written after every search |
//! | `journal` | every result, as it comes; and read back |
//! | `lessons` | what is known from other devices and problem sizes |
//! | `guard` | one session at a time; Ctrl-C |
//! | `progress` | what is printed meanwhile |
//! | `messages` | the same for tools, as JSON |

mod bench;
mod budget;
mod course;
mod finalists;
mod guard;
mod journal;
mod keep;
mod lessons;
mod messages;
mod plan;
mod progress;
mod search;

pub(crate) use bench::{BenchError, list_devices};
pub(crate) use budget::Budget;
pub(crate) use guard::{SessionLock, interrupted, watch_interrupts};
pub(crate) use keep::{Keeper, touch_sources};
pub(crate) use messages::Messages;
pub(crate) use plan::{
    Filters, Job, PlanError, check_kernel_filters, choose_devices, plan, problem,
};
pub(crate) use progress::time;
pub(crate) use search::{Finished, SearchOptions, run};
