//! The formats of a command's output.

/// How a command prints its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// What a command that takes its time prints on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MessageFormat {
    /// Tables for people.
    Human,
    /// A JSON object per line for tools.
    Json,
}
