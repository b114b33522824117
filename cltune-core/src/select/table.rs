//! A table of tuning results: static in generated code, owned when read from a cache.

use crate::device::{DeviceInfo, DeviceKey, DeviceType};
use crate::{List, Text};
use std::borrow::Cow;

/// The tuning results of one tunable.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The devices that results refer to by index.
    pub devices: List<TunedDevice>,
    /// The results, each for one device and problem; sorted by both, as in lockfiles. In a table
    /// that is not, others than the nearest may be found.
    pub results: List<TunedResult>,
}

/// A device that something was tuned on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunedDevice {
    /// `CL_PLATFORM_NAME`.
    pub platform: Text,
    /// The name, see [`DeviceInfo::name`].
    pub name: Text,
    /// `CL_DEVICE_VENDOR`.
    pub vendor: Text,
    /// `CL_DEVICE_TYPE`.
    pub device_type: DeviceType,
    /// `CL_DEVICE_MAX_COMPUTE_UNITS`.
    pub compute_units: i64,
    /// `CL_DEVICE_MAX_WORK_GROUP_SIZE`, work-items.
    pub max_work_group_size: i64,
    /// `CL_DEVICE_LOCAL_MEM_SIZE`, bytes.
    pub local_mem_size: i64,
}

/// The best configuration found for a device and a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedResult {
    /// The index of the device in [`Table::devices`].
    pub device: u16,
    /// The problem, in the order of the model's dimensions.
    pub problem: List<i64>,
    /// The codes of the values, in the order of the model's parameters.
    pub values: List<i64>,
    /// The measured time of one launch in microseconds.
    pub time_us: f64,
}

impl Table {
    /// No results: a tunable that was never tuned.
    pub const EMPTY: Self = Self {
        devices: Cow::Borrowed(&[]),
        results: Cow::Borrowed(&[]),
    };
}

impl Table {
    /// This table with the results of another for devices and problems that it has none for. Both
    /// are in the order of lockfiles, and so is the union.
    #[must_use]
    pub fn united(&self, other: &Self) -> Self {
        let mut devices = self.devices.to_vec();
        let mut results = self.results.to_vec();
        for result in other.results.iter() {
            let Some(device) = other.devices.get(usize::from(result.device)) else {
                continue;
            };
            let position = devices
                .iter()
                .position(|known| known.key().is(device.key()));
            let position = position.unwrap_or_else(|| {
                devices.push(device.clone());
                devices.len() - 1
            });
            let Ok(device) = u16::try_from(position) else {
                continue;
            };
            let mut known = self.results.iter();
            if known.any(|known| known.device == device && known.problem == result.problem) {
                continue;
            }
            results.push(TunedResult {
                device,
                ..result.clone()
            });
        }
        results.sort_by(|a, b| (a.device, &a.problem).cmp(&(b.device, &b.problem)));
        Self {
            devices: devices.into(),
            results: results.into(),
        }
    }
}

impl TunedDevice {
    /// The description of a device.
    pub fn of(info: &DeviceInfo) -> Self {
        Self {
            platform: info.platform.clone().into(),
            name: info.name.clone().into(),
            vendor: info.vendor.clone().into(),
            device_type: info.device_type,
            compute_units: info.limits.compute_units,
            max_work_group_size: info.limits.max_work_group_size,
            local_mem_size: info.limits.local_mem_size,
        }
    }

    /// The key of the device.
    pub fn key(&self) -> DeviceKey<'_> {
        DeviceKey {
            platform: &self.platform,
            name: &self.name,
            vendor: &self.vendor,
        }
    }
}
