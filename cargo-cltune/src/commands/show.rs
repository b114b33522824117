//! `cargo cltune show`: the source that a configuration of a tunable is built from, and its
//! launches.

use super::Exit;
use super::source_args::SourceArgs;
use super::tuned::{AllTuned, Tuned};
use crate::plan::{check_kernel_filters, choose_devices, problem};
use crate::session::list_devices;
use clap::builder::NonEmptyStringValueParser;
use cltune_core::device::{DeviceInfo, DeviceLimits};
use cltune_core::model::{BufferRef, Command, Given, Launch, Model};
use cltune_core::parameter::{Domain, Fraction, Value};
use cltune_core::select::{Table, candidates};
use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write;

/// Prints the OpenCL source of a tunable with the macros and the launches of a configuration.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The tunable: its name, or a part of it that no other has.
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// The device: an index of `cargo cltune devices`, a part of a name or platform, or
    /// `platform:name` (default: the first).
    #[arg(long, value_name = "DEVICE", value_parser = NonEmptyStringValueParser::new())]
    device: Option<String>,
    /// The problem, `n=1024,m=5` (default: the first that is declared for the device).
    #[arg(long, value_name = "SIZES")]
    problem: Option<String>,
    /// Values of parameters, `WG=64,VW=4`; the others are those that a launch would get.
    #[arg(long, value_name = "VALUES")]
    config: Option<String>,
    #[command(flatten)]
    source: SourceArgs,
}

/// Prints the source.
pub(crate) fn run(args: &ShowArgs, stdout: &mut dyn Write) -> Result<Exit, Box<dyn Error>> {
    let (discovery, lockfile) = args.source.discover()?;
    let names = std::slice::from_ref(&args.name);
    check_kernel_filters(&discovery.packages, names)?;
    let all = AllTuned::of(&discovery.packages, names, lockfile)?;
    let tuned = the_only(all.current.into_iter().chain(all.untuned).collect())?;
    let filters: Vec<String> = args.device.iter().cloned().collect();
    let devices = choose_devices(&list_devices()?, &filters)?;
    let Some(device) = devices.first() else {
        return Err("there is no OpenCL device here; `cargo cltune devices` lists them".into());
    };
    let declaration = &tuned.declaration;
    let device = device.info();
    let dims = if let Some(text) = &args.problem {
        problem(declaration, text)?
    } else {
        let declared = declaration.problems_on(&device.limits).next();
        let none = "no problem is declared for this device; name one with --problem";
        declared.ok_or(none)?.clone()
    };
    let (codes, origin) = configuration(&tuned, &device, &dims, args.config.as_deref())?;
    let text = shown(&declaration.model, &device, &dims, &codes, &origin)?;
    stdout.write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

fn the_only(mut found: Vec<Tuned>) -> Result<Tuned, String> {
    match found.pop() {
        Some(tuned) if found.is_empty() => Ok(tuned),
        last => {
            let all = found.iter().chain(&last);
            let names = all.map(|tuned| tuned.declaration.model.name.to_string());
            let names: Vec<String> = names.collect();
            Err(format!(
                "several tunables have this in their name: {}; write one of these",
                names.join(", ")
            ))
        }
    }
}

/// The configuration that a launch would get, with the values that were given; where it comes from.
fn configuration(
    tuned: &Tuned,
    device: &DeviceInfo,
    dims: &[i64],
    given: Option<&str>,
) -> Result<(Vec<i64>, String), String> {
    let model = &tuned.declaration.model;
    let chosen = candidates(model, device, dims, &tuned.table, &Table::EMPTY)
        .with_database(&tuned.database)
        .selected();
    let Some(given) = given else {
        let none = || {
            let problem = model.describe_problem(dims);
            format!(
                "no configuration of `{}` is valid here{problem}",
                model.name
            )
        };
        let chosen = chosen.ok_or_else(none)?;
        return Ok((chosen.codes.to_vec(), chosen.origin()));
    };
    let mut codes: Vec<Option<i64>> = match chosen {
        Some(chosen) => chosen.codes.iter().copied().map(Some).collect(),
        None => vec![None; model.parameters.len()],
    };
    let mut named = HashSet::new();
    for part in given.split(',').filter(|part| !part.trim().is_empty()) {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}` is not of the form `WG=64`"))?;
        let (name, value) = (name.trim(), value.trim());
        let mut parameters = model.parameters.iter();
        let position = parameters.position(|parameter| *parameter.name == *name);
        let position = position.ok_or_else(|| {
            let names: Vec<&str> = model.parameters.iter().map(|it| &*it.name).collect();
            let names = names.join(", ");
            format!(
                "`{}` has no parameter `{name}`; it has: {names}",
                model.name
            )
        })?;
        let code = code(&model.parameters[position].domain, value);
        let code = code.ok_or_else(|| format!("`{name}` has no value `{value}`"))?;
        if !named.insert(position) {
            return Err(format!("`{name}` is given twice"));
        }
        codes[position] = Some(code);
    }
    let codes: Option<Vec<i64>> = codes.into_iter().collect();
    let codes =
        codes.ok_or("no configuration is valid here, so --config has to name every value")?;
    let checked = model.check(&codes, dims, &device.limits);
    checked.map_err(|rejection| format!("{} is invalid: {rejection}", model.describe(&codes)))?;
    Ok((codes, "as given".into()))
}

/// The code of a value as it is shown; of a number in a range of all numbers as anybody writes it.
fn code(domain: &Domain, value: &str) -> Option<i64> {
    match domain {
        Domain::Reals(_) => {
            let number = Fraction::of(value.parse().ok()?);
            domain.code(&Value::Fraction(number))
        }
        _ => domain.codes().find(|code| domain.show(*code) == value),
    }
}

/// The source, after comments about the configuration and its macros.
fn shown(
    model: &Model,
    device: &DeviceInfo,
    dims: &[i64],
    codes: &[i64],
    origin: &str,
) -> Result<String, Box<dyn Error>> {
    let limits = &device.limits;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "// {}", model.name);
    let _ = writeln!(text, "// device: {} ({})", device.name, device.platform);
    if !dims.is_empty() {
        let _ = writeln!(text, "// problem: {}", model.describe_sizes(dims));
    }
    if !codes.is_empty() {
        let _ = writeln!(
            text,
            "// configuration: {} ({origin})",
            model.describe(codes)
        );
    }
    let options = model.compile_options(codes, dims, limits)?;
    if !options.is_empty() {
        let _ = writeln!(text, "// compile options: {options}");
    }
    let _ = writeln!(text, "// a call:");
    for line in calls(model, codes, dims, limits)? {
        let _ = writeln!(text, "//   {line}");
    }
    text.push('\n');
    for (name, value) in model.macros(codes, dims, limits)? {
        let _ = writeln!(text, "#define {name} {value}");
    }
    text.push('\n');
    text.push_str(model.source.trim_end());
    text.push('\n');
    Ok(text)
}

/// A line for each command of a call.
fn calls(
    model: &Model,
    codes: &[i64],
    dims: &[i64],
    limits: &DeviceLimits,
) -> Result<Vec<String>, Box<dyn Error>> {
    let name = |buffer: BufferRef| match buffer {
        BufferRef::Passed(position) => model.arguments[usize::from(position)].name.to_string(),
        BufferRef::Scratch(position) => model.scratch[usize::from(position)].name.to_string(),
    };
    let commands = model.commands(codes, dims, limits)?;
    let lines = commands.list.iter().map(|command| match command {
        Command::Launch(launch) => launched(launch, &name),
        Command::Clear { buffer, bytes } => format!("clears {bytes} bytes of {}", name(*buffer)),
        Command::Copy { from, to, bytes } => {
            format!("copies {bytes} bytes of {} to {}", name(*from), name(*to))
        }
    });
    Ok(lines.collect())
}

fn launched(launch: &Launch, name: &dyn Fn(BufferRef) -> String) -> String {
    let arguments = launch.arguments.iter().map(|given| match given {
        Given::Passed(position) => name(BufferRef::Passed(*position)),
        Given::Scratch(position) => name(BufferRef::Scratch(*position)),
        Given::Value { bytes, size } => {
            let mut whole = [0; 8];
            whole[..*size].copy_from_slice(&bytes[..*size]);
            u64::from_ne_bytes(whole).to_string()
        }
        Given::Local { bytes } => format!("{bytes} bytes of local memory"),
    });
    let arguments: Vec<String> = arguments.collect();
    let geometry = &launch.geometry;
    let size = |sizes: &[usize; 3]| {
        let used = &sizes[..geometry.work_dim as usize];
        let used: Vec<String> = used.iter().map(ToString::to_string).collect();
        used.join(" x ")
    };
    let local = geometry.local.as_ref().map_or_else(String::new, |local| {
        format!(" in groups of {}", size(local))
    });
    let arguments = arguments.join(", ");
    format!(
        "{}({arguments}), {} work-items{local}",
        launch.kernel,
        size(&geometry.global)
    )
}
