//! What exploring may cost: an account of time.
//!
//! Every call of the program pays half of the allowed overhead into the account, as a part of the
//! default's time `d`, and takes out by how much it took longer than the default; what a faster
//! configuration saves is paid in. The account holds at most [`RESERVE`] default times, and a configuration
//! of unknown speed is only tried when it is full. So in every window of `n` calls
//!
//! `time - n d <= n d x / 2 + RESERVE d`, for an overhead of `x`,
//!
//! as long as no trial costs more than the reserve: a launch that takes ten times as long as the
//! default's, with the check of its result. For `n >= 2 RESERVE / x` that is at most `n d x`: in every
//! window of 240 or more calls an overhead of 10 % is kept. A trial that costs more leaves the account in
//! debt, and nothing is tried before that is paid.

use crate::policy::Overhead;

/// What a trial may cost, in default times: 9 more for a launch that takes 10, and 3 for the check.
pub(super) const RESERVE: f64 = 12.0;

/// What exploring may cost. Times are in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Account {
    balance: f64,
    /// What a call pays in, a part of the default's time.
    rate: f64,
    /// The most it may hold, where that is a time and not a number of default times.
    most: Option<f64>,
}

impl Account {
    pub(super) fn new(overhead: Overhead) -> Self {
        match overhead {
            Overhead::Fraction(fraction) => Self {
                balance: 0.0,
                rate: fraction / 2.0,
                most: None,
            },
            Overhead::Time(time) => Self {
                balance: time.as_secs_f64() * 1e6,
                rate: 0.0,
                most: Some(time.as_secs_f64() * 1e6),
            },
        }
    }

    /// A call took so long, where the default takes `default_us`.
    pub(super) fn call(&mut self, took_us: f64, default_us: f64) {
        let most = self.most.unwrap_or(RESERVE * default_us);
        let new = self.balance + self.rate * default_us - (took_us - default_us);
        self.balance = new.min(most);
    }

    /// Something was done besides the calls.
    pub(super) fn extra(&mut self, took_us: f64) {
        self.balance -= took_us;
    }

    /// Whether a launch of about this time may serve the next call.
    pub(super) fn affords(&self, expected_us: f64, default_us: f64) -> bool {
        self.balance >= expected_us - default_us
    }

    /// Whether a launch of unknown time may be tried.
    pub(super) fn affords_unknown(&self, default_us: f64) -> bool {
        self.balance >= RESERVE * default_us
    }

    /// Whether nothing of unknown time will ever be tried again, unless calls become faster.
    pub(super) fn is_spent(&self, default_us: f64) -> bool {
        self.rate == 0.0 && !self.affords_unknown(default_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    /// The costs of calls when every trial that is afforded is made: the costs of the trials, in default
    /// times, come from `trials`, and other calls take `usual` default times.
    fn costs(account: &mut Account, default: f64, usual: f64, trials: &[(f64, f64)]) -> Vec<f64> {
        let mut trials = trials.iter().cycle();
        let mut costs = Vec::new();
        for _ in 0..3000 {
            let (mut took, mut extra) = (usual * default, 0.0);
            if account.affords_unknown(default) {
                let (launch, check) = trials.next().copied().unwrap_or((1.0, 0.0));
                (took, extra) = (launch * default, check * default);
            }
            account.extra(extra);
            account.call(took, default);
            costs.push(took + extra);
        }
        costs
    }

    proptest! {
        #[test]
        fn no_window_exceeds_the_overhead(
            fraction in 0.02_f64..2.0, default in 0.1_f64..1e6, usual in 0.2_f64..1.0,
            trials in proptest::collection::vec((0.1_f64..10.0, 0.0_f64..3.0), 1..50),
        ) {
            let mut account = Account::new(Overhead::Fraction(fraction));
            let costs = costs(&mut account, default, usual, &trials);
            let window = (2.0 * RESERVE / fraction).ceil() as usize;
            // Excess over what is allowed, summed up to each call: no later one may be higher than one
            // that is a window or more before.
            let mut sums = vec![0.0];
            for cost in &costs {
                sums.push(sums[sums.len() - 1] + cost / default - (1.0 + fraction));
            }
            let mut least = f64::INFINITY;
            for (end, sum) in sums.iter().enumerate() {
                if let Some(begin) = end.checked_sub(window) {
                    least = least.min(sums[begin]);
                    prop_assert!(*sum <= least + 1e-6, "calls up to {}", end);
                }
            }
        }

        #[test]
        fn a_time_is_not_exceeded(
            milliseconds in 1_u64..1000, default in 1.0_f64..1e4,
            trials in proptest::collection::vec((0.1_f64..10.0, 0.0_f64..3.0), 1..50),
        ) {
            let mut account = Account::new(Overhead::Time(Duration::from_millis(milliseconds)));
            let costs = costs(&mut account, default, 1.0, &trials);
            let excess: f64 = costs.iter().map(|cost| cost - default).sum();
            prop_assert!(excess <= milliseconds as f64 * 1e3 + 1e-3, "{}", excess);
        }
    }

    #[test]
    fn a_debt_is_paid_before_anything_is_tried() {
        let mut account = Account::new(Overhead::Fraction(0.1));
        for _ in 0..240 {
            assert!(!account.affords_unknown(10.0));
            account.call(10.0, 10.0);
        }
        assert!(account.affords_unknown(10.0));
        account.call(1000.0, 10.0);
        let calls = (0..).take_while(|_| {
            account.call(10.0, 10.0);
            !account.affords_unknown(10.0)
        });
        assert!((1975..2225).contains(&calls.count()));
    }
}
