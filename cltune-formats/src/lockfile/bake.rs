//! The table of one tunable, for the selection rule: what the macro writes into the program.

use super::{LockDevice, LockKernel, Lockfile, Tuned};
use cltune_core::measure::Measure;
use cltune_core::model::Model;
use cltune_core::select::{Table, TunedResult};
use std::collections::{HashMap, HashSet};

/// An entry with the right fingerprint that does not fit its kernel: it was edited by hand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BakeError {
    /// A value that is not in its parameter's domain.
    #[error(
        "the entry of `{kernel}` for device \"{device}\" gives parameter `{parameter}` the value \
         {value}, which it cannot take; correct the value, or restore the file from version control, \
         or delete this entry (`[[kernel.tuned]]`) and tune again with `cargo cltune`"
    )]
    NotInDomain {
        /// The kernel.
        kernel: String,
        /// The device's id.
        device: String,
        /// The parameter.
        parameter: String,
        /// The value in the file.
        value: String,
    },
    /// More devices than a table can refer to.
    #[error("`{kernel}` has entries for {count} devices, but at most 65,535 are supported")]
    TooManyDevices {
        /// The kernel.
        kernel: String,
        /// How many devices there are.
        count: usize,
    },
}

impl Lockfile {
    /// The table of a tunable: empty when the file has no entry for it, or only entries that were
    /// tuned for another version of it ([`LockKernel::is_current`] tells).
    ///
    /// # Errors
    /// See [`BakeError`].
    pub fn table(&self, model: &Model) -> Result<Table, BakeError> {
        match self.kernel(&model.name) {
            Some(kernel) if kernel.is_current(model) => self.table_of(kernel, model),
            _ => Ok(Table::EMPTY),
        }
    }

    /// What each entry of [`table`](Self::table) was measured with, in the same order.
    pub fn measures(&self, model: &Model) -> Vec<Measure> {
        let kernel = self.kernel(&model.name);
        let entries = kernel.filter(|kernel| kernel.is_current(model));
        let entries = entries.into_iter().flat_map(|kernel| &kernel.tuned);
        entries
            .filter(|tuned| self.device(&tuned.device).is_some())
            .map(|tuned| tuned.measure)
            .collect()
    }

    fn table_of(&self, kernel: &LockKernel, model: &Model) -> Result<Table, BakeError> {
        let ids: HashSet<&str> = kernel.tuned.iter().map(|tuned| &*tuned.device).collect();
        let is_used = |device: &&LockDevice| ids.contains(&*device.id);
        let used: Vec<_> = self.devices.iter().filter(is_used).collect();
        if used.len() > usize::from(u16::MAX) {
            return Err(BakeError::TooManyDevices {
                kernel: kernel.name.clone(),
                count: used.len(),
            });
        }
        let devices: Vec<_> = used.iter().map(|lock| lock.device.clone()).collect();
        let positions: HashMap<&str, usize> =
            used.iter().map(|device| &*device.id).zip(0..).collect();
        let mut results = Vec::with_capacity(kernel.tuned.len());
        for tuned in &kernel.tuned {
            // An entry whose device is not described cannot be read from a file.
            let Some(device) = positions.get(&*tuned.device) else {
                continue;
            };
            results.push(TunedResult {
                device: *device as u16,
                problem: tuned.dims().collect::<Vec<_>>().into(),
                values: codes(kernel, tuned, model)?.into(),
                time_us: tuned.time_us,
            });
        }
        Ok(Table {
            devices: devices.into(),
            results: results.into(),
        })
    }
}

fn codes(kernel: &LockKernel, tuned: &Tuned, model: &Model) -> Result<Vec<i64>, BakeError> {
    let code = |(parameter, value): (&cltune_core::parameter::Parameter, _)| {
        parameter
            .domain
            .code(value)
            .ok_or_else(|| BakeError::NotInDomain {
                kernel: kernel.name.clone(),
                device: tuned.device.clone(),
                parameter: parameter.name.to_string(),
                value: value.to_string(),
            })
    };
    model
        .parameters
        .iter()
        .zip(&tuned.values)
        .map(code)
        .collect()
}
