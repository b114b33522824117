//! The user's cache: results of earlier runs of this user's programs, on disk.
//!
//! ```text
//! FOLDER/v1/lock                        locked while a file of notes is changed
//! FOLDER/v1/notes/KEY                   results and refusals of one kernel on one device
//! FOLDER/v1/notes/KEY-PROBLEM.trial     locked while a program tunes that kernel for a problem
//! FOLDER/v1/notes/KEY-PROBLEM.progress  what its calls have measured so far
//! FOLDER/v1/programs/KEY                the binary of a program, and how long building it took
//! ```
//!
//! `FOLDER` is `CLTUNE_CACHE`, or `cltune` in the platform's folder for caches; `CLTUNE_CACHE=off`
//! means no cache on disk. `FOLDER/database.toml` is the user's own, see `database`. Every other
//! file has a checksum and is replaced as a whole (progress has one for each line, and lines are
//! added): it may be deleted at any time, and a damaged one counts as missing. Nothing is read that
//! others could have written. A file that cannot be read or written is a warning, and the program
//! goes on without it.
//!
//! | file | owns |
//! |---|---|
//! | `folder` | the cache's folder, and the checks that it is this user's alone |
//! | `file` | files with a checksum, replaced as a whole, and locks |
//! | `notes` | results and refusals of a kernel on a device, as text |
//! | `store` | notes in memory and on disk |
//! | `listing` | the whole cache, for people |
//! | `programs` | program binaries, and the times that building took |
//! | `bound` | the bound on the size of the cache |
//! | `trial` | the permit to tune, and the configuration under trial |
//! | `progress` | the trials of an on-line search so far |

mod bound;
mod file;
mod folder;
mod listing;
mod notes;
mod programs;
#[cfg(feature = "tuning")]
mod progress;
mod store;
#[cfg(feature = "tuning")]
mod trial;

pub(crate) use folder::open;
pub use folder::{CacheError, Folder};
pub use listing::clear;
// For `cargo cltune` of the same release, without any promise of stability.
#[doc(hidden)]
pub use listing::Listing;
#[doc(hidden)]
pub use notes::{DamagedNotes, NotedRefusal, NotedResult, Notes};
pub(crate) use programs::{KeptProgram, ProgramId};
#[cfg(feature = "tuning")]
pub(crate) use progress::{Conditions, Progress, Tried};
pub(crate) use store::{CachedResults, Store};
#[cfg(feature = "tuning")]
pub(crate) use trial::{Trial, TuningPermit};
