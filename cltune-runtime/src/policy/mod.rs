//! Policies: what a program does where nothing was tuned for its device and problem.
//!
//! | file | owns |
//! |---|---|
//! | `budget` | the time or number of evaluations that tuning may take |
//! | `text` | a policy as text, as in `CLTUNE_POLICY` |
//! | `setting` | the policy of a call: of its call site, of its tunable, of the process |
//! | `lockfiles` | lockfiles that are read at run time |

mod budget;
#[cfg(feature = "offline")]
mod lockfiles;
mod setting;
mod text;

pub use budget::{Budget, BudgetError};
#[cfg(feature = "offline")]
pub(crate) use lockfiles::lockfile;
pub(crate) use setting::{PolicyId, PolicySlot, current, get};
pub use setting::{policy, set_policy, with_policy};
pub use text::PolicyError;

use std::path::PathBuf;
use std::time::Duration;

/// What a program does where nothing was tuned for its device and problem.
///
/// As text, for example in the environment variable `CLTUNE_POLICY`:
///
/// | text | policy |
/// |---|---|
/// | `baked` | [`Policy::Baked`] |
/// | `tune-once:5s`, `tune-once:50` | [`Policy::TuneOnce`] within 5 seconds, with 50 configurations |
/// | `online:10%`, `online:30s` | [`Policy::Online`] with an overhead of at most 10 %, of 30 seconds in all |
/// | `online:10%,window=10s` | the same over every window of 10 seconds instead of 30 |
/// | `online:10%,unchecked` | the same, without comparing results |
/// | `offline:tuned.lock` | [`Policy::Offline`] with this lockfile |
///
/// Times are a whole number and `ms`, `s`, `m` or `h`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Policy {
    /// Never tune: what is known from tuning elsewhere or before, else the default.
    #[default]
    Baked,
    /// Tune when a kernel is first called with a problem unlike those known for this device; the
    /// call waits for it. What is found is remembered in the user's cache. Needs the feature
    /// `tuning`.
    TuneOnce {
        /// The budget for each kernel, device and problem.
        budget: Budget,
    },
    /// Tune with the calls themselves: each runs one configuration, whose result is the call's.
    /// What is found is remembered in the user's cache. Needs the feature `tuning`.
    Online {
        /// The slowdown of the program that is allowed meanwhile.
        overhead: Overhead,
        /// Whether a configuration's results are compared with the default's, on copies of the
        /// buffers, before it serves a call.
        check: bool,
    },
    /// Never tune, and prefer the values of this lockfile, which is read at run time, to those that
    /// were compiled in. Needs the feature `offline`.
    Offline(PathBuf),
}

/// The allowed slowdown of a program while it tunes itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Overhead {
    /// By a part of the default's time, in every window of calls that is long enough: that with the
    /// default would take `window` or more, and has `24 / fraction` calls or more. What is expected
    /// to cost more than such a window allows is not begun.
    Fraction {
        /// The part, for example 0.1.
        fraction: f64,
        /// The length of the windows. A single build may cost the calls half the fraction of
        /// it: 1.5 seconds for 10 % of 30 seconds.
        window: Duration,
    },
    /// By so much in all, for each kernel, device and problem.
    Time(Duration),
}

impl Overhead {
    /// The windows of a policy that names none.
    pub const WINDOW: Duration = Duration::from_secs(30);

    /// By this part of the default's time, over windows of [`Overhead::WINDOW`].
    pub const fn fraction(fraction: f64) -> Self {
        Self::Fraction {
            fraction,
            window: Self::WINDOW,
        }
    }
}
