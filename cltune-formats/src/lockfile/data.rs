//! The content of a lockfile.

use cltune_core::device::{DeviceField, DeviceInfo, DeviceType};
use cltune_core::measure::Measure;
use cltune_core::parameter::Value;
use cltune_core::select::TunedDevice;
use std::cmp::Ordering;
use std::collections::HashMap;

/// The content of a lockfile.
///
/// Kept sorted by everything in this module: devices by id, kernels by name, entries by device and
/// problem. Whoever changes the lists by hand calls [`Lockfile::sort`] afterwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lockfile {
    /// The devices that entries refer to.
    pub devices: Vec<LockDevice>,
    /// The tuned kernels.
    pub kernels: Vec<LockKernel>,
}

/// A device that something was tuned on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockDevice {
    /// The name that entries refer to it by, unique in the file: `nvidia-h200`.
    pub id: String,
    /// Its key and the limits that selection compares.
    pub device: TunedDevice,
    /// `CL_DRIVER_VERSION` of the latest tuning.
    pub driver: String,
}

/// A kernel's tuned entries.
#[derive(Clone, Debug, PartialEq)]
pub struct LockKernel {
    /// Package and function: `my_crate::saxpy`.
    pub name: String,
    /// The fingerprint of the declaration that all the entries were tuned for.
    pub fingerprint: String,
    /// The names of the parameters, in the order of every entry's values.
    pub params: Vec<String>,
    /// The entries.
    pub tuned: Vec<Tuned>,
}

/// The best configuration found for a device and a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The id of a device of the file.
    pub device: String,
    /// Names and values of the problem dimensions, in the order of the declaration; the same names
    /// in every entry of a kernel.
    pub problem: Vec<(String, i64)>,
    /// The values of the parameters, in the order of [`LockKernel::params`].
    pub values: Vec<Value>,
    /// The measured time of one launch in microseconds.
    pub time_us: f64,
    /// The time of the declared default in the same session, in microseconds.
    pub default_us: Option<f64>,
    /// How many configurations were evaluated.
    pub evaluated: u64,
    /// How many configurations are valid on that device for that problem.
    pub valid: u128,
    /// The search strategy.
    pub strategy: String,
    /// How its results were verified, where that is known:
    /// [`fingerprint::of_verification`](crate::fingerprint::of_verification).
    pub verification: Option<String>,
    /// What was measured: with which caches, and by which objective it was chosen.
    pub measure: Measure,
    /// The energy of one launch, joules, where that was measured.
    pub energy_j: Option<f64>,
    /// The energy of one launch of the declared default in the same session, joules.
    pub default_energy_j: Option<f64>,
}

impl Lockfile {
    /// The device with this id.
    pub fn device(&self, id: &str) -> Option<&LockDevice> {
        self.devices.iter().find(|device| device.id == id)
    }

    /// The entry of this very device: same platform, name and vendor.
    pub fn device_of(&self, info: &DeviceInfo) -> Option<&LockDevice> {
        self.devices
            .iter()
            .find(|known| known.device.key().is(info.key()))
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&LockKernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty() && self.kernels.is_empty()
    }

    /// Restores the order that [`Lockfile`] describes.
    pub fn sort(&mut self) {
        self.devices.sort_by(|a, b| a.id.cmp(&b.id));
        self.kernels.sort_by(|a, b| a.name.cmp(&b.name));
        for kernel in &mut self.kernels {
            kernel.sort();
        }
    }
}

impl LockDevice {
    /// A limit of the device; `None` where the file does not hold it.
    pub fn limit(&self, field: DeviceField) -> Option<i64> {
        match field {
            DeviceField::ComputeUnits => Some(self.device.compute_units),
            DeviceField::MaxWorkGroupSize => Some(self.device.max_work_group_size),
            DeviceField::LocalMemSize => Some(self.device.local_mem_size),
            DeviceField::IsCpu => Some((self.device.device_type == DeviceType::Cpu).into()),
            DeviceField::IsGpu => Some((self.device.device_type == DeviceType::Gpu).into()),
            _ => None,
        }
    }
}

impl LockKernel {
    /// The entry for a device and a problem, given as values in the order of the declaration.
    pub fn entry(&self, device: &str, dims: &[i64]) -> Option<&Tuned> {
        let order = |tuned: &Tuned| {
            let device = tuned.device.as_str().cmp(device);
            device.then_with(|| tuned.dims().cmp(dims.iter().copied()))
        };
        let found = self.tuned.binary_search_by(order).ok();
        found.map(|position| &self.tuned[position])
    }

    pub(super) fn sort(&mut self) {
        self.tuned.sort_by(Tuned::key_order);
    }
}

impl Tuned {
    /// What its objective wants least of, with the unit of
    /// [`Objective::figure`](cltune_core::measure::Objective::figure); infinite where it is not
    /// known, which only a file has that was edited.
    pub fn figure(&self) -> f64 {
        let objective = self.measure.objective;
        objective
            .figure(self.time_us, self.energy_j)
            .unwrap_or(f64::INFINITY)
    }

    /// The values of the problem dimensions, in the order of the declaration.
    pub fn dims(&self) -> impl Iterator<Item = i64> + '_ {
        self.problem.iter().map(|(_, value)| *value)
    }

    /// Brings the dimensions into the order of another entry of the same kernel; `false` when they
    /// are not the same dimensions. (An editor may have sorted the keys: TOML tables have no
    /// order.)
    pub(super) fn order_dimensions_like(&mut self, first: &Self) -> bool {
        let order = first.problem.iter().map(|(name, _)| name);
        if order.clone().eq(self.problem.iter().map(|(name, _)| name)) {
            return true;
        }
        let sizes: HashMap<&str, i64> = self
            .problem
            .iter()
            .map(|(name, size)| (name.as_str(), *size))
            .collect();
        let find = |name: &String| Some((name.clone(), *sizes.get(name.as_str())?));
        let ordered: Option<Vec<_>> = order.map(find).collect();
        match ordered {
            Some(ordered) if ordered.len() == self.problem.len() => {
                self.problem = ordered;
                true
            }
            _ => false,
        }
    }

    /// The order of entries in a file; equal for entries of one device and problem.
    pub(super) fn key_order(a: &Self, b: &Self) -> Ordering {
        a.device.cmp(&b.device).then_with(|| a.dims().cmp(b.dims()))
    }
}

/// Rounds a time for the lockfile: to 3 decimals, or to 4 significant digits where that keeps more
/// (below one microsecond). More digits are noise that only makes diffs longer.
pub(super) fn round_time(time_us: f64) -> f64 {
    let text = if time_us < 1.0 && time_us > 0.0 {
        format!("{time_us:.3e}")
    } else {
        format!("{time_us:.3}")
    };
    // Both texts are numbers that `parse` accepts; the fallback keeps the measured value.
    text.parse().unwrap_or(time_us)
}

/// Rounds an energy for the lockfile to 4 significant digits: it is measured to 2 %.
pub(super) fn round_energy(joules: f64) -> f64 {
    format!("{joules:.3e}").parse().unwrap_or(joules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_three_decimals_or_four_digits() {
        for (time, expected) in [
            (7.419_999, 7.42),
            (1_234.567_89, 1_234.568),
            (0.012_345_678, 0.012_35),
            (0.999_96, 1.0),
            (0.0, 0.0),
            (1e9, 1e9),
        ] {
            assert_eq!(round_time(time), expected);
            assert_eq!(
                round_time(expected),
                expected,
                "rounding twice changes nothing"
            );
        }
    }
}
