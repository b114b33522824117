//! Finding tunables: in the artifacts of a cargo build, or in one given file.
//!
//! | file | owns |
//! |---|---|
//! | `build` | running cargo and learning what it built |
//! | `diagnostics` | what the compiler says meanwhile |
//! | `read` | the link sections of a file |
//! | `collect` | which tunables belong to which package; each once |
//! | `sources` | whether what was built is what lies there now |

mod build;
mod collect;
mod diagnostics;
mod read;
mod sources;

pub(crate) use build::CargoArgs;
pub(crate) use collect::{
    Discovery, PackageTunables, discover, discover_or_read, discover_to_tune,
};
pub(crate) use sources::{touch, touch_sources};
