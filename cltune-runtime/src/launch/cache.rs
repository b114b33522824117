//! What a context remembers of launches, and how a call becomes one.

use super::arg::Arg;
use super::key::{self, BuildAsIs};
use super::prepared::Prepared;
use super::programs::Programs;
use super::refusals::Refusals;
use super::selection::{self, Choice};
use super::tunable::Tunable;
use crate::error::Result;
use crate::event::Event;
use crate::queue::Queue;
use cltune_core::select::Rule;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// How many different calls a context remembers. One that sees more, because a problem dimension
/// changes with every call, forgets all and starts anew, so that memory stays bounded.
const MAX_LAUNCHES: usize = 4096;

/// After so many refused configurations of one problem, the rest of the tuned ones is skipped for
/// the default: a kernel that does not compile must not be tried with every row of a lockfile.
const MAX_REFUSED: usize = 8;

/// Launches of a context, with the programs they use.
#[derive(Debug, Default)]
pub(crate) struct LaunchCache {
    /// By hash of the key; the entry holds the key itself. Looked up without allocating.
    launches: RwLock<HashMap<u64, Vec<Arc<Entry>>, BuildAsIs>>,
    programs: Programs,
    refusals: Refusals,
}

/// A prepared launch and what it was prepared for.
#[derive(Debug)]
struct Entry {
    tunable: usize,
    dims: Box<[i64]>,
    /// The configuration that the caller gave; `None`: selected by the rule.
    given: Option<Box<[i64]>>,
    /// The configuration that runs.
    codes: Box<[i64]>,
    prepared: Prepared,
}

impl Entry {
    fn is(&self, tunable: usize, given: Option<&[i64]>, dims: &[i64]) -> bool {
        self.tunable == tunable && *self.dims == *dims && self.given.as_deref() == given
    }
}

impl LaunchCache {
    /// Launches a tunable with a given configuration, or with the selected one. After the first
    /// launch of a problem this looks up, sets the arguments and enqueues.
    ///
    /// A selected configuration that does not build, or that the driver refuses to launch, is
    /// followed by the next one of the rule within the same call, and not tried again.
    pub(crate) fn launch(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        given: Option<&[i64]>,
        dims: &[i64],
        args: &[Arg<'_>],
    ) -> Result<Event> {
        loop {
            let entry = match self.find(tunable, given, dims) {
                Some(entry) => entry,
                None => self.prepare(tunable, queue, given, dims)?,
            };
            match entry.prepared.launch(tunable.model(), queue, args) {
                // Nothing has run, so the next configuration can take over.
                Err(error) if given.is_none() && error.is_of_configuration() => {
                    log_refusal(tunable, &entry.codes, &error);
                    self.refusals.add(entry.tunable, dims, &entry.codes, error);
                    self.forget(&entry);
                }
                result => return result,
            }
        }
    }

    /// Selects and builds what [`LaunchCache::launch`] of such a call needs, and launches nothing.
    pub(crate) fn ready(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        given: Option<&[i64]>,
        dims: &[i64],
    ) -> Result<()> {
        if self.find(tunable, given, dims).is_none() {
            self.prepare(tunable, queue, given, dims)?;
        }
        Ok(())
    }

    fn find(&self, tunable: &Tunable, given: Option<&[i64]>, dims: &[i64]) -> Option<Arc<Entry>> {
        let address = tunable.address();
        let hash = key::hash(address, given, dims);
        let launches = self.launches.read().unwrap_or_else(PoisonError::into_inner);
        launches
            .get(&hash)?
            .iter()
            .find(|entry| entry.is(address, given, dims))
            .cloned()
    }

    fn forget(&self, entry: &Arc<Entry>) {
        let hash = key::hash(entry.tunable, entry.given.as_deref(), &entry.dims);
        let mut launches = self
            .launches
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = launches.get_mut(&hash) {
            bucket.retain(|other| !Arc::ptr_eq(other, entry));
        }
    }

    #[cold]
    fn prepare(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        given: Option<&[i64]>,
        dims: &[i64],
    ) -> Result<Arc<Entry>> {
        let (codes, prepared) = if let Some(codes) = given {
            selection::check(tunable, queue.device(), codes, dims)?;
            (codes.into(), self.build(tunable, queue, codes, dims)?)
        } else {
            self.prepare_selected(tunable, queue, dims)?
        };
        let entry = Arc::new(Entry {
            tunable: tunable.address(),
            dims: dims.into(),
            given: given.map(Into::into),
            codes,
            prepared,
        });
        let hash = key::hash(entry.tunable, given, dims);
        let mut launches = self
            .launches
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if launches.len() >= MAX_LAUNCHES {
            launches.clear();
            self.programs.clear();
            self.refusals.clear();
        }
        let bucket = launches.entry(hash).or_default();
        // Another thread may have been quicker; its entry is as good, and is shared from now on.
        if let Some(first) = bucket
            .iter()
            .find(|other| other.is(entry.tunable, given, dims))
        {
            return Ok(first.clone());
        }
        bucket.push(entry.clone());
        Ok(entry)
    }

    /// The first selected configuration that builds. One that does not is an entry of the lockfile
    /// that this driver does not accept, and the next rule is better than none.
    fn prepare_selected(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        dims: &[i64],
    ) -> Result<(Box<[i64]>, Prepared)> {
        let address = tunable.address();
        let mut refused = self.refusals.codes(address, dims);
        for Choice { codes, rule } in selection::choices(tunable, queue.device(), dims) {
            let is_last_resort = matches!(rule, Rule::Default | Rule::FirstValid);
            if refused.iter().any(|other| **other == *codes)
                || (refused.len() >= MAX_REFUSED && !is_last_resort)
            {
                continue;
            }
            match self.build(tunable, queue, &codes, dims) {
                Ok(prepared) => {
                    log_selection(tunable, queue, &codes, dims, rule);
                    return Ok((codes.into(), prepared));
                }
                Err(error) if error.is_of_configuration() => {
                    log_refusal(tunable, &codes, &error);
                    self.refusals.add(address, dims, &codes, error);
                    refused.push(codes.into());
                }
                Err(error) => return Err(error),
            }
        }
        let first = self.refusals.first_error(address, dims);
        Err(first.unwrap_or_else(|| selection::none_valid(tunable, queue.device(), dims)))
    }

    fn build(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        codes: &[i64],
        dims: &[i64],
    ) -> Result<Prepared> {
        let program = self.programs.get(tunable, queue, codes, dims)?;
        Prepared::new(tunable, queue, codes, dims, &program)
    }
}

fn log_selection(tunable: &Tunable, queue: &Queue, codes: &[i64], dims: &[i64], rule: Rule) {
    tracing::debug!(
        kernel = %tunable.model().name,
        device = %queue.device(),
        problem = %tunable.model().describe_problem(dims),
        configuration = %tunable.model().describe(codes),
        %rule,
        "selected"
    );
}

fn log_refusal(tunable: &Tunable, codes: &[i64], error: &crate::Error) {
    tracing::warn!(
        kernel = %tunable.model().name,
        configuration = %tunable.model().describe(codes),
        %error,
        "the selected configuration does not run; taking the next"
    );
}
