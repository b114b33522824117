//! The user's cache: what earlier runs of this user's programs found out, on disk.
//!
//! ```text
//! FOLDER/v1/lock                        locked while a file of notes is changed
//! FOLDER/v1/notes/KEY                   results and refusals of one kernel on one device
//! FOLDER/v1/notes/KEY-PROBLEM.trial     locked while a program tunes that kernel for a problem
//! FOLDER/v1/notes/KEY-PROBLEM.progress  what its calls have measured so far
//! FOLDER/v1/programs/KEY                the binary of a program, and how long building it took
//! ```
//!
//! `FOLDER` is `CLTUNE_CACHE`, or `cltune` in the platform's folder for caches; `CLTUNE_CACHE=off` means
//! no cache on disk. Every file has a checksum and is replaced as a whole (progress has one for each line,
//! and lines are added), so that it may be deleted at any time and what is damaged counts as not there.
//! Nothing is read that others could have written. What cannot be read or written is a warning, and the
//! program goes on without.
//!
//! | file | owns |
//! |---|---|
//! | `folder` | where the cache is, and whether it is this user's alone |
//! | `file` | a file with a checksum, replaced as a whole |
//! | `lock` | one program at a time |
//! | `notes` | what is known of a kernel on a device, and its text |
//! | `store` | notes in memory and on disk |
//! | `permit` | the store as run-time tuning uses it |
//! | `listing` | the whole cache, for people |
//! | `programs` | program binaries, and how long building took |
//! | `bound` | how large the cache may become |
//! | `trial` | what is being tried, in case that the program ends by it |
//! | `progress` | what was tried so far, in case that the program ends before the search |

mod bound;
mod file;
mod folder;
mod listing;
mod lock;
mod notes;
#[cfg(feature = "tuning")]
mod permit;
mod programs;
#[cfg(feature = "tuning")]
mod progress;
mod store;
#[cfg(feature = "tuning")]
mod trial;

pub use folder::{CacheError, Folder};
pub use listing::{Listing, clear};
pub use notes::{DamagedNotes, NotedRefusal, NotedResult, Notes};
#[cfg(feature = "tuning")]
pub(crate) use permit::TuningPermit;
pub(crate) use programs::{KeptProgram, ProgramId};
#[cfg(feature = "tuning")]
pub(crate) use progress::{Conditions, Progress, Tried};
pub(crate) use store::{CachedResults, Store};
#[cfg(feature = "tuning")]
pub(crate) use trial::Trial;
