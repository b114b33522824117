//! What exploring may cost: an account of time.
//!
//! Every call of the program pays half of the allowed overhead `x` into the account, as a part of the
//! default's time `d`, and takes out by how much it took longer than the default; what a faster
//! configuration saves is paid in. A step (a build beside the calls, a launch of unknown speed with its check)
//! begins when the account holds what it is expected to cost, and the account holds at most what the next
//! steps are expected to cost, `R`. So in every window of `n` calls
//!
//! `time - n d <= n d x / 2 + R`,
//!
//! as long as no step costs more than was expected. `R` is [`RESERVE`] times `d` or more, for a launch that
//! takes ten times as long as the default's, and at most `w x / 2` for windows of length `w`: a step that is
//! expected to cost more is never begun. So in every window with `n d >= w` and `n >= 2 RESERVE / x`
//!
//! `time <= n d (1 + x)`.
//!
//! A step that costs more than was expected leaves the account in debt, and nothing is begun before that is
//! paid. The windows keep their bound even then, as long as what is beyond, and `R`, are together at most
//! `w x / 2`.

use crate::policy::Overhead;

/// What a trial may cost, in default times: 9 more for a launch that takes 10, and 3 for the launches of
/// the check.
pub(super) const RESERVE: f64 = 12.0;

/// What exploring may cost. Times are in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Account {
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

/// Whether a step may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outlook {
    /// Its cost is there.
    Now,
    /// Its cost is being saved up.
    Later,
    /// It costs more than will ever be there, unless calls become faster.
    Never,
}

impl Account {
    pub(super) fn new(overhead: Overhead) -> Self {
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

    /// A call took so long, where the default takes `default_us`, and the next steps are expected to cost
    /// `next_us`.
    pub(super) fn call(&mut self, took_us: f64, default_us: f64, next_us: f64) {
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
    pub(super) fn extra(&mut self, took_us: f64) {
        self.balance -= took_us;
    }

    /// Whether a launch of about this time may serve the next call.
    pub(super) fn affords(&self, expected_us: f64, default_us: f64) -> bool {
        self.balance >= expected_us - default_us
    }

    /// Whether a step that costs so much may begin.
    pub(super) fn outlook(&self, cost_us: f64, default_us: f64) -> Outlook {
        if self.balance >= cost_us {
            return Outlook::Now;
        }
        match self.allowance {
            Allowance::Rate { .. } if cost_us <= self.most_us(default_us) => Outlook::Later,
            _ => Outlook::Never,
        }
    }

    /// The most that a step may cost.
    pub(super) fn most_us(&self, default_us: f64) -> f64 {
        match self.allowance {
            Allowance::Rate { most, .. } => most.max(RESERVE * default_us),
            Allowance::Once { time } => time,
        }
    }

    /// Whether nothing more is paid in, and a launch of unknown time is not affordable.
    pub(super) fn is_spent(&self, default_us: f64) -> bool {
        matches!(self.allowance, Allowance::Once { .. }) && self.balance < RESERVE * default_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    /// The costs of calls when every step that is afforded is made: the costs of trials, in default
    /// times, come from `trials`, of builds from `builds` (what is expected and what they cost); other calls
    /// take `usual` default times.
    fn costs(
        account: &mut Account,
        default: f64,
        usual: f64,
        trials: &[(f64, f64)],
        builds: &[(f64, f64)],
    ) -> Vec<f64> {
        let mut trials = trials.iter().cycle();
        let mut builds = builds.iter().cycle().copied();
        let mut build = builds.next();
        let mut costs = Vec::new();
        for _ in 0..6000 {
            let (mut took, mut extra) = (usual * default, 0.0);
            let expected = build.map_or(0.0, |(expected, _)| expected * default);
            if let Some((_, cost)) = build
                && account.outlook(expected, default) == Outlook::Now
            {
                extra = cost * default;
                build = None;
            } else if build.is_none() && account.outlook(RESERVE * default, default) == Outlook::Now
            {
                let (launch, check) = trials.next().copied().unwrap_or((1.0, 0.0));
                (took, extra) = (launch * default, check * default);
                build = builds.next();
            }
            account.extra(extra);
            account.call(took, default, expected);
            costs.push(took + extra);
        }
        costs
    }

    /// Excess over what is allowed, summed up to each call: none may be higher than one that is a window
    /// or more before. Returns by how many default times the worst is.
    fn worst(costs: &[f64], default: f64, fraction: f64, window: usize) -> f64 {
        let mut sums = vec![0.0];
        for cost in costs {
            sums.push(sums[sums.len() - 1] + cost / default - (1.0 + fraction));
        }
        let (mut least, mut worst) = (f64::INFINITY, f64::NEG_INFINITY);
        for end in window..sums.len() {
            least = least.min(sums[end - window]);
            worst = worst.max(sums[end] - least);
        }
        worst
    }

    proptest! {
        #[test]
        fn no_window_exceeds_the_overhead(
            fraction in 0.02_f64..2.0, default in 0.1_f64..1e6, usual in 0.2_f64..1.0,
            trials in proptest::collection::vec((0.1_f64..10.0, 0.0_f64..3.0), 1..50),
            builds in proptest::collection::vec((0.0_f64..30.0, 0.0_f64..1.0), 0..20),
        ) {
            // What is expected, and what it costs: less than that, or more.
            let most = 600.0_f64.max(24.0 / fraction) * fraction / 2.0;
            let calls = 2.0 * most / fraction;
            let saved = builds.iter().map(|(expected, _)| *expected).fold(RESERVE, f64::max);
            let builds: Vec<(f64, f64)> = builds
                .iter()
                .map(|(expected, cost)| {
                    let more = (2.0 * cost - 1.0).max(0.0) * (most - saved).max(0.0);
                    (*expected, expected * (2.0 * cost).min(1.0) + more)
                })
                .collect();
            let window = Duration::from_secs_f64(calls * default / 1e6);
            let overhead = Overhead::Fraction { fraction, window };
            let costs = costs(&mut Account::new(overhead), default, usual, &trials, &builds);
            prop_assert!(worst(&costs, default, fraction, calls.ceil() as usize + 1) <= 1e-6);
        }

        #[test]
        fn where_steps_cost_what_is_expected_shorter_windows_are_kept(
            fraction in 0.02_f64..2.0, default in 0.1_f64..1e3,
            trials in proptest::collection::vec((0.1_f64..10.0, 0.0_f64..3.0), 1..50),
            expected in 0.0_f64..30.0, costs_of_it in 0.0_f64..1.0,
        ) {
            let mut account = Account::new(Overhead::fraction(fraction));
            let builds = [(expected, costs_of_it * expected)];
            let costs = costs(&mut account, default, 1.0, &trials, &builds);
            let window = 2.0 * RESERVE.max(expected) / fraction;
            prop_assert!(worst(&costs, default, fraction, window.ceil() as usize) <= 1e-6);
        }

        #[test]
        fn a_time_is_not_exceeded(
            milliseconds in 1_u64..1000, default in 1.0_f64..1e4,
            trials in proptest::collection::vec((0.1_f64..10.0, 0.0_f64..3.0), 1..50),
        ) {
            let mut account = Account::new(Overhead::Time(Duration::from_millis(milliseconds)));
            let costs = costs(&mut account, default, 1.0, &trials, &[]);
            let excess: f64 = costs.iter().map(|cost| cost - default).sum();
            prop_assert!(excess <= milliseconds as f64 * 1e3 + 1e-3, "{}", excess);
        }
    }

    #[test]
    fn what_costs_more_than_a_window_allows_is_never_begun() {
        let overhead = Overhead::Fraction {
            fraction: 0.1,
            window: Duration::from_secs(10),
        };
        let mut account = Account::new(overhead);
        assert_eq!(account.outlook(5e5, 10.0), Outlook::Later);
        assert_eq!(account.outlook(5.001e5, 10.0), Outlook::Never);
        // Windows have 240 calls at least.
        assert_eq!(account.outlook(12e6, 1e6), Outlook::Later);
        for _ in 0..1_000_100 {
            account.call(10.0, 10.0, 5e5);
        }
        assert_eq!(account.outlook(5e5, 10.0), Outlook::Now);
        let time = Account::new(Overhead::Time(Duration::from_millis(1)));
        assert_eq!(time.outlook(1e3, 10.0), Outlook::Now);
        assert_eq!(time.outlook(1.001e3, 10.0), Outlook::Never);
    }

    #[test]
    fn a_debt_is_paid_before_anything_is_tried() {
        let mut account = Account::new(Overhead::fraction(0.1));
        let outlook = |account: &Account| account.outlook(RESERVE * 10.0, 10.0);
        for _ in 0..240 {
            assert_eq!(outlook(&account), Outlook::Later);
            account.call(10.0, 10.0, 0.0);
        }
        assert_eq!(outlook(&account), Outlook::Now);
        account.call(1000.0, 10.0, 0.0);
        let calls = (0..).take_while(|_| {
            account.call(10.0, 10.0, 0.0);
            outlook(&account) != Outlook::Now
        });
        assert!((1975..2225).contains(&calls.count()));
    }
}
