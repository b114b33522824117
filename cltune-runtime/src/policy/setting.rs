//! The policy of a call.
//!
//! Policies are few, so each that is used gets a number, which a launch can compare in no time.

use super::text::Features;
use super::{Policy, PolicyError};
use crate::error::{Error, Result};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

/// The number of a policy in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PolicyId(u32);

/// A place where a policy may be set; 0: it is not.
#[derive(Debug)]
pub(crate) struct PolicySlot(AtomicU32);

/// Every policy that was used, at its number less 1.
static POLICIES: RwLock<Vec<Policy>> = RwLock::new(Vec::new());

/// The policy of calls that have none of their own, once one has asked: what `CLTUNE_POLICY` says,
/// else what [`set_policy`] was told.
static PROCESS: PolicySlot = PolicySlot::new();

thread_local! {
    /// Inside of [`with_policy`]; 0 outside.
    static CALL_SITE: Cell<u32> = const { Cell::new(0) };
}

impl PolicyId {
    /// Of calls whose policy does not matter, because they bring their configuration.
    pub(crate) const NONE: Self = Self(0);
    /// `CLTUNE_POLICY` cannot be read, or not be followed.
    const UNREADABLE: Self = Self(u32::MAX);

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

impl PolicySlot {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    pub(crate) fn set(&self, policy: &Policy) {
        self.0.store(number(policy), Ordering::Relaxed);
    }

    #[inline]
    fn get(&self) -> Option<PolicyId> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            number => Some(PolicyId(number)),
        }
    }
}

/// Sets the policy of all calls of this process that have none of their own; [`Policy::Baked`] at
/// first. The environment variable `CLTUNE_POLICY` takes precedence, so that whoever runs a program
/// can decide without building it.
pub fn set_policy(policy: &Policy) {
    if matches!(environment(), Ok(None)) {
        PROCESS.set(policy);
    }
}

/// The policy of calls that have none of their own.
///
/// # Errors
/// [`Error::Policy`] when the environment variable `CLTUNE_POLICY` cannot be read, says what needs
/// a feature that this program was built without, or names a lockfile that cannot be read. Calls
/// return the same.
pub fn policy() -> Result<Policy> {
    get(of_process())
}

/// Runs `calls`, in which this thread's calls have this policy, whatever else is set: a policy for
/// a call site.
pub fn with_policy<T>(policy: &Policy, calls: impl FnOnce() -> T) -> T {
    /// Puts the former policy back, also when `calls` panics.
    struct Former(u32);
    impl Drop for Former {
        fn drop(&mut self) {
            CALL_SITE.set(self.0);
        }
    }
    let _former = Former(CALL_SITE.replace(number(policy)));
    calls()
}

/// The policy of a call: that of its call site, else of its tunable, else of the process.
#[inline]
pub(crate) fn current(tunable: &PolicySlot) -> PolicyId {
    match CALL_SITE.get() {
        0 => tunable.get().unwrap_or_else(of_process),
        number => PolicyId(number),
    }
}

/// The policy with a number.
pub(crate) fn get(id: PolicyId) -> Result<Policy> {
    if let (PolicyId::UNREADABLE, Err(reason)) = (id, environment()) {
        return Err(Error::Policy(reason.clone()));
    }
    let policies = POLICIES.read().unwrap_or_else(PoisonError::into_inner);
    let index = (id.0 as usize).checked_sub(1);
    Ok(index
        .and_then(|index| policies.get(index).cloned())
        .unwrap_or_default())
}

#[inline]
fn of_process() -> PolicyId {
    PROCESS.get().unwrap_or_else(decide)
}

#[cold]
fn decide() -> PolicyId {
    let id = match environment() {
        Ok(Some(id)) => *id,
        Ok(None) => PolicyId(number(&Policy::Baked)),
        Err(_) => PolicyId::UNREADABLE,
    };
    // Not where another thread has set one meanwhile.
    let slot = &PROCESS.0;
    match slot.compare_exchange(0, id.0, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => id,
        Err(set) => PolicyId(set),
    }
}

/// The policy of `CLTUNE_POLICY`, read once.
fn environment() -> &'static Result<Option<PolicyId>, PolicyError> {
    static ENVIRONMENT: OnceLock<Result<Option<PolicyId>, PolicyError>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let text = std::env::var_os("CLTUNE_POLICY").unwrap_or_default();
        let text = text.to_string_lossy();
        if text.trim().is_empty() {
            return Ok(None);
        }
        let policy = Policy::supported(&text, Features::COMPILED_IN)?;
        #[cfg(feature = "offline")]
        if let Policy::Offline(file) = &policy {
            super::lockfile(file).map_err(|reason| PolicyError::Lockfile {
                file: file.clone(),
                reason,
            })?;
        }
        Ok(Some(PolicyId(number(&policy))))
    })
}

fn number(policy: &Policy) -> u32 {
    let find = |policies: &[Policy]| policies.iter().position(|known| known == policy);
    let policies = POLICIES.read().unwrap_or_else(PoisonError::into_inner);
    let position = find(&policies);
    drop(policies);
    let position = position.unwrap_or_else(|| {
        let mut policies = POLICIES.write().unwrap_or_else(PoisonError::into_inner);
        find(&policies).unwrap_or_else(|| {
            policies.push(policy.clone());
            policies.len() - 1
        })
    });
    position as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_setting_counts() {
        let once = |count| format!("tune-once:{count}").parse::<Policy>().unwrap();
        let tunable = PolicySlot::new();
        let now = || get(current(&tunable)).unwrap();
        assert_eq!(now(), policy().unwrap());
        tunable.set(&once(1));
        assert_eq!(now(), once(1));
        with_policy(&once(2), || {
            assert_eq!(now(), once(2));
            with_policy(&once(3), || assert_eq!(now(), once(3)));
            assert_eq!(now(), once(2));
            let elsewhere = std::thread::scope(|scope| scope.spawn(now).join().unwrap());
            assert_eq!(elsewhere, once(1), "a call site is of one thread");
        });
        let panics = || with_policy(&once(4), || panic!("on purpose"));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(now(), once(1));
    }

    #[test]
    fn equal_policies_have_one_number() {
        let online = || "online:3%".parse::<Policy>().unwrap();
        assert_eq!(number(&online()), number(&online()));
        assert_ne!(number(&online()), number(&Policy::Baked));
    }
}
