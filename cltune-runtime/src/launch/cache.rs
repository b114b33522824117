//! What a context remembers of launches, and how a call becomes one.

use super::arg::Arg;
use super::choice::{Call, log_selection};
use super::key::{self, BuildAsIs};
use super::prepared::Prepared;
use super::refusals::Refusals;
use super::selection;
use super::tunable::Tunable;
use super::workshop::Workshop;
use crate::capture::Record;
use crate::error::Result;
use crate::event::Event;
#[cfg(feature = "tuning")]
use crate::live::{Ended, Online, Subject};
#[cfg(feature = "tuning")]
use crate::policy::Policy;
use crate::policy::{self, PolicyId};
use crate::queue::Queue;
#[cfg(feature = "tuning")]
use cltune_core::select::Rule;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// How many different calls a context remembers. One that sees more, because a problem dimension
/// changes with every call, forgets all and starts anew, so that memory stays bounded.
const MAX_LAUNCHES: usize = 4096;

/// Launches of a context.
#[derive(Debug, Default)]
pub(crate) struct LaunchCache {
    /// By hash of the key; the entry holds the key itself. Looked up without allocating.
    launches: RwLock<HashMap<u64, Vec<Arc<Entry>>, BuildAsIs>>,
    refusals: Refusals,
}

/// A prepared launch and what it was prepared for.
#[derive(Debug)]
struct Entry {
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
    #[cfg(feature = "tuning")]
    online: Option<Online>,
}

/// What a prepared launch is found by.
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

impl Entry {
    fn new(key: &Key<'_>, codes: Box<[i64]>, prepared: Prepared) -> Self {
        Self {
            tunable: key.tunable,
            policy: key.policy,
            dims: key.dims.into(),
            given: key.given.map(Into::into),
            codes,
            prepared: Arc::new(prepared),
            record: None,
            #[cfg(feature = "tuning")]
            online: None,
        }
    }

    /// With what tunes it, where the policy is to tune with calls and nothing was tuned for this problem.
    #[cfg(feature = "tuning")]
    fn tuned_by(mut self, call: &Call<'_>, policy: &Policy, rule: Rule) -> Self {
        if let Policy::Online { overhead, check } = policy
            && !rule.is_for_this_problem()
        {
            self.online = Some(Online::new(Subject {
                tunable: call.tunable,
                dims: call.dims.into(),
                default: self.codes.clone(),
                prepared: Arc::clone(&self.prepared),
                overhead: *overhead,
                check: *check,
            }));
        }
        self
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
                #[cfg(feature = "tuning")]
                if let Some(online) = &entry.online {
                    return self.launch_online(&entry, online, queue, args);
                }
                entry.prepared.launch(tunable.model(), queue, args)
            };
            let launched = match &entry.record {
                None => launch(),
                Some(record) => record.launch(queue, args, launch),
            };
            match launched {
                // Nothing has run, so the next configuration can take over.
                Err(error) if given.is_none() && error.is_of_configuration() => {
                    let device = queue.device();
                    let call = Call {
                        tunable,
                        device,
                        dims,
                    };
                    call.refuse(&self.refusals, &entry.codes, error);
                    self.forget(&entry);
                }
                result => return result,
            }
        }
    }

    /// Launches what is being tuned; once that has ended, later calls find what was found.
    #[cfg(feature = "tuning")]
    #[cold]
    fn launch_online(
        &self,
        entry: &Arc<Entry>,
        online: &Online,
        queue: &Queue,
        args: &[Arg<'_>],
    ) -> Result<Event> {
        let launched = online.launch(queue, args);
        if let Some(ended) = online.take_ended() {
            self.forget(entry);
            let (codes, prepared) = match ended {
                Ended::Found(Some(found)) => found,
                Ended::Found(None) => (entry.codes.clone(), Arc::clone(&entry.prepared)),
                // The next call selects again.
                Ended::Elsewhere => return launched,
            };
            let found = Entry {
                tunable: entry.tunable,
                policy: entry.policy,
                dims: entry.dims.clone(),
                given: None,
                codes,
                prepared,
                record: entry.record.clone(),
                online: None,
            };
            self.remember(found, queue.context().workshop());
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

    /// What the driver refused so far.
    pub(super) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    fn find(&self, key: &Key<'_>) -> Option<Arc<Entry>> {
        let launches = self.launches.read().unwrap_or_else(PoisonError::into_inner);
        launches
            .get(&key.hash())?
            .iter()
            .find(|entry| entry.is(key))
            .cloned()
    }

    fn forget(&self, entry: &Arc<Entry>) {
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
    ) -> Result<Arc<Entry>> {
        let dims = key.dims;
        let entry = if let Some(codes) = key.given {
            selection::check(tunable, queue.device(), codes, dims)?;
            let prepared = queue.context().workshop().build(tunable, codes, dims)?;
            Entry::new(key, codes.into(), prepared)
        } else {
            self.prepare_selected(tunable, queue, key)?
        };
        let record = Record::of(tunable, queue.device(), dims);
        let entry = Entry { record, ..entry };
        Ok(self.remember(entry, queue.context().workshop()))
    }

    /// Keeps an entry for later calls, unless another thread was quicker: its entry is as good, and is
    /// shared from now on.
    fn remember(&self, entry: Entry, workshop: &Workshop) -> Arc<Entry> {
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
            workshop.forget_programs();
            self.refusals.clear();
        }
        let bucket = launches.entry(key.hash()).or_default();
        if let Some(first) = bucket.iter().find(|other| other.is(&key)) {
            return first.clone();
        }
        bucket.push(entry.clone());
        entry
    }

    /// The first selected configuration that builds. One that does not is an entry of the lockfile
    /// that this driver does not accept, and the next rule is better than none.
    fn prepare_selected(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        key: &Key<'_>,
    ) -> Result<Entry> {
        let policy = policy::get(key.policy)?;
        let call = Call {
            tunable,
            device: queue.device(),
            dims: key.dims,
        };
        let knowledge = call.knowledge(&policy);
        let workshop = queue.context().workshop();
        let chosen = call.choose(&knowledge, &self.refusals, |codes| {
            workshop.build(tunable, codes, key.dims)
        })?;
        log_selection(&call, &policy, &chosen.codes, chosen.rule);
        let entry = Entry::new(key, chosen.codes, chosen.made);
        #[cfg(feature = "tuning")]
        let entry = entry.tuned_by(&call, &policy, chosen.rule);
        Ok(entry)
    }

    /// What is being done about a call under a policy that tunes with calls.
    #[cfg(feature = "tuning")]
    pub(super) fn describe_online(&self, tunable: &Tunable, dims: &[i64]) -> Option<String> {
        let entry = self.find(&Key::of(tunable, None, dims))?;
        entry.online.as_ref().map(Online::describe)
    }

    #[cfg(not(feature = "tuning"))]
    #[expect(
        clippy::unused_self,
        reason = "the same signature with and without the feature"
    )]
    pub(super) fn describe_online(&self, _tunable: &Tunable, _dims: &[i64]) -> Option<String> {
        None
    }
}
