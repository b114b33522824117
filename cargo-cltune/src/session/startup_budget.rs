//! Startup-dominated budgets: time budgets that are used up before much was measured.

use cltune_runtime::Budget;
use std::fmt;
use std::time::Duration;

/// A time budget of which starting took more than half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StartupDominated {
    budget: Duration,
    /// Until the first configuration was measured.
    starting: Duration,
    evaluated: u64,
}

impl StartupDominated {
    /// Of a search that ended because its time was up, after `evaluated` configurations; `None`
    /// where starting left half of the time or more.
    pub(super) fn of(budget: Duration, starting: Duration, evaluated: u64) -> Option<Self> {
        (starting > budget / 2).then_some(Self {
            budget,
            starting,
            evaluated,
        })
    }

    /// A budget of which starting is a fifth at most, seconds: a whole number of the kind that
    /// people type.
    pub(crate) fn enough_s(&self) -> u64 {
        const STEPS: [u64; 7] = [1, 2, 5, 10, 20, 30, 60];
        let least = self.starting.as_secs_f64() * 5.0;
        let least = least.ceil().max(1.0) as u64;
        let step = STEPS.iter().find(|step| least <= **step);
        // Above a minute: whole minutes.
        step.copied().unwrap_or_else(|| least.next_multiple_of(60))
    }
}

/// The cause, and the remedy.
impl fmt::Display for StartupDominated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (starting, budget) = (self.starting.as_secs_f64(), Budget::Time(self.budget));
        let configurations = match self.evaluated {
            1 => "1 configuration was",
            evaluated => &format!("{evaluated} configurations were"),
        };
        let enough = match self.enough_s() {
            minutes if minutes.is_multiple_of(60) => format!("{}m", minutes / 60),
            seconds => format!("{seconds}s"),
        };
        write!(
            f,
            "starting took {starting:.1} s of the budget of {budget} (workers, inputs, the \
             reference, first builds), and {configurations} measured; `--budget {enough}` leaves time to search"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dominated(budget_ms: u64, starting_ms: u64) -> Option<StartupDominated> {
        let [budget, starting] = [budget_ms, starting_ms].map(Duration::from_millis);
        StartupDominated::of(budget, starting, 3)
    }

    #[test]
    fn it_is_said_where_starting_took_more_than_half() {
        assert_eq!(dominated(5000, 2500), None);
        assert!(dominated(5000, 2501).is_some());
        // Starting is not cut short by the budget.
        assert!(dominated(1000, 9000).is_some());
    }

    #[test]
    fn the_sentence_names_a_budget_of_which_starting_is_a_fifth() {
        let enough = |starting_ms| dominated(0, starting_ms).unwrap().enough_s();
        let starting = [100, 1000, 1001, 4300, 5000, 12_000, 12_001, 40_000];
        let expected = [1, 5, 10, 30, 30, 60, 120, 240];
        assert_eq!(starting.map(enough), expected);
        for (starting, enough) in starting.into_iter().zip(expected) {
            assert!(dominated(enough * 1000, starting).is_none());
        }
        assert_eq!(
            dominated(5000, 4300).unwrap().to_string(),
            "starting took 4.3 s of the budget of 5s (workers, inputs, the reference, first builds), and \
             3 configurations were measured; `--budget 30s` leaves time to search"
        );
        let long = StartupDominated::of(Duration::from_secs(5), Duration::from_secs(40), 1);
        let long = long.unwrap().to_string();
        assert!(
            long.contains("1 configuration was measured; `--budget 4m`"),
            "{long}"
        );
    }
}
