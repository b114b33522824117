//! One file or folder per subcommand, and what several of them share: `columns`,
//! `database`, `filter_args`, `history_args`, `lockfile_args`, `measure`, `outputs`, `source_args`,
//! `strategy_help`, `tuned`, `wanted`.

use crate::terminal::say;
use cltune_formats::declaration::Declaration;

pub(crate) mod cache;
pub(crate) mod check;
mod columns;
pub(crate) mod completions;
pub(crate) mod contribute;
mod database;
pub(crate) mod devices;
pub(crate) mod export;
mod filter_args;
mod history_args;
pub(crate) mod list;
pub(crate) mod lockfile_args;
pub(crate) mod man;
mod measure;
pub(crate) mod merge;
mod outputs;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod show;
pub(crate) mod simulate;
mod source_args;
pub(crate) mod space;
mod strategy_help;
pub(crate) mod tune;
mod tuned;
pub(crate) mod units;
pub(crate) mod verify;
mod wanted;

/// The largest `--time-limit`, seconds: a year. Sums and multiples of it are times that clocks have.
const LONGEST_LIMIT: u64 = 365 * 24 * 3600;

/// Says which parameters of a tunable nothing names: a misspelt macro leaves such a parameter.
fn warn_of_unused_parameters(declaration: &Declaration) {
    for parameter in declaration.unused_parameters() {
        say(format_args!(
            "warning: {}: nothing names the parameter `{parameter}`, neither the kernel's text nor its compile options \
             nor a formula of the declaration: its values make no difference",
            declaration.model.name
        ));
    }
}

/// The exit of a command that did what it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Exit code 0: done.
    Done,
    /// Exit code 1: found something to report.
    Reported,
    /// Exit code 130: interrupted, with everything measured so far kept.
    Interrupted,
}

/// The format of a command's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// The output of a command that takes its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MessageFormat {
    /// Tables for people.
    Human,
    /// A JSON object per line for tools.
    Json,
}
