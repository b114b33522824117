//! The options that say what is tuned: kernels, devices, problems.

use super::filter_args::FilterArgs;
use crate::artifact::PackageTunables;
use crate::captured::{self, Captured};
use crate::plan::{Filters, Job, plan};
use crate::terminal::say;
use crate::worker::DeviceRecord;
use std::error::Error;
use std::path::PathBuf;

/// What to tune.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct WantedArgs {
    #[command(flatten, next_help_heading = "Tuning")]
    filter: FilterArgs,
    /// Tune for this problem instead of the declared ones: `n=1024,m=5`; may be repeated.
    #[arg(long, value_name = "SIZES", help_heading = "Tuning")]
    problem: Vec<String>,
    /// Tune the problems that a program recorded in this folder: run it with
    /// `CLTUNE_CAPTURE=FOLDER` first, and with `CLTUNE_CAPTURE_DATA=1` to tune with its data, too.
    /// The most expensive first, each on the device that it ran on.
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with = "problem",
        help_heading = "Tuning"
    )]
    captured: Option<PathBuf>,
}

/// The searches that are wanted.
pub(super) struct Wanted {
    pub(super) jobs: Vec<Job>,
    /// The capture that they are of.
    pub(super) captured: Option<Vec<Captured>>,
}

impl WantedArgs {
    /// The filters for devices.
    pub(super) fn devices(&self) -> &[String] {
        &self.filter.device
    }

    /// The searches of these packages' tunables on these devices.
    pub(super) fn jobs(
        &self,
        packages: &[PackageTunables],
        devices: &[DeviceRecord],
    ) -> Result<Wanted, Box<dyn Error>> {
        let filters = Filters {
            kernels: self.filter.kernel.clone(),
            devices: self.filter.device.clone(),
            problems: self.problem.clone(),
        };
        let Some(folder) = self.captured.as_deref() else {
            return Ok(Wanted {
                jobs: plan(packages, devices, &filters)?,
                captured: None,
            });
        };
        let captured = captured::read(folder, |damaged| say(format_args!("warning: {damaged}")))?;
        let (jobs, skipped) = captured::jobs(&captured, packages, devices, &filters)?;
        for reason in skipped {
            say(format_args!("not tuned: {reason}"));
        }
        Ok(Wanted {
            jobs,
            captured: Some(captured),
        })
    }
}
