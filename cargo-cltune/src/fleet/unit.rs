//! A unit of tuning work: one kernel on one class of devices for one problem, which is one search.

use crate::artifact::PackageTunables;
use crate::plan::Job;
use cltune_core::device::DeviceKey;
use cltune_formats::fingerprint;
use cltune_formats::lockfile::Lockfile;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One search. Units are ordered by kernel and class of devices first, so that a group's are beside
/// each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Unit {
    pub(crate) kernel: String,
    pub(crate) platform: String,
    pub(crate) device: String,
    pub(crate) vendor: String,
    /// The names of the problem's dimensions.
    dimensions: Vec<String>,
    /// Their sizes.
    problem: Vec<i64>,
}

impl Unit {
    /// The unit of a job.
    pub(crate) fn of(job: &Job) -> Self {
        let model = &job.declaration.model;
        Self {
            kernel: model.name.to_string(),
            platform: job.device.platform.clone(),
            device: job.device.name.clone(),
            vendor: job.device.vendor.clone(),
            dimensions: model.dimensions.iter().map(ToString::to_string).collect(),
            problem: job.dims.clone(),
        }
    }

    /// The kernel and the class of devices.
    pub(super) fn group(&self) -> [&str; 4] {
        [&self.kernel, &self.platform, &self.device, &self.vendor]
    }

    /// The sizes of the problem.
    pub(crate) fn dims(&self) -> &[i64] {
        &self.problem
    }

    /// The problem's dimensions with their sizes.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (&str, i64)> {
        let names = self.dimensions.iter().map(String::as_str);
        names.zip(self.problem.iter().copied())
    }

    /// The class of devices.
    pub(crate) fn key(&self) -> DeviceKey<'_> {
        DeviceKey {
            platform: &self.platform,
            name: &self.device,
            vendor: &self.vendor,
        }
    }

    /// Whether a lockfile has its result.
    pub(super) fn is_in(&self, lockfile: &Lockfile) -> bool {
        let mut devices = lockfile.devices.iter();
        let device = devices.find(|device| device.device.key().is(self.key()));
        let kernel = lockfile.kernel(&self.kernel);
        kernel.zip(device).is_some_and(|(kernel, device)| {
            let entry = kernel.entry(&device.id, &self.problem);
            entry.is_some()
        })
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.kernel, self.device)?;
        for (position, (name, size)) in self.sizes().enumerate() {
            let before = if position == 0 { " for " } else { ", " };
            write!(f, "{before}{name} = {size}")?;
        }
        Ok(())
    }
}

/// The units of jobs, each once, in an order that does not depend on the machine.
pub(crate) fn units(jobs: &[Job]) -> Vec<Unit> {
    let mut units: Vec<Unit> = jobs.iter().map(Unit::of).collect();
    units.sort();
    units.dedup();
    units
}

/// The units of each kernel on each class of devices. The units are sorted.
pub(crate) fn groups(units: &[Unit]) -> impl Iterator<Item = &[Unit]> {
    units.chunk_by(|a, b| a.group() == b.group())
}

/// A fingerprint of all that an artifact declares, and of how its results are verified and timed.
/// Two builds of the same sources have the same; a build with other features need not.
pub(crate) fn artifact_fingerprint(packages: &[PackageTunables]) -> String {
    let declarations = packages.iter().flat_map(|package| &package.declarations);
    let mut lines: Vec<String> = declarations
        .map(|declaration| {
            let model = &declaration.model;
            let results = fingerprint::of_results(declaration);
            format!("{}\0{}\0{results}\n", model.name, model.fingerprint)
        })
        .collect();
    lines.sort();
    fingerprint::of_text(&lines.concat())
}
