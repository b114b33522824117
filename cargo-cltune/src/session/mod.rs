//! A tuning session: every package, tunable, device and problem that was asked for.
//!
//! | file | owns |
//! |---|---|
//! | `plan` | what is to be tuned |
//! | `rounds` | which devices are tuned at the same time |
//! | `bench` | measuring in workers, which are replaced when they die |
//! | `search` | the search of one kernel, device and problem: from the space to the choice |
//! | `space` | its space: declared, derived from the device, asked for |
//! | `course` | its loop: one configuration after another |
//! | `crowded` | whether starting left time of the budget to search in |
//! | `trouble` | when to give a device up |
//! | `fill` | leaving out what leaves compute units without work |
//! | `finalists` | choosing between close configurations |
//! | `keep` | the lockfile, written after every search |
//! | `journal` | every result, as it comes; and read back |
//! | `lessons` | what is known from other devices and problem sizes |
//! | `guard` | one session at a time |
//! | `progress` | what a person sees meanwhile |
//! | `messages` | the same for tools, as JSON |
//! | `memory` | how much memory a problem takes, and how many draws fit |

mod bench;
mod course;
mod crowded;
mod fill;
mod finalists;
mod guard;
mod journal;
mod keep;
mod lessons;
mod memory;
mod messages;
mod plan;
mod progress;
mod rounds;
mod search;
mod space;
mod trouble;

pub(crate) use bench::{Bench, BenchError, Spare, list_and_keep, list_devices};
pub(crate) use guard::SessionLock;
pub(crate) use journal::{Place, Recorded, Session, file_name, recall};
pub(crate) use keep::{Keeper, Kept};
pub(crate) use memory::{bytes, draws_at_once};
pub(crate) use messages::Messages;
pub(crate) use plan::{
    Filters, Job, PlanError, check_kernel_filters, choose_devices, kinds, plan, problem, tunables,
};
pub(crate) use progress::{Block, Screen, time};
pub(crate) use rounds::rounds;
pub(crate) use search::{Earlier, Entry, Finished, SearchOptions, run};
