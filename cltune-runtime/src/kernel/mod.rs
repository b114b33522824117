//! One configuration of a tunable on one device: its program, its arguments, one launch.
//!
//! | file | owns |
//! |---|---|
//! | `tunable` | a tunable as generated code holds it |
//! | `arg` | the arguments of a call |
//! | `program_builder` | compile options and built programs, each once in a context |
//! | `fit` | the comparison of a compiled kernel's needs with the device |
//! | `commands` | the commands of a call, with their kernels |
//! | `prepared` | a launch with everything decided |

mod arg;
mod commands;
mod fit;
mod prepared;
mod program_builder;
mod tunable;

pub use arg::Arg;
pub(crate) use commands::Enqueued;
pub(crate) use prepared::Prepared;
pub(crate) use program_builder::ProgramBuilder;
pub use tunable::Tunable;
#[cfg(feature = "tuning")]
pub(crate) use {
    arg::Passed,
    commands::{Operand, PreparedCommands},
    program_builder::build_options,
};
