//! One configuration of a tunable on one device: its program, its arguments, one launch.
//!
//! | file | owns |
//! |---|---|
//! | `tunable` | a tunable as generated code holds it |
//! | `arg` | the arguments of a call, and local memory |
//! | `program_builder` | compile options and built programs, each once in a context |
//! | `fit` | the comparison of a compiled kernel's needs with the device |
//! | `prepared` | a launch with everything decided |

mod arg;
mod fit;
mod prepared;
mod program_builder;
mod tunable;

pub use arg::Arg;
pub(crate) use prepared::Prepared;
pub(crate) use program_builder::ProgramBuilder;
pub use tunable::Tunable;
#[cfg(feature = "tuning")]
pub(crate) use {
    arg::{Passed, set_local_memory},
    fit::check_fit,
    program_builder::build_options,
};
