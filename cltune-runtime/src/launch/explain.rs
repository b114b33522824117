//! Explanation for people: the configuration that a call gets, and why.

use super::cache::LaunchCache;
use super::choice::{Call, Considered};
use super::results::TunedResults;
use crate::error::Result;
use crate::kernel::Tunable;
use crate::policy::{self, Policy};
use crate::queue::Queue;
use std::fmt;

/// The configuration that a call gets, and why; for people, as [`Display`](fmt::Display).
#[derive(Clone, Debug)]
pub struct Explanation {
    kernel: String,
    device: String,
    problem: String,
    policy: Policy,
    considered: Vec<Considered>,
    /// The state of the tuner that serves such calls.
    tuning: Option<String>,
}

impl Explanation {
    /// The policy that the call has.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Every configuration that is considered, in order, the one that is taken last: its values,
    /// its rule, and why it is passed over.
    pub fn considered(&self) -> impl Iterator<Item = String> + '_ {
        self.considered.iter().map(ToString::to_string)
    }

    /// The configuration that is taken, `WG = 64, WPT = 2`; `None` where no configuration can run.
    pub fn configuration(&self) -> Option<&str> {
        let last = self.considered.last()?;
        let is_taken = last.passed_over.is_none();
        is_taken.then_some(last.configuration.as_str())
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} for {} on {}, policy {}",
            self.kernel, self.problem, self.device, self.policy
        )?;
        for considered in &self.considered {
            let mark = match considered.passed_over {
                Some(_) => ' ',
                None => '>',
            };
            writeln!(f, "{mark} {considered}")?;
        }
        if self.configuration().is_none() {
            writeln!(f, "  no configuration can run")?;
        }
        match &self.tuning {
            Some(tuning) => writeln!(f, "  {tuning}"),
            None => Ok(()),
        }
    }
}

/// The configuration that a call on this queue gets, and why. Nothing is built or launched.
///
/// # Errors
/// [`Error::Policy`](crate::Error::Policy).
pub fn explain(tunable: &'static Tunable, queue: &Queue, dims: &[i64]) -> Result<Explanation> {
    let device = queue.device();
    let policy = policy::get(policy::current(tunable.policy()))?;
    let results = TunedResults::of(tunable, device, &policy);
    let call = Call {
        tunable,
        device,
        dims,
    };
    let launches = LaunchCache::of(queue.context());
    let model = tunable.model();
    Ok(Explanation {
        kernel: model.name.to_string(),
        device: device.to_string(),
        problem: model.describe_problem(dims),
        considered: call.consider(&results, launches.refusals()),
        tuning: launches.describe_tuner(tunable, dims),
        policy,
    })
}
