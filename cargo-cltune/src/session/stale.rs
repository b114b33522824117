//! Stale entries of the lockfile: the values of another version of a job's kernel, which may be good
//! for this one, too. A search tries them. Their times are of another kernel and are not read.

use super::journal::Place;
use crate::plan::Job;
use cltune_core::model::Model;
use cltune_core::select::default_codes;
use cltune_formats::lockfile::{LockKernel, Lockfile, Tuned};
use cltune_search::space::Space;

/// A valid configuration of a job, from a stale entry.
#[derive(Debug)]
pub(super) struct StaleEntry {
    pub(super) place: Place,
    pub(super) codes: Vec<i64>,
}

/// What the stale entries of a job's kernel are in the present space. An entry is left out where
/// that does not contain it, and where its problem has other dimensions than the job's.
pub(super) fn stale_entries(job: &Job, lockfile: &Lockfile, space: &Space) -> Vec<StaleEntry> {
    let model = &job.declaration.model;
    let kernel = lockfile.kernel(&model.name);
    let Some(kernel) = kernel.filter(|kernel| !kernel.is_current(model)) else {
        return Vec::new();
    };
    let default = default_codes(model, &job.dims, &job.device.info().limits);
    let entry = |tuned: &Tuned| {
        let codes = codes(kernel, tuned, model, default.as_deref())?;
        let place = Place {
            device: lockfile.device(&tuned.device)?.device.clone(),
            problem: problem(tuned, model)?,
        };
        space
            .contains(&codes)
            .then_some(StaleEntry { place, codes })
    };
    kernel.tuned.iter().filter_map(entry).collect()
}

/// The values of an entry, by the names of the parameters. A parameter that the other version did
/// not have takes the default's value; `None` where there is no such value, or where a parameter
/// cannot take the entry's any more.
fn codes(
    kernel: &LockKernel,
    tuned: &Tuned,
    model: &Model,
    default: Option<&[i64]>,
) -> Option<Vec<i64>> {
    let code = |(position, parameter): (usize, &cltune_core::parameter::Parameter)| {
        let mut values = kernel.params.iter().zip(&tuned.values);
        match values.find(|(name, _)| **name == parameter.name) {
            Some((_, value)) => parameter.domain.code(value),
            None => default?.get(position).copied(),
        }
    };
    model.parameters.iter().enumerate().map(code).collect()
}

/// The problem of an entry in the order of the model's dimensions; `None` where they are others.
fn problem(tuned: &Tuned, model: &Model) -> Option<Vec<i64>> {
    let size = |dimension: &cltune_core::Text| {
        let mut sizes = tuned.problem.iter();
        let (_, size) = sizes.find(|(name, _)| **name == **dimension)?;
        Some(*size)
    };
    let is_whole = tuned.problem.len() == model.dimensions.len();
    let sizes = model.dimensions.iter().map(size);
    is_whole.then(|| sizes.collect()).flatten()
}

#[cfg(test)]
#[path = "../../tests/unit/stale.rs"]
mod tests;
