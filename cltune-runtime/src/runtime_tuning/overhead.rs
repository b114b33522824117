//! The overhead of on-line tuning: the budget for it, and the costs of steps, expected and
//! measured. Times are in microseconds.
//!
//! **Budget.** A [token bucket](TokenBucket) whose tokens are time. Every call of the program pays
//! in half of the allowed overhead `x`, as a part of the default's time `d`, and takes out the time
//! that it took longer than the default; what a faster configuration saves is paid in. A step (a
//! build beside the calls, or a launch of unknown speed with its check) begins when the bucket
//! holds its expected cost. The bucket holds at most the expected cost of the next steps, `R`. In
//! every window of `n` calls therefore
//!
//! `time - n d <= n d x / 2 + R`,
//!
//! as long as no step costs more than was expected. `R` is at least [`RESERVE`] times `d`, for a
//! launch that takes ten times as long as the default's, and at most `w x / 2` for windows of
//! length `w`: a step that is expected to cost more is never begun. In every window with `n d >= w`
//! and `n >= 2 RESERVE / x` therefore
//!
//! `time <= n d (1 + x)`.
//!
//! A step that costs more than was expected leaves a debt, and nothing is begun before the debt is
//! paid. The windows keep their bound even then, as long as the excess and `R` are together at most
//! `w x / 2`.
//!
//! **Forecast.** The first step is paid before its cost is known. The [forecast](CostForecast) is
//! half as much again as the last cost, or half of the last forecast, whichever is more: a step
//! that is cheap by chance does not make the next one seem cheap.
//!
//! **Measurement.** On a CPU, compilers and kernels share the cores, and drivers let launches wait
//! while they build. That cost cannot be computed, so [`BuildCost`] measures it: a program calls a
//! kernel at a certain pace, and the delay of its calls while something is being built is the cost
//! of building. Everything else that the program does between its calls is in both. Nothing here
//! reads a clock.

use crate::policy::Overhead;
use std::time::Duration;

/// The budget of on-line tuning: the token bucket, with the forecast of the next steps.
#[derive(Clone, Debug)]
pub(super) struct OverheadBudget {
    bucket: TokenBucket,
    forecast: CostForecast,
}

/// A step that is never made, because its expected cost is more than the bucket will ever hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OverBudget {
    /// The step, for people.
    pub(super) step: &'static str,
    pub(super) expected_us: f64,
    pub(super) allowed_us: f64,
}

impl OverheadBudget {
    pub(super) fn new(overhead: Overhead, forecast: CostForecast) -> Self {
        Self {
            bucket: TokenBucket::new(overhead),
            forecast,
        }
    }

    /// Expects the next build to cost so much.
    #[cfg(test)]
    pub(super) fn expect_build(&mut self, cost_us: f64) {
        self.forecast = CostForecast::new(cost_us, self.forecast.check_us());
    }

    /// A call took so long.
    pub(super) fn call(&mut self, took_us: f64, default_us: f64) {
        let next_us = self.trial_us(default_us).max(self.build_us(default_us));
        self.bucket.call(took_us, default_us, next_us);
    }

    /// Something was done besides the calls.
    pub(super) fn extra(&mut self, cost_us: f64) {
        self.bucket.extra(cost_us);
    }

    /// A build has cost the calls so much.
    pub(super) fn built(&mut self, cost_us: f64) {
        self.forecast.built(cost_us);
        self.bucket.extra(cost_us);
    }

    /// A check has cost so much, and its launches took so long.
    pub(super) fn checked(&mut self, cost_us: f64, launches_us: f64) {
        self.forecast.checked((cost_us - launches_us).max(0.0));
        self.bucket.extra(cost_us);
    }

    /// Whether a launch of about this time may serve the next call.
    pub(super) fn affords(&self, expected_us: f64, default_us: f64) -> bool {
        self.bucket.affords(expected_us, default_us)
    }

    /// Whether a configuration may be built now. It is tried when that is affordable as well.
    ///
    /// # Errors
    /// It will never be built, or never be tried.
    pub(super) fn may_build(&self, default_us: f64) -> Result<bool, OverBudget> {
        let may = |step, expected_us| match self.bucket.afford(expected_us, default_us) {
            Affordable::Never => Err(OverBudget {
                step,
                expected_us,
                allowed_us: self.bucket.most_us(default_us),
            }),
            affordable => Ok(affordable == Affordable::Now),
        };
        may("trying a configuration", self.trial_us(default_us))?;
        may("building a configuration", self.build_us(default_us))
    }

    /// Whether a configuration of unknown speed may be tried.
    pub(super) fn may_try(&self, default_us: f64) -> Affordable {
        self.bucket.afford(self.trial_us(default_us), default_us)
    }

    /// Whether nothing more is paid in, and a launch of unknown time is not affordable.
    pub(super) fn is_spent(&self, default_us: f64) -> bool {
        self.bucket.is_spent(default_us)
    }

    fn build_us(&self, default_us: f64) -> f64 {
        self.forecast.build_us(self.bucket.most_us(default_us))
    }

    fn trial_us(&self, default_us: f64) -> f64 {
        RESERVE * default_us + self.forecast.check_us()
    }
}

impl OverBudget {
    /// The factor by which a window has to be longer for the step to be made.
    pub(super) fn factor(&self) -> f64 {
        self.expected_us / self.allowed_us
    }
}

/// The cost of a trial, in default times: 9 more for a launch that takes 10, and 3 for the launches
/// of the check.
pub(super) const RESERVE: f64 = 12.0;

/// The time that tuning may take from the calls.
#[derive(Clone, Debug)]
struct TokenBucket {
    balance: f64,
    allowance: Allowance,
}

#[derive(Clone, Copy, Debug)]
enum Allowance {
    /// A call pays in this part of the default's time; a step may cost so much.
    Rate { part: f64, most: f64 },
    /// All there is at the beginning.
    Once { time: f64 },
}

/// The time at which a step may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affordable {
    /// Now: the bucket holds its cost.
    Now,
    /// Its cost is being saved up.
    Later,
    /// It costs more than will ever be there, unless calls become faster.
    Never,
}

impl TokenBucket {
    fn new(overhead: Overhead) -> Self {
        match overhead {
            Overhead::Fraction { fraction, window } => {
                let part = fraction / 2.0;
                let most = window.as_secs_f64() * 1e6 * part;
                Self {
                    balance: 0.0,
                    allowance: Allowance::Rate { part, most },
                }
            }
            Overhead::Time(time) => {
                let time = time.as_secs_f64() * 1e6;
                Self {
                    balance: time,
                    allowance: Allowance::Once { time },
                }
            }
        }
    }

    /// A call took so long, where the default takes `default_us`, and the next steps are expected
    /// to cost `next_us`.
    fn call(&mut self, took_us: f64, default_us: f64, next_us: f64) {
        let (part, holds) = match self.allowance {
            Allowance::Rate { part, .. } => {
                let most = self.most_us(default_us);
                (part, next_us.clamp(RESERVE * default_us, most))
            }
            Allowance::Once { time } => (0.0, time),
        };
        let new = self.balance + part * default_us - (took_us - default_us);
        self.balance = new.min(holds);
    }

    /// Something was done besides the calls.
    fn extra(&mut self, took_us: f64) {
        self.balance -= took_us;
    }

    /// Whether a launch of about this time may serve the next call.
    fn affords(&self, expected_us: f64, default_us: f64) -> bool {
        self.balance >= expected_us - default_us
    }

    /// Whether a step that costs so much may begin.
    fn afford(&self, cost_us: f64, default_us: f64) -> Affordable {
        if self.balance >= cost_us {
            return Affordable::Now;
        }
        match self.allowance {
            Allowance::Rate { .. } if cost_us <= self.most_us(default_us) => Affordable::Later,
            _ => Affordable::Never,
        }
    }

    /// The most that a step may cost.
    fn most_us(&self, default_us: f64) -> f64 {
        match self.allowance {
            Allowance::Rate { most, .. } => most.max(RESERVE * default_us),
            Allowance::Once { time } => time,
        }
    }

    /// Whether nothing more is paid in, and a launch of unknown time is not affordable.
    fn is_spent(&self, default_us: f64) -> bool {
        matches!(self.allowance, Allowance::Once { .. }) && self.balance < RESERVE * default_us
    }
}

/// The next step may cost so many times as much as the last.
const SAFETY: f64 = 1.5;
/// The first build costs the calls this part of the time that building the default took, which may
/// include loading the driver's compiler (0.4 s on an H200 whose disk was cold, for a kernel of
/// 0.05 s). Calls were seen to be late by a quarter of a build's time with NVIDIA's driver, and by
/// up to 0.6 of it with PoCL on two cores.
const WAITING: f64 = 0.6;
/// The first build costs so much at least. The default may have been served from a cache of the
/// driver, and then tells nothing; building a small kernel takes 35 ms (rusticl) to 270 ms (Intel's
/// runtime) where nothing is cached (BENCHMARKS.md, "First launch").
const FIRST_BUILD: Duration = Duration::from_millis(100);
/// The first check costs so much at least: copies are made, results are read.
const FIRST_CHECK: Duration = Duration::from_millis(1);
/// The time of the first check for each byte that the kernel writes: copying, reading and
/// comparing.
const CHECK_BYTE: Duration = Duration::from_nanos(10);

/// The costs that the next build and the next check are expected to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct CostForecast {
    build_us: f64,
    check_us: f64,
}

impl CostForecast {
    /// For a first build and a first check.
    pub(super) fn new(build_us: f64, check_us: f64) -> Self {
        Self { build_us, check_us }
    }

    /// From the time that building the default took, and the number of bytes that a check compares;
    /// `None`: nothing is checked.
    pub(super) fn of(default: Duration, compared: Option<usize>) -> Self {
        let build = default.mul_f64(WAITING).max(FIRST_BUILD);
        let check = compared.map_or(0.0, |bytes| {
            micros(FIRST_CHECK) + micros(CHECK_BYTE) * bytes as f64
        });
        Self::new(micros(build), check)
    }

    /// The highest cost of the next build. The safety margin is given up where it alone makes the
    /// cost exceed `most_us`.
    pub(super) fn build_us(&self, most_us: f64) -> f64 {
        if self.build_us <= SAFETY * most_us {
            self.build_us.min(most_us)
        } else {
            self.build_us
        }
    }

    /// The highest cost of the next check, apart from its launches.
    pub(super) fn check_us(&self) -> f64 {
        self.check_us
    }

    /// A build has cost so much.
    pub(super) fn built(&mut self, cost_us: f64) {
        self.build_us = forecast(self.build_us, cost_us);
    }

    /// A check has cost so much, apart from its launches.
    pub(super) fn checked(&mut self, cost_us: f64) {
        self.check_us = forecast(self.check_us, cost_us);
    }
}

fn forecast(expected_us: f64, cost_us: f64) -> f64 {
    (SAFETY * cost_us).max(expected_us / 2.0)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Intervals are averaged over about so many.
const AVERAGED: f64 = 240.0;
/// The mean of fewer is not known.
const FEWEST: f64 = 20.0;

/// The cost of building beside the calls, measured by when the calls come.
#[derive(Clone, Debug, Default)]
pub(super) struct BuildCost {
    /// The mean interval while nothing is built, and of how many.
    mean_us: f64,
    count: f64,
    /// When the last call came, if the interval that it begins says something.
    last_us: Option<f64>,
    /// Whether something was being built then.
    is_building: bool,
    /// The delay of calls compared to those without building, since [`take`](Self::take).
    late_us: f64,
    /// The time of the kernel in ordinary calls.
    incumbent_us: Option<f64>,
}

impl BuildCost {
    /// A call comes.
    pub(super) fn call(&mut self, now_us: f64) {
        let Some(last_us) = self.last_us.take() else {
            return;
        };
        let interval_us = (now_us - last_us).max(0.0);
        if self.is_building {
            self.late_us += interval_us - self.mean_us;
        } else {
            self.count = (self.count + 1.0).min(AVERAGED);
            self.mean_us += (interval_us - self.mean_us) / self.count;
        }
    }

    /// The call that came now is an ordinary one: it is neither a trial nor timed, so that nothing
    /// else accounts for what it takes.
    pub(super) fn is_ordinary(&mut self, now_us: f64, is_building: bool) {
        self.last_us = Some(now_us);
        self.is_building = is_building;
    }

    /// Whether the usual interval is known, so that a build may begin.
    pub(super) fn is_known(&self) -> bool {
        self.count >= FEWEST
    }

    /// The kernel of ordinary calls takes so long from now on. Where that changes, the interval
    /// changes by as much: a first guess, until the new interval is known.
    pub(super) fn incumbent(&mut self, us: f64) {
        if let Some(before_us) = self.incumbent_us.replace(us)
            && before_us != us
        {
            self.mean_us = (self.mean_us + us - before_us).max(0.0);
            self.count = 0.0;
        }
    }

    /// The cost that a build of this length had for the calls meanwhile: not more than its own
    /// time, since the program may have had other reasons to call late.
    pub(super) fn take(&mut self, took_us: f64) -> f64 {
        std::mem::take(&mut self.late_us).clamp(0.0, took_us)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/runtime_tuning_overhead.rs"]
mod tests;
