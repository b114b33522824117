//! What may be begun now: what the [account](super::account) holds, beside what the next steps are
//! [expected](super::forecast) to cost. Times are in microseconds.

use super::account::{Account, Outlook, RESERVE};
use super::forecast::Forecast;

#[derive(Clone, Debug)]
pub(super) struct Spending {
    account: Account,
    forecast: Forecast,
}

/// A step that is never made, because it is expected to cost more than the account will ever hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TooDear {
    /// What it is.
    pub(super) step: &'static str,
    pub(super) expected_us: f64,
    pub(super) allowed_us: f64,
}

impl Spending {
    pub(super) fn new(account: Account, forecast: Forecast) -> Self {
        Self { account, forecast }
    }

    /// Expects the next build to cost so much.
    #[cfg(test)]
    pub(super) fn expect_build(&mut self, cost_us: f64) {
        self.forecast = Forecast::new(cost_us, self.forecast.check_us());
    }

    /// A call took so long.
    pub(super) fn call(&mut self, took_us: f64, default_us: f64) {
        let next_us = self.trial_us(default_us).max(self.build_us(default_us));
        self.account.call(took_us, default_us, next_us);
    }

    /// Something was done besides the calls.
    pub(super) fn extra(&mut self, cost_us: f64) {
        self.account.extra(cost_us);
    }

    /// What was built has cost the calls so much.
    pub(super) fn built(&mut self, cost_us: f64) {
        self.forecast.built(cost_us);
        self.account.extra(cost_us);
    }

    /// A check has cost so much, and its launches took so long.
    pub(super) fn checked(&mut self, cost_us: f64, launches_us: f64) {
        self.forecast.checked((cost_us - launches_us).max(0.0));
        self.account.extra(cost_us);
    }

    /// Whether a launch of about this time may serve the next call.
    pub(super) fn affords(&self, expected_us: f64, default_us: f64) -> bool {
        self.account.affords(expected_us, default_us)
    }

    /// Whether a configuration may be built now. It is tried when that is affordable as well.
    ///
    /// # Errors
    /// It will never be built, or never be tried.
    pub(super) fn may_build(&self, default_us: f64) -> Result<bool, TooDear> {
        let may = |step, expected_us| match self.account.outlook(expected_us, default_us) {
            Outlook::Never => Err(TooDear {
                step,
                expected_us,
                allowed_us: self.account.most_us(default_us),
            }),
            outlook => Ok(outlook == Outlook::Now),
        };
        may("trying a configuration", self.trial_us(default_us))?;
        may("building a configuration", self.build_us(default_us))
    }

    /// Whether a configuration of unknown speed may be tried.
    pub(super) fn may_try(&self, default_us: f64) -> Outlook {
        self.account.outlook(self.trial_us(default_us), default_us)
    }

    /// Whether nothing more is paid in, and a launch of unknown time is not affordable.
    pub(super) fn is_spent(&self, default_us: f64) -> bool {
        self.account.is_spent(default_us)
    }

    fn build_us(&self, default_us: f64) -> f64 {
        self.forecast.build_us(self.account.most_us(default_us))
    }

    fn trial_us(&self, default_us: f64) -> f64 {
        RESERVE * default_us + self.forecast.check_us()
    }
}

impl TooDear {
    /// Times what a window allows it has to be for the step to be made.
    pub(super) fn factor(&self) -> f64 {
        self.expected_us / self.allowed_us
    }
}
