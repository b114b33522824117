//! Replacing one tuned entry after a search.

use super::data::{round_energy, round_time};
use super::{LockDevice, LockKernel, Lockfile, Tuned};
use cltune_core::device::DeviceInfo;
use cltune_core::measure::Measure;
use cltune_core::model::Model;
use cltune_core::select::TunedDevice;

/// What a search found for one kernel, device and problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The problem, in the order of [`Model::dimensions`].
    pub dims: Vec<i64>,
    /// The codes of the best values, in the order of [`Model::parameters`].
    pub codes: Vec<i64>,
    /// The time of one launch in microseconds.
    pub time_us: f64,
    /// The time of the default configuration, in microseconds.
    pub default_us: Option<f64>,
    /// How many configurations were evaluated.
    pub evaluated: u64,
    /// How many configurations are valid.
    pub valid: u128,
    /// The search strategy.
    pub strategy: String,
    /// How results were verified, where that is known:
    /// [`fingerprint::of_verification`](crate::fingerprint::of_verification).
    pub verification: Option<String>,
    /// What was measured: with which caches, and by which objective it was chosen.
    pub measure: Measure,
    /// The energy of one launch, joules, where that was measured.
    pub energy_j: Option<f64>,
    /// The energy of one launch of the default, joules.
    pub default_energy_j: Option<f64>,
}

/// What [`Lockfile::record`] did.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The device's id in the file.
    pub device: String,
    /// The entry that was there before for the same device and problem.
    pub replaced: Option<Tuned>,
    /// How many entries were dropped because they were tuned for another version of the kernel.
    pub dropped: usize,
}

/// A result that does not fit the kernel it is said to be of.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// More or fewer values than parameters.
    #[error("{found} values for the {expected} parameters of `{kernel}`")]
    ValueCount {
        /// The kernel.
        kernel: String,
        /// How many values the result has.
        found: usize,
        /// How many parameters the kernel has.
        expected: usize,
    },
    /// A code that is not in its parameter's domain.
    #[error("parameter `{parameter}` of `{kernel}` has no value with the code {code}")]
    NotInDomain {
        /// The kernel.
        kernel: String,
        /// The parameter.
        parameter: String,
        /// The code.
        code: i64,
    },
    /// More or fewer sizes than problem dimensions.
    #[error("{found} sizes for the {expected} problem dimensions of `{kernel}`")]
    DimensionCount {
        /// The kernel.
        kernel: String,
        /// How many sizes the result has.
        found: usize,
        /// How many dimensions the kernel has.
        expected: usize,
    },
    /// A time that is negative, infinite or not a number.
    #[error("a time of {time_us} microseconds for `{kernel}`")]
    BadTime {
        /// The kernel.
        kernel: String,
        /// The time.
        time_us: f64,
    },
    /// An energy that is negative, infinite or not a number.
    #[error("an energy of {energy_j} joules for `{kernel}`")]
    BadEnergy {
        /// The kernel.
        kernel: String,
        /// The energy.
        energy_j: f64,
    },
}

impl Lockfile {
    /// Inserts the result of a search, or replaces the one for the same kernel, device and problem.
    ///
    /// The device's description is brought up to date. When the kernel's fingerprint, parameters or
    /// dimensions changed since its other entries were written, those are dropped: they describe
    /// another kernel.
    ///
    /// # Errors
    /// When the result does not fit the model; the file is then unchanged.
    pub fn record(
        &mut self,
        model: &Model,
        info: &DeviceInfo,
        measured: &Measured,
    ) -> Result<Recorded, RecordError> {
        let mut tuned = tuned_entry(model, measured)?;
        let device = self.describe(info);
        tuned.device.clone_from(&device);
        let (kernel, dropped) = self.kernel_of(model);
        let replaced = kernel.replace(tuned);
        self.sort();
        Ok(Recorded {
            device,
            replaced,
            dropped,
        })
    }

    /// Inserts the device or brings its description up to date; returns its id.
    fn describe(&mut self, info: &DeviceInfo) -> String {
        let id = self.device_id(info);
        let description = LockDevice {
            id: id.clone(),
            device: TunedDevice::of(info),
            driver: info.driver.clone(),
        };
        match self.devices.iter_mut().find(|device| device.id == id) {
            Some(device) => *device = description,
            None => self.devices.push(description),
        }
        id
    }

    /// The kernel's entries, emptied when they are of another version; how many were dropped.
    fn kernel_of(&mut self, model: &Model) -> (&mut LockKernel, usize) {
        let fresh = LockKernel::of(model);
        let position = self
            .kernels
            .iter()
            .position(|kernel| kernel.name == fresh.name);
        let position = position.unwrap_or_else(|| {
            self.kernels.push(fresh.clone());
            self.kernels.len() - 1
        });
        let kernel = &mut self.kernels[position];
        let mut dropped = 0;
        if !kernel.is_current(model) {
            dropped = kernel.tuned.len();
            *kernel = fresh;
        }
        (kernel, dropped)
    }
}

impl LockKernel {
    fn of(model: &Model) -> Self {
        Self {
            name: model.name.to_string(),
            fingerprint: model.fingerprint.to_string(),
            params: model
                .parameters
                .iter()
                .map(|parameter| parameter.name.to_string())
                .collect(),
            tuned: Vec::new(),
        }
    }

    /// Whether the entries were tuned for this very declaration.
    pub fn is_current(&self, model: &Model) -> bool {
        let params = model.parameters.iter().map(|parameter| &*parameter.name);
        self.fingerprint == model.fingerprint
            && params.eq(self.params.iter().map(String::as_str))
            && self
                .tuned
                .iter()
                .all(|tuned| tuned.names_dimensions(&model.dimensions))
    }

    /// Puts an entry in the place of the one with the same device and problem.
    fn replace(&mut self, tuned: Tuned) -> Option<Tuned> {
        let same = |other: &&mut Tuned| Tuned::key_order(other, &tuned).is_eq();
        if let Some(entry) = self.tuned.iter_mut().find(same) {
            return Some(std::mem::replace(entry, tuned));
        }
        self.tuned.push(tuned);
        None
    }
}

impl Tuned {
    fn names_dimensions(&self, dimensions: &[cltune_core::Text]) -> bool {
        self.problem
            .iter()
            .map(|(name, _)| name.as_str())
            .eq(dimensions.iter().map(|name| &**name))
    }
}

/// The entry of a result, without its device.
fn tuned_entry(model: &Model, measured: &Measured) -> Result<Tuned, RecordError> {
    let kernel = || model.name.to_string();
    if measured.codes.len() != model.parameters.len() {
        let (found, expected) = (measured.codes.len(), model.parameters.len());
        return Err(RecordError::ValueCount {
            kernel: kernel(),
            found,
            expected,
        });
    }
    if measured.dims.len() != model.dimensions.len() {
        let (found, expected) = (measured.dims.len(), model.dimensions.len());
        return Err(RecordError::DimensionCount {
            kernel: kernel(),
            found,
            expected,
        });
    }
    let checked_time = |time_us: f64| {
        if time_us.is_finite() && time_us >= 0.0 {
            // Adding zero turns -0.0 into 0.0.
            Ok(round_time(time_us) + 0.0)
        } else {
            Err(RecordError::BadTime {
                kernel: kernel(),
                time_us,
            })
        }
    };
    let checked_energy = |energy_j: f64| {
        if energy_j.is_finite() && energy_j >= 0.0 {
            Ok(round_energy(energy_j) + 0.0)
        } else {
            Err(RecordError::BadEnergy {
                kernel: kernel(),
                energy_j,
            })
        }
    };
    let mut values = Vec::with_capacity(measured.codes.len());
    for (parameter, &code) in model.parameters.iter().zip(&measured.codes) {
        let value = parameter
            .domain
            .value(code)
            .ok_or_else(|| RecordError::NotInDomain {
                kernel: kernel(),
                parameter: parameter.name.to_string(),
                code,
            })?;
        values.push(value);
    }
    let names = model.dimensions.iter().map(ToString::to_string);
    Ok(Tuned {
        device: String::new(),
        problem: names.zip(measured.dims.iter().copied()).collect(),
        values,
        time_us: checked_time(measured.time_us)?,
        default_us: measured.default_us.map(checked_time).transpose()?,
        evaluated: measured.evaluated,
        valid: measured.valid,
        strategy: measured.strategy.clone(),
        verification: measured.verification.clone(),
        measure: measured.measure,
        energy_j: measured.energy_j.map(checked_energy).transpose()?,
        default_energy_j: measured.default_energy_j.map(checked_energy).transpose()?,
    })
}
