//! A tuning session: every package, tunable, device and problem that was asked for.
//!
//! | file | owns |
//! |---|---|
//! | `search` | the search of one kernel, device and problem: from the space to the choice |
//! | `space` | its space: declared, derived from the device, asked for |
//! | `search_loop` | its loop: one configuration after another |
//! | `cost` | what a launch of a configuration costs |
//! | `finalists` | the choice between close configurations |
//! | `repeatability` | what another comparison would choose |
//! | `result` | its result, and its errors |
//! | `prior_results` | the results that it starts from |
//! | `stale` | the values of another version of the kernel, from which it starts, too |
//! | `evaluation` | the result of one evaluation, and failure attribution |
//! | `pipeline` | building and measuring: concurrent or batched |
//! | `workers` | the processes that do both, which are replaced when they die |
//! | `quarantine` | giving a device up after repeated failures |
//! | `steadiness` | the steadiness of a device during a search |
//! | `stopwatch` | where the time of a search goes |
//! | `startup_budget` | budgets that starting uses up |
//! | `journal` | every result, as it comes; and read back |
//! | `lockfile_update` | the lockfile, written after every search |
//! | `session_lock` | one session at a time |
//! | `progress` | progress, for people |
//! | `messages` | the same for tools, as JSON |
//! | `memory` | how much memory a problem takes, and how many draws fit |

mod cost;
mod evaluation;
mod finalists;
mod journal;
mod lockfile_update;
mod memory;
mod messages;
mod pipeline;
mod prior_results;
mod progress;
mod quarantine;
mod repeatability;
mod result;
mod search;
mod search_loop;
mod session_lock;
mod space;
mod stale;
mod startup_budget;
mod steadiness;
mod stopwatch;
mod workers;

pub(crate) use cost::Cost;
pub(crate) use evaluation::{Evaluation, failure_reason};
pub(crate) use finalists::{Choice, Compares, Judge, choose};
pub(crate) use journal::{
    JOURNALS, LeftOut, Place, Recorded, Session, file_name, is_whole, recall, seal,
};
pub(crate) use lockfile_update::{LockfileTarget, Update};
pub(crate) use memory::{bytes, draws_at_once};
pub(crate) use messages::Messages;
pub(crate) use pipeline::start_workers;
pub(crate) use progress::{Block, Screen};
pub(crate) use repeatability::Repeatability;
pub(crate) use result::{EntryCheck, Finished};
pub(crate) use search::{Earlier, SearchOptions, run};
pub(crate) use session_lock::SessionLock;
pub(crate) use workers::{IdleWorkers, MeasurementWorker, WorkerError, idle_power, list_devices};
