//! Compile options: the configuration as macros.

use super::tunable::Tunable;
use crate::device::Device;
use crate::error::{Error, Result};
use std::fmt::Write;

/// The options that a configuration is compiled with: the declared ones, then a `-D` for every
/// parameter and extra macro.
pub(crate) fn build_options(
    tunable: &Tunable,
    device: &Device,
    codes: &[i64],
    dims: &[i64],
) -> Result<String> {
    let model = tunable.model();
    let macros = model
        .macros(codes, dims, &device.info().limits)
        .map_err(|reason| Error::InvalidConfiguration {
            kernel: model.name.to_string(),
            configuration: tunable.describe(codes),
            reason,
        })?;
    let mut options = model.options.join(" ");
    for (name, value) in macros {
        // Writing to a String cannot fail.
        let _ = write!(options, " -D{name}={value}");
    }
    Ok(options.trim_start().to_string())
}
