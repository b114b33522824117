//! The energy that a device takes for a launch.
//!
//! | file | owns |
//! |---|---|
//! | `counter` | what a counter of energy is |
//! | `nvml` | that of an NVIDIA device |
//! | `powercap` | those of the machine's processors |
//! | `window` | so many launches that a counter's error is small |
//! | `launches` | the energy of a configuration's launches |
//! | `error` | reasons why nothing can be measured |

mod counter;
mod error;
mod launches;
#[cfg(feature = "energy")]
mod nvml;
mod powercap;
mod window;

pub use error::EnergyError;
pub(super) use launches::Metering;
pub use window::Energy;

use crate::device::Device;
use cltune_core::device::DeviceType;
use counter::Counter;
use powercap::Powercap;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use window::Watch;

/// For so long the power of an idle device is measured.
const IDLE: Duration = Duration::from_secs(1);
/// Between two readings meanwhile: counters advance once in a millisecond at most.
const BETWEEN_READINGS: Duration = Duration::from_micros(200);

/// Measures the energy that a device takes.
#[derive(Debug)]
pub struct Meter {
    counter: Box<dyn Counter>,
    source: String,
}

/// A device's energy while nothing runs on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdlePower {
    /// What was read.
    pub source: String,
    /// The power, watts.
    pub watts: f64,
    /// The largest time between two advances of the counter, seconds.
    pub period_s: f64,
}

impl IdlePower {
    /// The largest time between two advances of the counter.
    pub fn period(&self) -> Duration {
        Duration::try_from_secs_f64(self.period_s).unwrap_or(Duration::MAX)
    }
}

impl Meter {
    /// The meter of a device: NVML on an NVIDIA device, which is found by its place on the PCI bus;
    /// the powercap files on a CPU, whose energy is that of all the machine's processors.
    ///
    /// # Errors
    /// Nothing measures the device's energy, or it may not be read.
    pub fn of(device: &Device) -> Result<Self, EnergyError> {
        let info = device.info();
        let (counter, source): (Box<dyn Counter>, _) = match info.device_type {
            DeviceType::Cpu => (
                Box::new(Powercap::of_this_machine()?),
                "powercap (RAPL), all packages",
            ),
            DeviceType::Gpu if info.vendor.contains("NVIDIA") => of_nvidia(device)?,
            _ => {
                return Err(EnergyError::NoCounter {
                    device: info.name.clone(),
                });
            }
        };
        Ok(Self {
            counter,
            source: source.to_owned(),
        })
    }

    /// Measures the power while nothing runs on the device, for a second.
    ///
    /// # Errors
    /// The counter cannot be read, or does not advance.
    pub fn idle(&mut self) -> Result<IdlePower, EnergyError> {
        let begin = Instant::now();
        let (watts, period) = Watch {
            counter: &mut *self.counter,
            period: Duration::ZERO,
            clock: &|| begin.elapsed(),
            source: &self.source,
        }
        .idle(IDLE, || std::thread::sleep(BETWEEN_READINGS))?;
        Ok(IdlePower {
            source: self.source.clone(),
            watts,
            period_s: period.as_secs_f64(),
        })
    }
}

#[cfg(feature = "energy")]
fn of_nvidia(device: &Device) -> Result<(Box<dyn Counter>, &'static str), EnergyError> {
    let name = &device.info().name;
    let address = crate::opencl::pci_address(device.raw()).ok_or_else(|| EnergyError::Nvml {
        device: name.clone(),
        reason: "the OpenCL driver does not tell the device's place on the PCI bus".to_owned(),
    })?;
    nvml::open(name, &address)
}

#[cfg(not(feature = "energy"))]
fn of_nvidia(device: &Device) -> Result<(Box<dyn Counter>, &'static str), EnergyError> {
    Err(EnergyError::WithoutNvml {
        device: device.info().name.clone(),
    })
}
