//! The budget of tuning: time, or a number of evaluations.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A number of configurations or a time, for each kernel, device and problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Budget {
    /// So many configurations.
    Evaluations(u64),
    /// So long.
    Time(Duration),
}

/// Not a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// It cannot be read.
    #[error("`{0}` is no budget: write `200` for configurations, or `500ms`, `30s`, `5m`, `2h`")]
    Unreadable(String),
    /// It is zero.
    #[error("a budget of nothing allows no evaluation")]
    Nothing,
}

impl Budget {
    /// The number of configurations, if that is what limits.
    pub const fn evaluations(self) -> Option<u64> {
        match self {
            Self::Evaluations(count) => Some(count),
            Self::Time(_) => None,
        }
    }

    /// The time, if that is what limits.
    pub const fn time(self) -> Option<Duration> {
        match self {
            Self::Evaluations(_) => None,
            Self::Time(time) => Some(time),
        }
    }
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let unreadable = || BudgetError::Unreadable(text.to_owned());
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u64 = digits.parse().map_err(|_| unreadable())?;
        let milliseconds = match &text[digits.len()..] {
            "" if number == 0 => return Err(BudgetError::Nothing),
            "" => return Ok(Self::Evaluations(number)),
            "ms" => Some(number),
            "s" => number.checked_mul(1000),
            "m" => number.checked_mul(60_000),
            "h" => number.checked_mul(3_600_000),
            _ => return Err(unreadable()),
        };
        match milliseconds {
            None => Err(unreadable()),
            Some(0) => Err(BudgetError::Nothing),
            Some(milliseconds) => Ok(Self::Time(Duration::from_millis(milliseconds))),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evaluations(count) => write!(f, "{count}"),
            Self::Time(time) if time.subsec_nanos() == 0 => write!(f, "{}s", time.as_secs()),
            Self::Time(time) => write!(f, "{}ms", time.as_millis()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_configurations_and_units_are_times() {
        assert_eq!("200".parse(), Ok(Budget::Evaluations(200)));
        assert_eq!("30s".parse(), Ok(Budget::Time(Duration::from_secs(30))));
        assert_eq!("5m".parse(), Ok(Budget::Time(Duration::from_mins(5))));
        assert_eq!("20ms".parse(), Ok(Budget::Time(Duration::from_millis(20))));
        for wrong in [
            "",
            "x",
            "0",
            "0s",
            "3d",
            "-1",
            "99999999999999999999",
            "5000000000000000000h",
        ] {
            assert!(wrong.parse::<Budget>().is_err(), "{wrong}");
        }
        for same in ["200", "30s", "1500ms"] {
            assert_eq!(same.parse::<Budget>().unwrap().to_string(), same);
        }
    }
}
