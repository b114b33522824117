//! What a context remembers: built programs and prepared launches.

use super::arg::Arg;
use super::prepared::{Prepared, build_error};
use super::selection::{self, Choice};
use super::tunable::Tunable;
use crate::error::Result;
use crate::event::Event;
use crate::opencl::RawProgram;
use crate::queue::Queue;
use cltune_core::select::Rule;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// A program under construction or built; a failure is remembered too.
type ProgramSlot = Arc<OnceLock<Result<Arc<RawProgram>>>>;

/// Programs and launches of a context.
#[derive(Debug, Default)]
pub(crate) struct LaunchCache {
    hasher: RandomState,
    /// By hash of the key; the entry holds the key itself. Looked up without allocating.
    launches: RwLock<HashMap<u64, Vec<Arc<Entry>>>>,
    /// By tunable and compile options, so that a program is built once however many problems,
    /// queues and threads use it.
    programs: Mutex<HashMap<(usize, String), ProgramSlot>>,
}

/// A prepared launch and what it was prepared for.
#[derive(Debug)]
struct Entry {
    tunable: usize,
    dims: Box<[i64]>,
    /// The configuration, where the caller gave one.
    codes: Option<Box<[i64]>>,
    prepared: Prepared,
}

impl Entry {
    fn is(&self, tunable: usize, codes: Option<&[i64]>, dims: &[i64]) -> bool {
        self.tunable == tunable && *self.dims == *dims && self.codes.as_deref() == codes
    }
}

impl LaunchCache {
    /// Launches a tunable with a given configuration, or with the selected one. After the first
    /// launch of a problem this looks up, sets the arguments and enqueues.
    pub(crate) fn launch(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        codes: Option<&[i64]>,
        dims: &[i64],
        args: &[Arg<'_>],
    ) -> Result<Event> {
        let entry = match self.find(tunable, codes, dims) {
            Some(entry) => entry,
            None => self.prepare(tunable, queue, codes, dims)?,
        };
        entry.prepared.launch(tunable.model(), queue, args)
    }

    fn find(&self, tunable: &Tunable, codes: Option<&[i64]>, dims: &[i64]) -> Option<Arc<Entry>> {
        let address = address(tunable);
        let key = self.hasher.hash_one((address, codes, dims));
        let launches = self.launches.read().unwrap_or_else(PoisonError::into_inner);
        launches
            .get(&key)?
            .iter()
            .find(|entry| entry.is(address, codes, dims))
            .cloned()
    }

    #[cold]
    fn prepare(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        codes: Option<&[i64]>,
        dims: &[i64],
    ) -> Result<Arc<Entry>> {
        let prepared = match codes {
            Some(codes) => {
                selection::check(tunable, queue.device(), codes, dims)?;
                self.build(tunable, queue, codes, dims)?
            }
            None => self.prepare_selected(tunable, queue, dims)?,
        };
        let entry = Arc::new(Entry {
            tunable: address(tunable),
            dims: dims.into(),
            codes: codes.map(Into::into),
            prepared,
        });
        let key = self.hasher.hash_one((entry.tunable, codes, dims));
        let mut launches = self
            .launches
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let bucket = launches.entry(key).or_default();
        // Another thread may have been quicker; its entry is as good, and is shared from now on.
        if let Some(first) = bucket
            .iter()
            .find(|entry| entry.is(address(tunable), codes, dims))
        {
            return Ok(first.clone());
        }
        bucket.push(entry.clone());
        Ok(entry)
    }

    /// The first selected configuration that builds. One that does not is an entry of the lockfile
    /// that this driver no longer accepts, and the next rule is better than none.
    fn prepare_selected(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        dims: &[i64],
    ) -> Result<Prepared> {
        let mut failure = None;
        for Choice { codes, rule } in selection::choices(tunable, queue.device(), dims) {
            match self.build(tunable, queue, &codes, dims) {
                Ok(prepared) => {
                    log_selection(tunable, queue, &codes, dims, rule);
                    return Ok(prepared);
                }
                Err(error) => {
                    tracing::warn!(
                        kernel = %tunable.model().name, %rule, %error,
                        "a selected configuration does not build; trying the next"
                    );
                    failure.get_or_insert(error);
                }
            }
        }
        Err(failure.unwrap_or_else(|| selection::none_valid(tunable, queue.device(), dims)))
    }

    fn build(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        codes: &[i64],
        dims: &[i64],
    ) -> Result<Prepared> {
        let model = tunable.model();
        let options = super::options::build_options(model, queue.device(), codes, dims)?;
        let slot = {
            let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
            programs
                .entry((address(tunable), options.clone()))
                .or_default()
                .clone()
        };
        // Outside the lock: other kernels build meanwhile, other threads wait for this one.
        let program = slot
            .get_or_init(|| {
                let context = queue.context();
                RawProgram::build(context.raw(), queue.device().raw(), &model.source, &options)
                    .map(Arc::new)
                    .map_err(|failure| build_error(model, &options, failure))
            })
            .clone()?;
        Prepared::new(tunable, queue, codes, dims, &program)
    }
}

fn log_selection(tunable: &Tunable, queue: &Queue, codes: &[i64], dims: &[i64], rule: Rule) {
    tracing::debug!(
        kernel = %tunable.model().name,
        device = %queue.device(),
        problem = %tunable.describe_problem(dims),
        configuration = %tunable.describe(codes),
        %rule,
        "selected"
    );
}

/// A static tunable's identity.
fn address(tunable: &Tunable) -> usize {
    std::ptr::from_ref(tunable).addr()
}
