//! What is known from tuning: static in generated code, owned when read from a cache.

use crate::device::{DeviceInfo, DeviceType};
use crate::{List, Text};
use std::borrow::Cow;

/// The tuning results of one tunable.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The devices that results refer to by index.
    pub devices: List<KnownDevice>,
    /// The results, each for one device and problem.
    pub results: List<KnownResult>,
}

/// A device that something was tuned on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDevice {
    /// `CL_PLATFORM_NAME`.
    pub platform: Text,
    /// `CL_DEVICE_NAME`.
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
pub struct KnownResult {
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

impl KnownDevice {
    /// Whether it is this very device: same platform, name and vendor.
    pub fn is(&self, info: &DeviceInfo) -> bool {
        // The name first: it differs most often.
        self.name == info.name && self.platform == info.platform && self.vendor == info.vendor
    }
}
