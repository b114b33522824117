//! Run-time tuning as launching uses it: the only module of launching that knows whether tuning is
//! part of this build. Without the feature `tuning` nothing is tuned, and calls whose policy asks
//! for it are told so by a warning.

pub(super) use implementation::{Ended, OnlineTuner, online_tuner};

use super::choice::Call;
use super::results::TunedResults;
use crate::policy::Policy;

/// Tunes now, where the policy says so and no problem like that of the call has been tuned on its
/// device. That takes as long as the policy's budget.
pub(super) fn tune_if_needed(call: &Call<'_>, policy: &Policy) {
    let Policy::TuneOnce { budget } = policy else {
        return;
    };
    let is_tuned = || call.is_tuned(&TunedResults::of(call.tunable, call.device, policy));
    if !is_tuned() {
        implementation::tune_once(call, *budget, is_tuned);
    }
}

#[cfg(feature = "tuning")]
mod implementation {
    use crate::cache::Store;
    use crate::kernel::{Prepared, ProgramBuilder};
    use crate::launch::choice::Call;
    use crate::policy::{Budget, Policy};
    pub(in crate::launch) use crate::runtime_tuning::{Ended, OnlineTuner};
    use crate::runtime_tuning::{Subject, tune_once as search};
    use cltune_core::select::Rule;
    use std::sync::Arc;

    /// Tunes for a call before it is launched, which takes as long as the budget says. `is_tuned`
    /// is asked again when other threads and programs that tuned the same have ended.
    pub(super) fn tune_once(call: &Call<'_>, budget: Budget, is_tuned: impl Fn() -> bool) {
        let Call {
            tunable,
            device,
            dims,
        } = *call;
        let tuned = search(tunable, device, dims, budget, Store::of_user(), is_tuned);
        if let Err(reason) = tuned {
            let kernel = &tunable.model().name;
            tracing::warn!(%kernel, %reason, "not tuned");
        }
    }

    /// The tuner that serves later calls, where the policy is to tune with calls and nothing was
    /// tuned for this problem.
    pub(in crate::launch) fn online_tuner(
        call: &Call<'_>,
        policy: &Policy,
        rule: Rule,
        default: &[i64],
        prepared: &Arc<Prepared>,
        programs: &ProgramBuilder,
    ) -> Option<OnlineTuner> {
        let Policy::Online { overhead, check } = *policy else {
            return None;
        };
        if rule.is_for_this_problem() {
            return None;
        }
        Some(OnlineTuner::new(Subject {
            tunable: call.tunable,
            dims: call.dims.into(),
            default: default.into(),
            prepared: Arc::clone(prepared),
            programs: programs.clone(),
            overhead,
            check,
        }))
    }
}

#[cfg(not(feature = "tuning"))]
mod implementation {
    use crate::error::Result;
    use crate::event::Event;
    use crate::kernel::{Arg, Prepared, ProgramBuilder};
    use crate::launch::choice::Call;
    use crate::policy::{Budget, Policy};
    use crate::queue::Queue;
    use cltune_core::select::Rule;
    use std::sync::Arc;

    /// There is none.
    #[derive(Debug)]
    pub(in crate::launch) enum OnlineTuner {}

    /// Results of tuning, which no call has.
    #[expect(dead_code, reason = "nothing tunes")]
    #[derive(Debug)]
    pub(in crate::launch) enum Ended {
        Use(Box<[i64]>, Arc<Prepared>),
        SelectAgain,
    }

    impl OnlineTuner {
        pub(in crate::launch) fn launch(&self, _: &Queue, _: &[Arg<'_>]) -> Result<Event> {
            match *self {}
        }

        pub(in crate::launch) fn take_ended(&self) -> Option<Ended> {
            match *self {}
        }

        pub(in crate::launch) fn describe(&self) -> String {
            match *self {}
        }
    }

    pub(super) fn tune_once(call: &Call<'_>, _: Budget, _: impl Fn() -> bool) {
        warn(call);
    }

    pub(in crate::launch) fn online_tuner(
        call: &Call<'_>,
        policy: &Policy,
        _: Rule,
        _: &[i64],
        _: &Arc<Prepared>,
        _: &ProgramBuilder,
    ) -> Option<OnlineTuner> {
        if matches!(policy, Policy::Online { .. }) {
            warn(call);
        }
        None
    }

    fn warn(call: &Call<'_>) {
        tracing::warn!(
            kernel = %call.tunable.model().name,
            "not tuned: this program was built without cltune's feature `tuning`"
        );
    }
}
