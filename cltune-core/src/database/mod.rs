//! The database of template defaults: values that expressions of a template were found to like on
//! some devices, for expressions that nobody tuned there.
//!
//! It is text of one line for each device and entry, which TOML reads as well. The run time reads
//! the user's own file, so that reading needs nothing but this module.
//!
//! | file | owns |
//! |---|---|
//! | `read` | from text to a database |
//! | `line` | the values of a line |
//! | `table` | the values of a database for one tunable |
//! | `unite` | a database with another's entries |

mod line;
mod read;
mod table;
mod unite;

pub use read::{DatabaseError, DatabaseProblem};

use crate::device::DeviceKey;
use crate::parameter::Value;
use crate::select::TunedDevice;

/// The version of the format that this version writes, and the newest it reads.
pub const VERSION: i64 = 1;

/// The name of the user's own file, in the folder of the user's cache.
pub const FILE_NAME: &str = "database.toml";

/// The text of the database that ships with this release.
pub const SHIPPED: &str = include_str!("../../database.toml");

/// Template defaults by device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Database {
    /// The devices that entries refer to by index, each once.
    pub devices: Vec<TunedDevice>,
    /// What is known of them.
    pub entries: Vec<Entry>,
}

/// The values that an expression was found to like on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The index of the device in [`Database::devices`].
    pub device: usize,
    /// The template.
    pub template: String,
    /// The size of its scalars in bytes.
    pub scalar_size: i64,
    /// How many vectors and matrices the expression reads or writes.
    pub vectors: i64,
    /// The elements of its longest vector or largest matrix.
    pub elements: i64,
    /// The tunable that it was tuned as.
    pub kernel: String,
    /// The template's parameters by name.
    pub values: Vec<(String, Value)>,
    /// The time of a call, microseconds.
    pub time_us: f64,
}

impl Entry {
    /// The order of a device's entries, and their identity.
    pub fn key(&self) -> (&str, i64, i64, i64, &str) {
        (
            &self.template,
            self.scalar_size,
            self.vectors,
            self.elements,
            &self.kernel,
        )
    }

    /// Whether both answer the same question: of one template and size of scalars.
    fn is_like(&self, other: &Self) -> bool {
        self.template == other.template && self.scalar_size == other.scalar_size
    }
}

impl Database {
    /// The device of an entry.
    fn device_key(&self, entry: &Entry) -> Option<DeviceKey<'_>> {
        self.devices.get(entry.device).map(TunedDevice::key)
    }
}
