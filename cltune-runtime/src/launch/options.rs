//! Compile options: the configuration as macros.

use crate::device::Device;
use crate::error::{Error, Result};
use cltune_core::model::Model;
use std::fmt::Write;

/// The options that a configuration is compiled with: the declared ones, then a `-D` for every
/// parameter and extra macro.
pub(crate) fn build_options(
    model: &Model,
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
    for (name, value) in macros {
        // Writing to a String cannot fail.
        let _ = write!(options, " -D{name}={value}");
    }
    Ok(options.trim_start().to_string())
}
