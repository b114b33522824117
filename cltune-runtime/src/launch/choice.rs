//! The configuration of a first call: the first of the rule that builds, and why the others were passed
//! over.

use super::knowledge::Knowledge;
use super::refusals::Refusals;
use super::selection;
use super::tunable::Tunable;
use crate::cache::Store;
use crate::device::Device;
use crate::error::{Error, Result};
#[cfg(feature = "tuning")]
use crate::live::tune_once;
use crate::policy::{Budget, Policy};
use cltune_core::select::{Rule, is_near};
use std::fmt;

/// After so many refused configurations of one problem, the rest of the tuned ones is skipped for
/// the default: a kernel that does not compile must not be tried with every row of a lockfile.
const MAX_REFUSED: usize = 8;

/// What a configuration is chosen for.
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

/// What was chosen.
#[derive(Debug)]
pub(super) struct Chosen<T> {
    pub(super) codes: Box<[i64]>,
    pub(super) rule: Rule,
    /// What `attempt` made of it.
    pub(super) made: T,
}

impl Call<'_> {
    /// What is known, after tuning where the policy says so.
    pub(super) fn knowledge(&self, policy: &Policy) -> Knowledge {
        let knowledge = Knowledge::of(self.tunable, self.device, policy);
        match policy {
            Policy::TuneOnce { budget } if !self.is_tuned(&knowledge) => {
                self.tune_once(*budget, policy);
                Knowledge::of(self.tunable, self.device, policy)
            }
            #[cfg(not(feature = "tuning"))]
            Policy::Online { .. } => {
                self.warn_that_nothing_tunes();
                knowledge
            }
            _ => knowledge,
        }
    }

    /// Whether something is known that was tuned on this device for a problem like this.
    fn is_tuned(&self, knowledge: &Knowledge) -> bool {
        knowledge
            .candidates(self.device, self.dims)
            .take_while(|candidate| candidate.rule.is_for_this_device())
            .filter(|candidate| candidate.verdict.is_ok())
            .filter(|candidate| knowledge.refusal(self.dims, &candidate.codes).is_none())
            .filter_map(|candidate| candidate.known)
            .any(|(_, result)| is_near(&result.problem, self.dims))
    }

    #[cfg(feature = "tuning")]
    fn tune_once(&self, budget: Budget, policy: &Policy) {
        let is_known = || self.is_tuned(&Knowledge::of(self.tunable, self.device, policy));
        let store = Store::of_user();
        let tuned = tune_once(
            self.tunable,
            self.device,
            self.dims,
            budget,
            store,
            is_known,
        );
        if let Err(reason) = tuned {
            let kernel = &self.tunable.model().name;
            tracing::warn!(%kernel, %reason, "not tuned");
        }
    }

    #[cfg(not(feature = "tuning"))]
    fn tune_once(&self, _budget: Budget, _policy: &Policy) {
        self.warn_that_nothing_tunes();
    }

    #[cfg(not(feature = "tuning"))]
    fn warn_that_nothing_tunes(&self) {
        tracing::warn!(
            kernel = %self.tunable.model().name,
            "not tuned: this program was built without cltune-runtime's feature `tuning`"
        );
    }

    /// The first valid configuration in the order of the rule for which `attempt` succeeds. One that
    /// fails is remembered, and not tried again.
    ///
    /// # Errors
    /// Why the first failed, where all did; [`Error::NoConfiguration`] where none is valid.
    pub(super) fn choose<T>(
        &self,
        knowledge: &Knowledge,
        refusals: &Refusals,
        mut attempt: impl FnMut(&[i64]) -> Result<T>,
    ) -> Result<Chosen<T>> {
        let address = self.tunable.address();
        let mut refused = refusals.codes(address, self.dims);
        // What an earlier run could not build is tried when all else has failed: its errors are gone.
        for again in [false, true] {
            for candidate in knowledge.candidates(self.device, self.dims) {
                let codes = &*candidate.codes;
                if candidate.verdict.is_err()
                    || refused.iter().any(|other| **other == *codes)
                    || is_skipped(refused.len(), candidate.rule)
                    || (!again && knowledge.refusal(self.dims, codes).is_some())
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
        let none = || selection::none_valid(self.tunable, knowledge, self.device, self.dims);
        Err(first.unwrap_or_else(none))
    }

    /// Remembers that a configuration does not run, for this context, and where it would be the same in
    /// another process, for all that have this cache.
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

    /// What [`choose`](Self::choose) would go through, as far as the one it would try first.
    pub(super) fn consider(&self, knowledge: &Knowledge, refusals: &Refusals) -> Vec<Considered> {
        let model = self.tunable.model();
        let address = self.tunable.address();
        let refused = refusals.codes(address, self.dims).len();
        let mut all = Vec::new();
        for candidate in knowledge.candidates(self.device, self.dims) {
            let refusal = || refusals.error(address, self.dims, &candidate.codes);
            let earlier = || knowledge.refusal(self.dims, &candidate.codes);
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
