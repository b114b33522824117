//! The options `--kernel` and `--device`.

use clap::builder::NonEmptyStringValueParser;

/// The options.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct FilterArgs {
    /// Only tunables whose name is this or, where there is none, contains it; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) kernel: Vec<String>,
    /// Only this device: an index of `cargo cltune devices`, a part of a name or platform, or
    /// `platform:name`; may be repeated.
    #[arg(long, value_name = "DEVICE", value_parser = NonEmptyStringValueParser::new())]
    pub(super) device: Vec<String>,
}
