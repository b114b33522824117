//! Devices: which there are, and which one a program uses.

use crate::error::{Error, Result};
use crate::opencl::{self, RawDevice};
use cltune_core::device::{DeviceInfo, DeviceType};
use std::fmt;
use std::sync::Arc;

/// An OpenCL device.
#[derive(Clone, Debug)]
pub struct Device {
    raw: RawDevice,
    index: usize,
    info: Arc<DeviceInfo>,
}

impl Device {
    /// Every device of every platform, in the order of the OpenCL loader, which is stable on a
    /// machine. A platform that fails does not hide the others.
    ///
    /// # Errors
    /// [`Error::OpenCl`] when there is no OpenCL library or no driver, [`Error::NoDevice`] when
    /// the drivers have no device.
    pub fn all() -> Result<Vec<Self>> {
        let raw = opencl::all_devices().map_err(Error::call("listing OpenCL devices"))?;
        if raw.is_empty() {
            return Err(Error::NoDevice);
        }
        let describe = |(index, raw)| Self {
            raw,
            index,
            info: Arc::new(opencl::describe(raw)),
        };
        Ok(raw.into_iter().enumerate().map(describe).collect())
    }

    /// The device a program should use, among those that the environment variable `CLTUNE_DEVICE`
    /// names (see [`Device::matches`]) or else among all: a GPU before an accelerator before a CPU,
    /// with more compute units before fewer, and the first of equals.
    ///
    /// # Errors
    /// As [`Device::all`], and [`Error::NoSuchDevice`] when `CLTUNE_DEVICE` matches none.
    pub fn select() -> Result<Self> {
        let all = Self::all()?;
        let filter = std::env::var_os("CLTUNE_DEVICE").unwrap_or_default();
        let filter = filter.to_string_lossy();
        let matching = if filter.trim().is_empty() {
            all
        } else {
            Self::find(&all, &filter)?
        };
        matching
            .into_iter()
            .reduce(Self::better)
            .ok_or(Error::NoDevice)
    }

    /// The devices that match a filter, at least one.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`] with the list of those that exist.
    pub fn find(all: &[Self], filter: &str) -> Result<Vec<Self>> {
        let found: Vec<Self> = all
            .iter()
            .filter(|device| device.matches(filter))
            .cloned()
            .collect();
        if found.is_empty() {
            return Err(Error::NoSuchDevice {
                filter: filter.to_string(),
                available: all.iter().map(ToString::to_string).collect(),
            });
        }
        Ok(found)
    }

    /// Whether it computes in the host's memory: CPUs do, and GPUs that are part of one.
    pub(crate) fn shares_host_memory(&self) -> bool {
        self.info.device_type == DeviceType::Cpu || opencl::is_host_unified(self.raw)
    }

    /// Whether a filter means this device, without regard to case: its index in [`Device::all`], a
    /// part of its name or platform, or a part of each as `platform:name`. The same filters are
    /// given to `cargo cltune --device`.
    pub fn matches(&self, filter: &str) -> bool {
        self.info.matches(self.index, filter)
    }

    /// Its identity and limits.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Its position in [`Device::all`].
    pub fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn raw(&self) -> RawDevice {
        self.raw
    }

    fn better(a: Self, b: Self) -> Self {
        let rank = |device: &Self| {
            let kind = match device.info.device_type {
                DeviceType::Gpu => 3,
                DeviceType::Accelerator => 2,
                DeviceType::Cpu => 1,
                DeviceType::Other => 0,
            };
            (kind, device.info.limits.compute_units)
        };
        if rank(&b) > rank(&a) { b } else { a }
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} ({})",
            self.index, self.info.name, self.info.platform
        )
    }
}
