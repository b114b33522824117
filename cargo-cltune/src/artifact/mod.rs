//! Finding tunables: in the artifacts of a cargo build, or in one given file.
//!
//! | file | owns |
//! |---|---|
//! | `build` | running cargo and learning what it built |
//! | `packages` | the packages that a command line asks for |
//! | `diagnostics` | the compiler's diagnostics |
//! | `read` | the link sections of a file |
//! | `collect` | the tunables of each package, each one once |
//! | `sources` | changes of sources that cargo does not notice |

mod build;
mod collect;
mod diagnostics;
mod packages;
mod read;
mod sources;

pub(crate) use build::CargoArgs;
pub(crate) use collect::{
    DiscoverError, Discovery, PackageTunables, STATE, discover, discover_or_read, discover_to_tune,
};
pub(crate) use sources::{touch, touch_sources};
