//! Names and colours of devices, the same everywhere on the page.

use crate::history::{Kernel, OnDevice};

/// Colours of which no two devices share one, where there are no more devices.
const COLOURS: usize = 6;

/// Every device of the page: platform and name, sorted.
pub(super) struct Devices(Vec<(String, String)>);

impl Devices {
    pub(super) fn of(kernels: &[Kernel]) -> Self {
        let problems = kernels.iter().flat_map(|kernel| &kernel.problems);
        let found = problems.flat_map(|problem| &problem.devices);
        let mut devices: Vec<(String, String)> = found
            .map(|on| (on.platform.clone(), on.device.clone()))
            .collect();
        devices.sort();
        devices.dedup();
        Self(devices)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// A device's name, with its platform where another has the same name.
    pub(super) fn name(&self, on: &OnDevice) -> String {
        let same = self.0.iter().filter(|(_, name)| *name == on.device);
        if same.count() > 1 {
            format!("{} ({})", on.device, on.platform)
        } else {
            on.device.clone()
        }
    }

    /// The class that gives a device its colour.
    pub(super) fn class(&self, on: &OnDevice) -> String {
        let is_it =
            |(platform, name): &(String, String)| *platform == on.platform && *name == on.device;
        let position = self.0.iter().position(is_it).unwrap_or_default();
        format!("device{}", position % COLOURS)
    }
}
