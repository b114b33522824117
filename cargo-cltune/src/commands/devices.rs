//! `cargo cltune devices`: every OpenCL device with the facts that tuning uses.

use super::{Exit, Format};
use crate::session::list_devices;
use crate::terminal::printable_name;
use crate::worker::DeviceRecord;
use std::io::Write;

/// Lists the OpenCL devices with the facts that tuning uses.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DevicesArgs {
    /// How to print the list.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints the list.
pub(crate) fn run(
    args: &DevicesArgs,
    stdout: &mut dyn Write,
) -> Result<Exit, Box<dyn std::error::Error>> {
    let devices = list_devices()?;
    match args.format {
        Format::Json => writeln!(stdout, "{}", serde_json::json!({ "devices": devices }))?,
        Format::Text => {
            for device in &devices {
                print(device, stdout)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn print(device: &DeviceRecord, stdout: &mut dyn Write) -> std::io::Result<()> {
    writeln!(stdout, "{}: {}", device.index, printable_name(&device.name))?;
    let facts = [
        ("platform", &device.platform),
        ("vendor", &device.vendor),
        ("type", &device.device_type),
        ("driver", &device.driver),
        ("version", &device.version),
    ];
    let limits: Vec<(&str, String)> = device
        .limits
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_string()))
        .collect();
    let width = limits.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in facts {
        writeln!(stdout, "   {name:width$}  {}", printable_name(value))?;
    }
    for (name, value) in &limits {
        writeln!(stdout, "   {name:width$}  {value}")?;
    }
    writeln!(stdout)
}
