//! The configuration of a first call: the first of the rule that builds, and why the others were
//! passed over.

use super::results::TunedResults;
use super::selection;
use crate::cache::Store;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Tunable;
use crate::policy::Policy;
use cltune_core::select::{Rule, is_near};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// After so many refused configurations of one problem, the rest of the tuned ones is skipped for
/// the default: a kernel that does not compile must not be tried with every row of a lockfile.
const MAX_REFUSED: usize = 8;

/// The call that a configuration is chosen for.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) tunable: &'static Tunable,
    pub(super) device: &'a Device,
    pub(super) dims: &'a [i64],
}

/// A configuration that the rule considers.
#[derive(Clone, Debug)]
pub(super) struct Considered {
    /// Where it comes from, and what for it was tuned.
    pub(super) origin: String,
    /// The configuration as text.
    pub(super) configuration: String,
    /// Why it is passed over; `None` for the one that is taken.
    pub(super) passed_over: Option<String>,
}

/// The configuration that was chosen.
#[derive(Debug)]
pub(super) struct Chosen<T> {
    pub(super) codes: Box<[i64]>,
    pub(super) rule: Rule,
    /// The result of `attempt`.
    pub(super) made: T,
}

impl Call<'_> {
    /// Whether there is a result that was tuned on this device for a problem like this.
    pub(super) fn is_tuned(&self, results: &TunedResults) -> bool {
        results
            .candidates(self.device, self.dims)
            .take_while(|candidate| candidate.rule.is_for_this_device())
            .filter(|candidate| candidate.verdict.is_ok())
            .filter(|candidate| results.refusal(self.dims, &candidate.codes).is_none())
            .filter_map(|candidate| candidate.known)
            .any(|(_, result)| is_near(&result.problem, self.dims))
    }

    /// The first valid configuration in the order of the rule for which `attempt` succeeds. One
    /// that fails is remembered, and not tried again.
    ///
    /// # Errors
    /// Why the first failed, where all did; [`Error::NoConfiguration`] where none is valid.
    pub(super) fn choose<T>(
        &self,
        results: &TunedResults,
        refusals: &Refusals,
        mut attempt: impl FnMut(&[i64]) -> Result<T>,
    ) -> Result<Chosen<T>> {
        let address = self.tunable.address();
        let mut refused = refusals.codes(address, self.dims);
        // What an earlier run could not build is tried when all else has failed: its errors are
        // gone.
        for again in [false, true] {
            for candidate in results.candidates(self.device, self.dims) {
                let codes = &*candidate.codes;
                if candidate.verdict.is_err()
                    || refused.iter().any(|other| **other == *codes)
                    || is_skipped(refused.len(), candidate.rule)
                    || (!again && results.refusal(self.dims, codes).is_some())
                {
                    continue;
                }
                match attempt(codes) {
                    Ok(made) => {
                        return Ok(Chosen {
                            codes: codes.into(),
                            rule: candidate.rule,
                            made,
                        });
                    }
                    Err(error) if error.is_of_configuration() => {
                        refused.push(codes.into());
                        self.refuse(refusals, codes, error);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        let first = refusals.first_error(address, self.dims);
        let none = || selection::none_valid(self.tunable, results, self.device, self.dims);
        Err(first.unwrap_or_else(none))
    }

    /// Remembers that a configuration does not run, for this context, and where it would be the
    /// same in another process, for all that have this cache.
    pub(super) fn refuse(&self, refusals: &Refusals, codes: &[i64], error: Error) {
        let (model, info) = (self.tunable.model(), self.device.info());
        tracing::warn!(
            kernel = %model.name,
            configuration = %model.describe(codes),
            %error,
            "the selected configuration does not run; taking the next"
        );
        if error.is_lasting() {
            let reason = error.to_string();
            Store::of_user().add_refusal(model, info, self.dims, codes, &reason);
        }
        refusals.add(self.tunable.address(), self.dims, codes, error);
    }

    /// The configurations that [`choose`](Self::choose) would consider, up to the first that it
    /// would try.
    pub(super) fn consider(&self, results: &TunedResults, refusals: &Refusals) -> Vec<Considered> {
        let model = self.tunable.model();
        let address = self.tunable.address();
        let refused = refusals.codes(address, self.dims).len();
        let mut all = Vec::new();
        for candidate in results.candidates(self.device, self.dims) {
            let refusal = || refusals.error(address, self.dims, &candidate.codes);
            let earlier = || results.refusal(self.dims, &candidate.codes);
            let passed_over = match &candidate.verdict {
                Err(rejection) => Some(format!("not usable: {rejection}")),
                Ok(()) => refusal()
                    .map(|error| refusal_text(&error))
                    .or_else(|| Some(format!("refused in an earlier run: {}", earlier()?)))
                    .or_else(|| {
                        is_skipped(refused, candidate.rule)
                            .then(|| format!("not tried, since {refused} others were refused"))
                    }),
            };
            let is_taken = passed_over.is_none();
            all.push(Considered {
                origin: candidate.origin(),
                configuration: model.describe(&candidate.codes),
                passed_over,
            });
            if is_taken {
                break;
            }
        }
        all
    }
}

/// Whether a candidate of this rule is not tried after so many refusals.
fn is_skipped(refused: usize, rule: Rule) -> bool {
    refused >= MAX_REFUSED && !matches!(rule, Rule::Default | Rule::FirstValid)
}

/// The first line is enough: a compiler's log may be long.
fn refusal_text(error: &Error) -> String {
    let text = error.to_string();
    format!("refused: {}", text.lines().next().unwrap_or_default())
}

pub(super) fn log_selection(call: &Call<'_>, policy: &Policy, codes: &[i64], rule: Rule) {
    let model = call.tunable.model();
    tracing::debug!(
        kernel = %model.name,
        device = %call.device,
        problem = %model.describe_problem(call.dims),
        configuration = %model.describe(codes),
        %rule,
        %policy,
        "selected"
    );
}

impl fmt::Display for Considered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.configuration, self.origin)?;
        match &self.passed_over {
            Some(why) => write!(f, "; {why}"),
            None => Ok(()),
        }
    }
}

/// The refused configurations of a context, so that none is tried twice.
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
