//! Captures: launches that programs recorded while `CLTUNE_CAPTURE` named a folder, to be tuned and
//! verified.
//!
//! | file | owns |
//! |---|---|
//! | `read` | the files of a folder, read and united |
//! | `jobs` | the jobs of it, in their order; a tunable with its data |
//! | `coverage` | the share of the recorded time that is tuned |

mod coverage;
mod jobs;
mod read;

pub(crate) use coverage::{Coverage, coverage};
pub(crate) use jobs::{Inputs, OTHER_DIMENSIONS, dims, jobs, with_data};
pub(crate) use read::{ReadError, read};

use cltune_core::device::DeviceKey;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A kernel that was launched on a device for a problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Captured {
    pub(crate) kernel: String,
    pub(crate) platform: String,
    pub(crate) device: String,
    /// Empty where the file does not say it.
    pub(crate) vendor: String,
    /// The sizes of the problem by the names of the dimensions.
    pub(crate) problem: BTreeMap<String, i64>,
    pub(crate) launches: u64,
    /// The time of all launches together.
    pub(crate) seconds: f64,
    /// The arguments of one of them, if they were kept.
    pub(crate) data: Option<Data>,
}

impl Captured {
    /// The key of its device.
    pub(crate) fn key(&self) -> DeviceKey<'_> {
        DeviceKey {
            platform: &self.platform,
            name: &self.device,
            vendor: &self.vendor,
        }
    }
}

/// The arguments of a launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Data {
    /// The fingerprint of the kernel that they were passed to.
    pub(crate) fingerprint: String,
    /// By the arguments' names.
    pub(crate) arguments: BTreeMap<String, KeptArgument>,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum KeptArgument {
    /// A buffer or a vector: a file of its elements.
    File(PathBuf),
    /// A scalar.
    Value(f64),
}

impl Captured {
    /// `app::saxpy on some device for n = 1024`.
    pub(crate) fn subject(&self) -> String {
        let sizes = self.problem.iter();
        let sizes: Vec<String> = sizes
            .map(|(name, size)| format!("{name} = {size}"))
            .collect();
        let of = if sizes.is_empty() { "" } else { " for " };
        format!("{} on {}{of}{}", self.kernel, self.device, sizes.join(", "))
    }
}
