//! The protocol between supervisor and worker: requests and answers.

use cltune_core::device::{DeviceField, DeviceInfo, DeviceKey, DeviceLimits, DeviceType};
use cltune_runtime::tuning::{Binary, Compared, Compiled, IdlePower, Outcome, Step};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The environment variable with the secret of a worker.
pub(super) const SECRET: &str = "CLTUNE_WORKER_SECRET";

/// What begins a line of the protocol. Drivers and kernels print to standard output too; lines
/// without it are not ours. The secret is another one for each worker, so that what a kernel prints
/// is never an answer.
pub(super) fn mark(secret: &str) -> String {
    format!("@cltune {secret} ")
}

/// A request to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// List the devices.
    Devices,
    /// Open a context of a device, for whatever is asked next.
    Open { device: usize, device_name: String },
    /// Measure the power of a device while nothing runs on it.
    IdlePower { device: usize, device_name: String },
    /// Make ready to measure a tunable on a device for a problem.
    Prepare(Box<Prepare>),
    /// Load a configuration that another worker has built and that is to be measured.
    Load {
        codes: Vec<i64>,
        binary: Option<Binary>,
    },
    /// Measure a configuration, which another worker may have built.
    Measure {
        codes: Vec<i64>,
        best_us: Option<f64>,
        binary: Option<Binary>,
    },
    /// Time configurations in turns.
    Compare { configurations: Vec<Vec<i64>> },
    /// Make ready to build configurations for another worker.
    PrepareCompiler(Box<Prepare>),
    /// Build a configuration; with its binary or without.
    Compile { codes: Vec<i64>, binary: bool },
    /// Verify a configuration on every draw, without timing it.
    Verify { codes: Vec<i64> },
}

impl Request {
    /// How long the first step may take at least, whatever a configuration may: drivers start
    /// slowly, and contexts take seconds on some devices.
    pub(super) fn least_limit(&self) -> Duration {
        match self {
            Self::Devices | Self::IdlePower { .. } => Duration::from_mins(2),
            Self::Open { .. } | Self::Prepare(_) | Self::PrepareCompiler(_) => {
                least_limit(Step::Host)
            }
            _ => Duration::ZERO,
        }
    }

    /// How long all steps may take together, where their number is the declaration's.
    pub(super) fn limit_of_all_steps(&self, limit: Duration) -> Option<Duration> {
        let is_preparing = matches!(self, Self::Prepare(_) | Self::PrepareCompiler(_));
        is_preparing.then(|| (10 * limit).max(Duration::from_mins(1)))
    }

    /// How long the answer may take once Ctrl-C was pressed: what makes ready for measuring is of
    /// no further use then, and what measures is given a moment to end.
    pub(super) fn after_interrupt(&self) -> Duration {
        match self {
            Self::Devices
            | Self::Open { .. }
            | Self::IdlePower { .. }
            | Self::Prepare(_)
            | Self::PrepareCompiler(_) => Duration::ZERO,
            Self::Load { .. }
            | Self::Measure { .. }
            | Self::Compare { .. }
            | Self::Compile { .. }
            | Self::Verify { .. } => Duration::from_secs(5),
        }
    }
}

/// The job of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Prepare {
    /// The device's position in the worker's list.
    pub(crate) device: usize,
    /// Its name, in case the list has changed.
    pub(crate) device_name: String,
    /// The text of the declaration's record.
    pub(crate) record: String,
    /// The problem.
    pub(crate) dims: Vec<i64>,
    /// The seed of the inputs.
    pub(crate) seed: u64,
    /// Where files that fill arguments are relative to.
    pub(crate) folder: PathBuf,
    /// The number of draws of inputs; `None`: as many as are declared.
    pub(crate) draws: Option<usize>,
    /// Whether verifying also draws inputs of other kinds than random ones.
    pub(crate) kinds: bool,
    /// Whether buffers lie between guard zones.
    pub(crate) guards: bool,
    /// Whether energy is measured, and the largest time between two advances of its counter.
    #[serde(default)]
    pub(crate) metering: Option<Duration>,
}

/// The result of verifying a configuration.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Verified {
    /// The number of draws on which it was right, or what is wrong with it.
    pub(crate) right: Result<usize, Outcome>,
    /// Kinds of inputs that could not be used, and why.
    pub(crate) left_out: Vec<String>,
}

/// An answer of a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Response {
    /// The answer follows; this step towards it begins.
    Step(Step),
    Devices(Vec<DeviceRecord>),
    /// There is a context.
    Opened,
    IdlePower(IdlePower),
    /// The default configuration.
    Prepared {
        default: Vec<i64>,
    },
    /// Measuring will say what became of it.
    Loaded,
    /// The outcome of a configuration, and whether this worker can measure another.
    Outcome {
        outcome: Outcome,
        usable: bool,
    },
    /// The times of each, or why it has none.
    Compared {
        compared: Vec<Result<Compared, Outcome>>,
        usable: bool,
    },
    /// The worker is ready to build.
    PreparedCompiler,
    Compiled(Compiled),
    /// The result of verifying a configuration, and whether this worker can measure another.
    Verified {
        verified: Verified,
        usable: bool,
    },
    /// The request cannot be served; the text says why and what to do.
    Failed(String),
}

/// How long a step may take at least, whatever a configuration may: what the host makes ready grows
/// with the problem.
pub(super) fn least_limit(step: Step) -> Duration {
    match step {
        Step::Host => Duration::from_mins(1),
        Step::Kernel => Duration::ZERO,
    }
}

/// A device, for the pipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceRecord {
    pub(crate) index: usize,
    pub(crate) platform: String,
    pub(crate) name: String,
    pub(crate) vendor: String,
    #[serde(rename = "type")]
    pub(crate) device_type: String,
    pub(crate) driver: String,
    pub(crate) version: String,
    pub(crate) limits: BTreeMap<String, i64>,
}

impl DeviceRecord {
    pub(crate) fn new(index: usize, info: &DeviceInfo) -> Self {
        let limit = |field: &DeviceField| (field.name().to_string(), info.limits.get(*field));
        Self {
            index,
            platform: info.platform.clone(),
            name: info.name.clone(),
            vendor: info.vendor.clone(),
            device_type: info.device_type.as_str().to_string(),
            driver: info.driver.clone(),
            version: info.version.clone(),
            limits: DeviceField::ALL.iter().map(limit).collect(),
        }
    }

    /// The key of the device.
    pub(crate) fn key(&self) -> DeviceKey<'_> {
        DeviceKey {
            platform: &self.platform,
            name: &self.name,
            vendor: &self.vendor,
        }
    }

    /// Whether it shares its cores with whatever else this machine does.
    pub(crate) fn is_cpu(&self) -> bool {
        self.device_type == DeviceType::Cpu.as_str()
    }

    /// Whether it is another device of the same kind: what is best on one is best on the other.
    pub(crate) fn is_twin(&self, other: &Self) -> bool {
        let index = self.index;
        let other = Self {
            index,
            ..other.clone()
        };
        *self == other
    }

    /// The device as the core sees it.
    pub(crate) fn info(&self) -> DeviceInfo {
        let mut limits = DeviceLimits::default();
        for (name, value) in &self.limits {
            if let Some(field) = DeviceField::from_name(name) {
                limits.set(field, *value);
            }
        }
        DeviceInfo {
            platform: self.platform.clone(),
            name: self.name.clone(),
            vendor: self.vendor.clone(),
            device_type: DeviceType::from_word(&self.device_type),
            driver: self.driver.clone(),
            version: self.version.clone(),
            limits,
        }
    }
}
