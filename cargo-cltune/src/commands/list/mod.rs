//! `cargo cltune list`: every tunable, its parameters, the size of its space, the lockfile's state.
//!
//! | file | owns |
//! |---|---|
//! | `counts` | the space of each device and problem: its size, and the effect of each rule |
//! | `limits` | the limits of the devices that spaces are counted for |
//! | `print` | the list as text and as JSON |

mod counts;
mod limits;
mod print;

use super::filter_args::FilterArgs;
use super::source_args::SourceArgs;
use super::{Exit, Format, warn_of_unused_parameters};
use crate::kernel_filter::KernelFilter;
use crate::lockfile_store;
use crate::plan::{check_kernel_filters, choose_devices};
use crate::session::list_devices;
use cltune_formats::declaration::Declaration;
use cltune_formats::lockfile::Lockfile;
use limits::Described;
use serde_json::json;
use std::io::Write;

/// Lists tunables with their parameters, the size of their spaces and the lockfile's state.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Show for each rule, declared or derived from the device's limits, how many configurations it
    /// removes.
    #[arg(long)]
    explain: bool,
    /// Instead of this machine's devices one with these limits:
    /// `NAME:max_work_group_size=512,local_mem_size=65536`; may be repeated. The names are those of
    /// `cargo cltune devices`. A limit that is not given rules nothing out: constraints that need
    /// it are left out, and the list says which limits these are.
    #[arg(
        long,
        value_name = "NAME:LIMIT=VALUE,…",
        value_parser = limits::parse,
        conflicts_with = "device"
    )]
    limits: Vec<Described>,
    /// How to print the list.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    source: SourceArgs,
}

/// Prints the list. Without a device, spaces are counted for one of which nothing is known.
pub(crate) fn run(
    args: &ListArgs,
    stdout: &mut dyn Write,
) -> Result<Exit, Box<dyn std::error::Error>> {
    let (discovery, named) = args.source.discover()?;
    check_kernel_filters(&discovery.packages, &args.filter.kernel)?;
    let devices: Vec<Described> = if args.limits.is_empty() {
        match list_devices() {
            Ok(devices) => choose_devices(&devices, &args.filter.device)?
                .iter()
                .map(|device| Described::from(&device.info()))
                .collect(),
            Err(error) if !args.filter.device.is_empty() => return Err(error.into()),
            Err(_) => vec![Described::unknown("no device here, so without its limits")],
        }
    } else {
        args.limits.clone()
    };
    let filter = KernelFilter::new(&args.filter.kernel, &discovery.packages);
    let wanted = |declaration: &&Declaration| filter.means(&declaration.model.name);
    let mut listed = Vec::new();
    for package in &discovery.packages {
        let lockfile = lockfile_store::read(&lockfile_store::path(named, &package.manifest_dir))?;
        for declaration in package.declarations.iter().filter(wanted) {
            warn_of_unused_parameters(declaration);
            let state = state(declaration, lockfile.as_ref());
            let counts = counts::counts(declaration, &devices, args.explain);
            match args.format {
                Format::Text => print::text(declaration, state, &counts, stdout)?,
                Format::Json => listed.push(print::json(declaration, state, &counts)),
            }
        }
    }
    if args.format == Format::Json {
        writeln!(stdout, "{}", json!({ "tunables": listed }))?;
    }
    Ok(Exit::Done)
}

/// The lockfile's entries of a tunable.
fn state(declaration: &Declaration, lockfile: Option<&Lockfile>) -> &'static str {
    let model = &declaration.model;
    match lockfile.and_then(|lockfile| Some((lockfile, lockfile.kernel(&model.name)?))) {
        None => "missing",
        Some((_, kernel)) if !kernel.is_current(model) => "stale",
        // `check` says which value no parameter takes.
        Some((lockfile, _)) if lockfile.table(model).is_err() => "damaged",
        Some((_, kernel)) => {
            let mut entries = kernel.tuned.iter();
            if entries.all(|entry| entry.measure == declaration.measure) {
                "fresh"
            } else {
                "measured otherwise"
            }
        }
    }
}
