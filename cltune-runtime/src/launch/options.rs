//! Compile options: the configuration as macros.

use crate::device::Device;
use crate::error::{Error, Result};
use cltune_core::model::{Model, mentioned};
use std::fmt::Write;

/// The options that a configuration is compiled with: the declared ones, then a `-D` for every
/// parameter and extra macro that `source` can mention. So configurations that are the same program
/// have the same options, and it is compiled once where drivers and we keep what was built.
pub(crate) fn build_options(
    model: &Model,
    source: &str,
    device: &Device,
    codes: &[i64],
    dims: &[i64],
) -> Result<String> {
    let macros = model
        .macros(codes, dims, &device.info().limits)
        .map_err(|reason| Error::InvalidConfiguration {
            kernel: model.name.to_string(),
            configuration: model.describe(codes),
            reason,
        })?;
    let mut options = model.options.join(" ");
    for (name, value) in mentioned(source, &options, macros) {
        // Writing to a String cannot fail.
        let _ = write!(options, " -D{name}={value}");
    }
    Ok(options.trim_start().to_string())
}
