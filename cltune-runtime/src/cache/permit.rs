//! The store as run-time tuning uses it: the permit to tune, and results to remember.

use super::folder::CacheError;
use super::notes::{NotedResult, codes, line, list, values};
use super::store::{CachedResults, Store, key};
use super::trial::Trial;
use cltune_core::device::DeviceInfo;
use cltune_core::lockfile::Measured;
use cltune_core::model::Model;
use std::sync::Arc;
use std::time::Duration;

/// Whether a program may tune now.
#[derive(Debug)]
pub(crate) enum TuningPermit {
    /// It may; `None` where there is no cache on disk that could keep notes.
    Given(Option<Trial>),
    /// Another program tunes this kernel on this device.
    OtherProgram,
}

impl Store {
    /// The results, with what other programs have written meanwhile.
    pub(crate) fn results_by_now(&self, model: &Model, info: &DeviceInfo) -> Arc<CachedResults> {
        self.forget(model, info);
        self.results(model, info)
    }

    /// Remembers a result of tuning.
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

    /// The permit to tune a kernel on a device for a problem, after waiting for another program that has it.
    pub(crate) fn permit(
        &self,
        model: &Model,
        info: &DeviceInfo,
        dims: &[i64],
        patience: Duration,
    ) -> Result<TuningPermit, CacheError> {
        let Some(folder) = self.folder() else {
            return Ok(TuningPermit::Given(None));
        };
        // As many sizes as a file's name surely has room for; that others share the lock does no harm.
        let sizes = list(&dims[..dims.len().min(8)]);
        let name = format!("{}-{sizes}.trial", key(model, info));
        let path = folder.notes().join(name);
        let Some(mut trial) = Trial::begin(&path, patience)? else {
            return Ok(TuningPermit::OtherProgram);
        };
        if let Some((dims, values)) = trial.left_over()
            && let Some(codes) = codes(model, &values)
        {
            let reason = "the program ended while this was being tried";
            self.add_refusal(model, info, &dims, &codes, reason);
        }
        Ok(TuningPermit::Given(Some(trial)))
    }
}
