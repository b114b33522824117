//! What tuning in a program asks of the store: leave to tune, and to remember what it found.

use super::folder::CacheError;
use super::notes::{NotedResult, codes, line, list, values};
use super::store::{Known, Store, key};
use super::trial::Trial;
use cltune_core::device::DeviceInfo;
use cltune_core::lockfile::Measured;
use cltune_core::model::Model;
use std::sync::Arc;
use std::time::Duration;

/// Whether a program may tune now.
#[derive(Debug)]
pub(crate) enum Leave {
    /// It may; `None` where there is no cache on disk that could keep notes.
    Given(Option<Trial>),
    /// Another program tunes this kernel on this device.
    OtherProgram,
}

impl Store {
    /// What is known, with what other programs have written meanwhile.
    pub(crate) fn known_by_now(&self, model: &Model, info: &DeviceInfo) -> Arc<Known> {
        self.forget(model, info);
        self.known(model, info)
    }

    /// Remembers what tuning found.
    pub(crate) fn add_result(&self, model: &Model, info: &DeviceInfo, measured: &Measured) {
        let Some(values) = values(model, &measured.codes) else {
            return;
        };
        let result = NotedResult {
            problem: measured.dims.clone(),
            values,
            time_us: measured.time_us,
            default_us: measured.default_us,
            evaluated: measured.evaluated,
            valid: measured.valid,
            strategy: line(&measured.strategy),
        };
        self.change(model, info, |notes| notes.add_result(result));
    }

    /// Leave to tune a kernel on a device for a problem, after waiting for another program that has it.
    pub(crate) fn leave(
        &self,
        model: &Model,
        info: &DeviceInfo,
        dims: &[i64],
        patience: Duration,
    ) -> Result<Leave, CacheError> {
        let Some(folder) = self.folder() else {
            return Ok(Leave::Given(None));
        };
        // As many sizes as a file's name surely has room for; that others share the lock does no harm.
        let sizes = list(&dims[..dims.len().min(8)]);
        let name = format!("{}-{sizes}.trial", key(model, info));
        let path = folder.notes().join(name);
        let Some(mut trial) = Trial::begin(&path, patience)? else {
            return Ok(Leave::OtherProgram);
        };
        if let Some((dims, values)) = trial.left_over()
            && let Some(codes) = codes(model, &values)
        {
            let reason = "the program ended while this was being tried";
            self.add_refusal(model, info, &dims, &codes, reason);
        }
        Ok(Leave::Given(Some(trial)))
    }
}
