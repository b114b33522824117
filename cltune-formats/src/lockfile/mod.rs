//! `cltune.lock`: the tuned values of a package's tunables, the only channel from the tuner to the
//! compiler.
//!
//! The file is TOML, sorted, deterministic and without time stamps: one content has one text, so a
//! diff shows what changed and two machines that measured the same write the same bytes.
//!
//! | file | owns |
//! |---|---|
//! | `data` | the types and look-ups |
//! | `read`, `fields` | text to data: every error has a line and a remedy |
//! | `error` | what can be wrong with a text |
//! | `write` | data to text |
//! | `conflict` | merge-conflict markers: finding them, taking the two sides apart |
//! | `device_id` | the names by which entries refer to devices |
//! | `record` | replacing one tuned entry after a search |
//! | `merge` | uniting files that were tuned on different machines |
//! | `bake` | the table of one tunable, for the selection rule |

mod bake;
mod conflict;
mod data;
mod device_id;
mod error;
mod fields;
mod merge;
mod read;
mod record;
mod write;

pub use bake::BakeError;
pub use conflict::{ConflictSides, split_conflict};
pub use data::{LockDevice, LockKernel, Lockfile, Tuned};
pub(crate) use device_id::Ids;
pub use error::{LockfileError, Problem};
pub use merge::{FingerprintConflict, MeasureConflict, MergeReport, ResultConflict};
pub use record::{Measured, RecordError, Recorded};

/// The newest version of the format that this release reads, and the one it writes.
pub const VERSION: i64 = 1;

/// The file's name, beside a package's `Cargo.toml`.
pub const FILE_NAME: &str = "cltune.lock";

/// The deprecated constant that generated code uses where a file's results are stale: the
/// compiler's warning names it, by which `cargo cltune` knows that warning.
pub const STALE_CONSTANT: &str = "stale_results_in_lockfile";
/// The most bytes that a lockfile is read with: some 300,000 entries.
pub const LARGEST: u64 = 64 << 20;
