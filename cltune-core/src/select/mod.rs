//! The selection rule: which configuration a device and a problem get.

mod table;

pub use table::{KnownDevice, KnownResult, Table};
