//! The options of `report` and `export` that select earlier results.

use super::filter_args::FilterArgs;
use super::measure::MeasureArgs;
use super::source_args::SourceArgs;
use super::tuned::{AllTuned, Tuned};
use super::{Exit, database};
use crate::history::{self, DeviceFilter, Kernel};
use crate::plan::{Filters, check_kernel_filters, problem};
use crate::session::list_devices;
use crate::terminal::say;
use cltune_core::device::DeviceKey;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The options.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct HistoryArgs {
    #[command(flatten, next_help_heading = "Which Results")]
    filter: FilterArgs,
    /// Only this problem: `n=1024,m=5`; may be repeated.
    #[arg(long, value_name = "SIZES", help_heading = "Which Results")]
    problem: Vec<String>,
    #[command(flatten, next_help_heading = "Which Results")]
    measure: MeasureArgs,
    #[command(flatten, next_help_heading = "Which Results")]
    source: SourceArgs,
}

/// The earlier results, and the folder for files about them.
pub(super) struct History {
    pub(super) kernels: Vec<Kernel>,
    /// The folder of what cltune keeps and is not committed.
    pub(super) state: PathBuf,
}

impl HistoryArgs {
    /// Builds, and adds what lockfiles hold of fused tunables to a database of template defaults.
    pub(super) fn export_database(
        &self,
        file: &Path,
        stdout: &mut dyn Write,
    ) -> Result<Exit, Box<dyn Error>> {
        let (discovery, lockfile) = self.source.discover()?;
        check_kernel_filters(&discovery.packages, &self.filter.kernel)?;
        let tuned = AllTuned::of(&discovery.packages, &self.filter.kernel, lockfile)?;
        let devices = self.filter.device.iter().map(|filter| device(filter));
        let devices = devices.collect::<Result<Vec<_>, _>>()?;
        let of_fused = |one: &&Tuned| one.declaration.model.template.is_some();
        let fused: Vec<Tuned> = tuned.current.iter().filter(of_fused).cloned().collect();
        let mut problems = Vec::new();
        for one in &fused {
            let given = self.problem.iter();
            let given = given.map(|text| problem(&one.declaration, text));
            problems.push(given.collect::<Result<Vec<_>, _>>()?);
        }
        let is_wanted = |position: usize, device: DeviceKey<'_>, dims: &[i64]| {
            let problems: &[Vec<i64>] = &problems[position];
            (devices.is_empty() || devices.iter().any(|filter| filter.matches(device)))
                && (problems.is_empty() || problems.iter().any(|of| **of == *dims))
        };
        database::export(file, &fused, is_wanted, stdout)
    }

    /// Builds, and reads what is known of the tunables, for a command that writes `output`.
    pub(super) fn read(&self, output: Option<&Path>) -> Result<History, Box<dyn Error>> {
        // Sessions that found nothing have journals and no lockfile.
        if let Err(missing) = self.source.lockfile.existing() {
            say(format_args!("warning: {missing}"));
        }
        let lockfile = self.source.lockfile.path();
        let mut discovery = self.source.discover_to_write(lockfile, output)?;
        self.measure.apply(&mut discovery.packages);
        let filters = Filters {
            kernels: self.filter.kernel.clone(),
            devices: self.filter.device.clone(),
            problems: self.problem.clone(),
        };
        let devices = self.filter.device.iter().map(|filter| device(filter));
        let devices = devices.collect::<Result<Vec<_>, _>>()?;
        let kernels = history::read(
            &discovery.packages,
            &discovery.state,
            lockfile,
            &filters,
            &devices,
        )?;
        Ok(History {
            kernels,
            state: discovery.state,
        })
    }
}

/// An index means a device of this machine; names mean the devices of the journals, wherever those
/// come from.
fn device(filter: &str) -> Result<DeviceFilter, Box<dyn Error>> {
    let Ok(index) = filter.trim().parse::<usize>() else {
        return Ok(DeviceFilter::Name(filter.to_owned()));
    };
    let devices = list_devices()?;
    let count = devices.len();
    let device = devices.into_iter().find(|device| device.index == index);
    let device = device.ok_or_else(|| {
        format!("--device {index}: this machine has {count}; `cargo cltune devices` lists them")
    })?;
    Ok(DeviceFilter::Device(Box::new(device)))
}
