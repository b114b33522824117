//! `cargo cltune list`: every tunable, its parameters, the size of its space, the lockfile's state.

use super::{Format, Outcome};
use crate::artifact::{CargoArgs, discover};
use crate::json;
use crate::lockfile_store;
use crate::session::list_devices;
use crate::worker::DeviceRecord;
use cltune_core::declaration::Declaration;
use cltune_core::device::{DeviceInfo, DeviceLimits, DeviceType};
use cltune_core::lockfile::{FILE_NAME, Lockfile};
use cltune_core::parameter::Parameter;
use cltune_core::space::Space;
use serde_json::{Value, json};
use std::io::Write;

/// Lists tunables with their parameters, the size of their spaces and the lockfile's state.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    cargo: CargoArgs,
    /// How to print the list.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The space of one problem on one device.
struct Count {
    device: String,
    dims: Vec<i64>,
    cartesian: u128,
    valid: u128,
}

/// Prints the list. Without a device, spaces are counted for one without limits.
pub(crate) fn run(
    args: &ListArgs,
    stdout: &mut dyn Write,
) -> Result<Outcome, Box<dyn std::error::Error>> {
    let discovery = discover(&args.cargo)?;
    let devices: Vec<DeviceInfo> = match list_devices() {
        Ok(devices) => devices.iter().map(DeviceRecord::info).collect(),
        Err(_) => vec![without_limits()],
    };
    let mut listed = Vec::new();
    for package in &discovery.packages {
        let lockfile = lockfile_store::read(&package.manifest_dir.join(FILE_NAME))?;
        for declaration in &package.declarations {
            let state = state(declaration, lockfile.as_ref());
            let counts = counts(declaration, &devices);
            match args.format {
                Format::Text => text(declaration, state, &counts, stdout)?,
                Format::Json => listed.push(entry(declaration, state, &counts)),
            }
        }
    }
    if args.format == Format::Json {
        writeln!(stdout, "{}", json!({ "tunables": listed }))?;
    }
    Ok(Outcome::Done)
}

/// What the lockfile has of a tunable.
fn state(declaration: &Declaration, lockfile: Option<&Lockfile>) -> &'static str {
    match lockfile.and_then(|lockfile| lockfile.kernel(&declaration.model.name)) {
        None => "missing",
        Some(kernel) if kernel.is_current(&declaration.model) => "fresh",
        Some(_) => "stale",
    }
}

fn counts(declaration: &Declaration, devices: &[DeviceInfo]) -> Vec<Count> {
    let model = &declaration.model;
    let mut counts = Vec::new();
    for device in devices {
        for dims in &declaration.problems {
            let space = Space::build(&model.space_spec(dims, &device.limits));
            counts.push(Count {
                device: device.name.clone(),
                dims: dims.clone(),
                cartesian: space.cartesian(),
                valid: space.count(),
            });
        }
    }
    counts
}

fn text(
    declaration: &Declaration,
    state: &str,
    counts: &[Count],
    stdout: &mut dyn Write,
) -> std::io::Result<()> {
    let model = &declaration.model;
    writeln!(
        stdout,
        "{} ({}), lockfile: {state}",
        model.name, declaration.source_file
    )?;
    for parameter in model.parameters.iter() {
        writeln!(stdout, "   {} = {}", parameter.name, values(parameter))?;
    }
    for count in counts {
        let problem = model.describe_sizes(&count.dims);
        let separator = if problem.is_empty() { "" } else { ": " };
        writeln!(
            stdout,
            "   {}{separator}{problem}: {} of {} configurations are valid",
            count.device, count.valid, count.cartesian
        )?;
    }
    writeln!(stdout)
}

/// The first values of a parameter, and how many there are where that is many.
fn values(parameter: &Parameter) -> String {
    const SHOWN: usize = 12;
    let domain = &parameter.domain;
    let shown: Vec<String> = domain
        .codes()
        .take(SHOWN)
        .filter_map(|code| domain.value(code))
        .map(|value| value.to_string())
        .collect();
    let more = match domain.len() {
        len if len > SHOWN => format!(", … ({len} values)"),
        _ => String::new(),
    };
    format!("{}{more}", shown.join(", "))
}

fn entry(declaration: &Declaration, state: &str, counts: &[Count]) -> Value {
    let model = &declaration.model;
    let spaces: Vec<Value> = counts
        .iter()
        .map(|count| {
            json!({
                "device": count.device,
                "problem": json::problem(model, &count.dims),
                "cartesian": json::count(count.cartesian),
                "valid": json::count(count.valid),
            })
        })
        .collect();
    let parameters: Vec<Value> = model
        .parameters
        .iter()
        .map(|parameter| json!({ "name": parameter.name, "values": parameter.domain.len() }))
        .collect();
    json!({
        "name": model.name,
        "package": declaration.package,
        "source_file": declaration.source_file,
        "fingerprint": model.fingerprint,
        "lockfile": state,
        "parameters": parameters,
        "dimensions": model.dimensions,
        "spaces": spaces,
    })
}

/// A stand-in where there is no device.
fn without_limits() -> DeviceInfo {
    let most = i64::from(i32::MAX);
    DeviceInfo {
        platform: String::new(),
        name: "no device here, so without limits".into(),
        vendor: String::new(),
        device_type: DeviceType::Other,
        driver: String::new(),
        version: String::new(),
        limits: DeviceLimits {
            compute_units: 1,
            max_work_group_size: most,
            max_work_item_size_x: most,
            max_work_item_size_y: most,
            max_work_item_size_z: most,
            local_mem_size: most,
            global_mem_size: i64::MAX,
            max_mem_alloc_size: i64::MAX,
            ..DeviceLimits::default()
        },
    }
}
