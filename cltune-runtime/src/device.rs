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
        let raw = opencl::all_devices().map_err(Error::call("clGetPlatformIDs"))?;
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

    /// The device a program should use: the one that the environment variable `CLTUNE_DEVICE`
    /// names (see [`Device::matches`]), else a GPU before an accelerator before a CPU, with more
    /// compute units before fewer.
    ///
    /// # Errors
    /// As [`Device::all`], and [`Error::NoSuchDevice`] when `CLTUNE_DEVICE` matches none.
    pub fn select() -> Result<Self> {
        let all = Self::all()?;
        match std::env::var("CLTUNE_DEVICE") {
            Ok(filter) if !filter.trim().is_empty() => Self::find(&all, &filter)
                .and_then(|found| found.first().cloned().ok_or(Error::NoDevice)),
            _ => all.into_iter().reduce(Self::better).ok_or(Error::NoDevice),
        }
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

    /// Whether a filter means this device: its index in [`Device::all`], or a part of
    /// `platform: name`, without regard to case.
    pub fn matches(&self, filter: &str) -> bool {
        let filter = filter.trim();
        match filter.parse::<usize>() {
            Ok(index) => index == self.index,
            Err(_) => format!("{}: {}", self.info.platform, self.info.name)
                .to_lowercase()
                .contains(&filter.to_lowercase()),
        }
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
