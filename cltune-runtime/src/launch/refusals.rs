//! Configurations that the rule selected and the driver refused.

use crate::error::Error;
use std::sync::{Mutex, PoisonError};

/// What a context remembers of refused configurations, so that none is tried twice.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Vec<Refusal>>);

#[derive(Debug)]
struct Refusal {
    tunable: usize,
    dims: Box<[i64]>,
    codes: Box<[i64]>,
    error: Error,
}

impl Refusals {
    /// Remembers why a configuration cannot run on a problem.
    pub(super) fn add(&self, tunable: usize, dims: &[i64], codes: &[i64], error: Error) {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.push(Refusal {
            tunable,
            dims: dims.into(),
            codes: codes.into(),
            error,
        });
    }

    /// The configurations refused so far for a problem.
    pub(super) fn codes(&self, tunable: usize, dims: &[i64]) -> Vec<Box<[i64]>> {
        let refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_problem = refusals
            .iter()
            .filter(|refusal| refusal.tunable == tunable && *refusal.dims == *dims);
        of_problem.map(|refusal| refusal.codes.clone()).collect()
    }

    /// Why this configuration was refused for a problem, if it was.
    pub(super) fn error(&self, tunable: usize, dims: &[i64], codes: &[i64]) -> Option<Error> {
        let refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |refusal: &&Refusal| {
            refusal.tunable == tunable && *refusal.dims == *dims && *refusal.codes == *codes
        };
        refusals
            .iter()
            .find(is_it)
            .map(|refusal| refusal.error.clone())
    }

    /// Why the first configuration was refused for a problem, if one was: the error that says most
    /// when nothing is left to try.
    pub(super) fn first_error(&self, tunable: usize, dims: &[i64]) -> Option<Error> {
        let refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refusals
            .iter()
            .find(|refusal| refusal.tunable == tunable && *refusal.dims == *dims)
            .map(|refusal| refusal.error.clone())
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.clear();
    }
}
