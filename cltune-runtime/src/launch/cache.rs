//! The launches that a context remembers, and how a call becomes one.

use super::choice::{Call, Refusals, log_selection};
use super::key::{self, BuildAsIs};
use super::results::TunedResults;
use super::selection;
use super::tuner::{Ended, OnlineTuner, online_tuner, tune_if_needed};
use crate::capture::Record;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::kernel::{Arg, Prepared, ProgramBuilder, Tunable};
use crate::policy::{self, PolicyId};
use crate::queue::Queue;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The number of different calls that a context remembers. One that sees more, because a problem
/// dimension changes with every call, forgets all and starts anew, so that memory stays bounded.
const MAX_LAUNCHES: usize = 4096;

/// Launches of a context.
#[derive(Debug)]
pub(crate) struct LaunchCache {
    /// By hash of the key; the launch holds the key itself. Looked up without allocating.
    launches: RwLock<HashMap<u64, Vec<Arc<CachedLaunch>>, BuildAsIs>>,
    programs: ProgramBuilder,
    refusals: Refusals,
}

/// A prepared launch and what it was prepared for.
#[derive(Debug)]
struct CachedLaunch {
    tunable: usize,
    policy: PolicyId,
    dims: Box<[i64]>,
    /// The configuration that the caller gave; `None`: selected by the rule.
    given: Option<Box<[i64]>>,
    /// The configuration that runs.
    codes: Box<[i64]>,
    prepared: Arc<Prepared>,
    /// Where launches are recorded.
    record: Option<Record>,
    /// Where calls try other configurations as well.
    tuner: Option<OnlineTuner>,
}

/// The key by which a prepared launch is found.
#[derive(Clone, Copy)]
struct Key<'a> {
    tunable: usize,
    policy: PolicyId,
    given: Option<&'a [i64]>,
    dims: &'a [i64],
}

impl<'a> Key<'a> {
    fn of(tunable: &Tunable, given: Option<&'a [i64]>, dims: &'a [i64]) -> Self {
        Self {
            tunable: tunable.address(),
            policy: match given {
                Some(_) => PolicyId::NONE,
                None => policy::current(tunable.policy()),
            },
            given,
            dims,
        }
    }

    fn hash(&self) -> u64 {
        key::hash(self.tunable, self.policy.number(), self.given, self.dims)
    }
}

impl CachedLaunch {
    fn new(key: &Key<'_>, codes: Box<[i64]>, prepared: Prepared) -> Self {
        Self {
            tunable: key.tunable,
            policy: key.policy,
            dims: key.dims.into(),
            given: key.given.map(Into::into),
            codes,
            prepared: Arc::new(prepared),
            record: None,
            tuner: None,
        }
    }

    fn key(&self) -> Key<'_> {
        Key {
            tunable: self.tunable,
            policy: self.policy,
            given: self.given.as_deref(),
            dims: &self.dims,
        }
    }

    fn is(&self, key: &Key<'_>) -> bool {
        self.tunable == key.tunable
            && self.policy == key.policy
            && *self.dims == *key.dims
            && self.given.as_deref() == key.given
    }
}

impl LaunchCache {
    /// That of a context.
    #[inline]
    pub(crate) fn of(context: &Context) -> &Self {
        context.attachment(|core| Self {
            launches: RwLock::default(),
            programs: ProgramBuilder::new(Arc::clone(core)),
            refusals: Refusals::default(),
        })
    }

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
        let key = Key::of(tunable, given, dims);
        loop {
            let entry = match self.find(&key) {
                Some(entry) => entry,
                None => self.prepare(tunable, queue, &key)?,
            };
            let launch = || {
                if let Some(tuner) = &entry.tuner {
                    return self.launch_tuned(&entry, tuner, queue, args);
                }
                entry.prepared.launch(tunable.model(), queue, args)
            };
            let launched = match &entry.record {
                None => launch(),
                Some(record) => record.launch(queue, args, launch),
            };
            match launched {
                // Nothing has run, or nothing that matters, so the next configuration can take
                // over.
                Err(error) if given.is_none() && error.is_of_configuration() => {
                    let changed = matches!(error, Error::PartlyLaunched { .. })
                        && tunable.model().reads_what_it_writes();
                    let told = changed.then(|| error.clone());
                    let device = queue.device();
                    let call = Call {
                        tunable,
                        device,
                        dims,
                    };
                    call.refuse(&self.refusals, &entry.codes, error);
                    self.forget(&entry);
                    if let Some(error) = told {
                        return Err(error);
                    }
                }
                result => return result,
            }
        }
    }

    /// Launches what is being tuned; once that has ended, later calls find its result.
    #[cold]
    fn launch_tuned(
        &self,
        entry: &Arc<CachedLaunch>,
        tuner: &OnlineTuner,
        queue: &Queue,
        args: &[Arg<'_>],
    ) -> Result<Event> {
        let launched = tuner.launch(queue, args);
        if let Some(ended) = tuner.take_ended() {
            self.forget(entry);
            if let Ended::Use(codes, prepared) = ended {
                self.remember(CachedLaunch {
                    tunable: entry.tunable,
                    policy: entry.policy,
                    dims: entry.dims.clone(),
                    given: None,
                    codes,
                    prepared,
                    record: entry.record.clone(),
                    tuner: None,
                });
            }
        }
        launched
    }

    /// Selects and builds what [`LaunchCache::launch`] of such a call needs, and launches nothing.
    pub(crate) fn ready(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        given: Option<&[i64]>,
        dims: &[i64],
    ) -> Result<()> {
        let key = Key::of(tunable, given, dims);
        if self.find(&key).is_none() {
            self.prepare(tunable, queue, &key)?;
        }
        Ok(())
    }

    /// Whether [`LaunchCache::launch`] takes these arguments. Nothing is launched.
    pub(crate) fn check(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        dims: &[i64],
        args: &[Arg<'_>],
    ) -> Result<()> {
        let key = Key::of(tunable, None, dims);
        let entry = match self.find(&key) {
            Some(entry) => entry,
            None => self.prepare(tunable, queue, &key)?,
        };
        entry.prepared.check(tunable.model(), queue, args)
    }

    /// The configurations that the driver refused so far.
    pub(super) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    fn find(&self, key: &Key<'_>) -> Option<Arc<CachedLaunch>> {
        let launches = self.launches.read().unwrap_or_else(PoisonError::into_inner);
        launches
            .get(&key.hash())?
            .iter()
            .find(|entry| entry.is(key))
            .cloned()
    }

    fn forget(&self, entry: &Arc<CachedLaunch>) {
        let mut launches = self
            .launches
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = launches.get_mut(&entry.key().hash()) {
            bucket.retain(|other| !Arc::ptr_eq(other, entry));
        }
    }

    #[cold]
    fn prepare(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        key: &Key<'_>,
    ) -> Result<Arc<CachedLaunch>> {
        let dims = key.dims;
        let entry = if let Some(codes) = key.given {
            selection::check(tunable, queue.device(), codes, dims)?;
            let prepared = Prepared::build(&self.programs, tunable, codes, dims)?;
            CachedLaunch::new(key, codes.into(), prepared)
        } else {
            self.prepare_selected(tunable, queue, key)?
        };
        let record = Record::of(tunable, queue.device(), dims);
        let entry = CachedLaunch { record, ..entry };
        Ok(self.remember(entry))
    }

    /// Keeps an entry for later calls, unless another thread was quicker: its entry is as good, and
    /// is shared from now on.
    fn remember(&self, entry: CachedLaunch) -> Arc<CachedLaunch> {
        let entry = Arc::new(entry);
        let key = entry.key();
        // Dropped when the lock is free again: tuning that is under way takes a while to end.
        let mut forgotten = HashMap::default();
        let mut launches = self
            .launches
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if launches.len() >= MAX_LAUNCHES {
            std::mem::swap(&mut *launches, &mut forgotten);
            self.programs.clear();
            self.refusals.clear();
        }
        let bucket = launches.entry(key.hash()).or_default();
        if let Some(first) = bucket.iter().find(|other| other.is(&key)) {
            return first.clone();
        }
        bucket.push(entry.clone());
        entry
    }

    /// The first selected configuration that builds, after tuning where the policy asks for that.
    /// One that does not is an entry of the lockfile that this driver does not accept, and the next
    /// rule is better than none.
    fn prepare_selected(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        key: &Key<'_>,
    ) -> Result<CachedLaunch> {
        let policy = policy::get(key.policy)?;
        let call = Call {
            tunable,
            device: queue.device(),
            dims: key.dims,
        };
        tune_if_needed(&call, &policy);
        let results = TunedResults::of(tunable, call.device, &policy);
        let chosen = call.choose(&results, &self.refusals, |codes| {
            Prepared::build(&self.programs, tunable, codes, key.dims)
        })?;
        log_selection(&call, &policy, &chosen.codes, chosen.rule);
        let mut entry = CachedLaunch::new(key, chosen.codes, chosen.made);
        let (codes, prepared, programs) = (&entry.codes, &entry.prepared, &self.programs);
        entry.tuner = online_tuner(&call, &policy, chosen.rule, codes, prepared, programs);
        Ok(entry)
    }

    /// The state of the tuner that serves such calls, for people.
    pub(super) fn describe_tuner(&self, tunable: &Tunable, dims: &[i64]) -> Option<String> {
        let entry = self.find(&Key::of(tunable, None, dims))?;
        entry.tuner.as_ref().map(OnlineTuner::describe)
    }
}
