//! One configuration of a tunable on one device: its program, its arguments, one launch.
//!
//! | file | owns |
//! |---|---|
//! | `tunable` | a tunable as generated code holds it |
//! | `arg` | the arguments of a call |
//! | `program_builder` | compile options and built programs, each once in a context |
//! | `fit` | the comparison of a compiled kernel's needs with the device |
//! | `layout` | the layouts of structs, as the device's compiler sees them |
//! | `commands` | the commands of a call, with their kernels |
//! | `command_error` | reasons why they cannot be prepared |
//! | `prepared` | a launch with everything decided |

mod arg;
mod command_error;
mod commands;
mod fit;
mod layout;
mod prepared;
mod program_builder;
mod tunable;

pub use arg::Arg;
pub use layout::{FieldLayout, StructLayout};
pub(crate) use prepared::Prepared;
pub(crate) use program_builder::ProgramBuilder;
pub use tunable::Tunable;
#[cfg(feature = "tuning")]
pub(crate) use {
    arg::Passed,
    commands::{Operand, PreparedCommands},
    layout::{LAYOUT_KERNEL, check_layouts, check_names, mentions, with_layout_kernel},
    program_builder::build_options,
};
