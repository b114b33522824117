//! Results in the formats of other tuners, and of the recordings that `simulate` replays: written
//! from our journals, and read from anywhere. The texts of these formats are parsed in
//! `cltune_search::recorded`.
//!
//! | file | owns |
//! |---|---|
//! | `export` | the results that are written |
//! | `kernel_tuner`, `t4`, `csv` | writing a format each |
//! | `read` | opening a file of any of them |
//! | `import` | files of other tuners for the report |

mod csv;
mod export;
mod import;
mod kernel_tuner;
mod read;
mod t4;

pub(crate) use export::Export;
pub(crate) use import::import;
pub(crate) use read::{ReadError, read};

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Layout {
    /// Kernel Tuner's cache file, which its dashboard and its simulation mode open.
    KernelTuner,
    /// T4, the results format of the auto-tuning community.
    T4,
    /// A row per configuration, with a header; what `cargo cltune simulate` replays.
    Csv,
}

impl Layout {
    /// The ending of the names of such files.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::KernelTuner => "kernel-tuner.json",
            Self::T4 => "t4.json",
            Self::Csv => "csv",
        }
    }

    /// The text of a file in this format.
    pub(crate) fn write(self, export: &Export<'_>) -> String {
        match self {
            Self::KernelTuner => kernel_tuner::write(export),
            Self::T4 => t4::write(export),
            Self::Csv => csv::write(export),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/exchange.rs"]
mod tests;
