//! How long a search may take.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A number of configurations or a time, for each kernel, device and problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// So many configurations.
    Evaluations(u64),
    /// So long.
    Time(Duration),
}

impl Budget {
    /// The number of configurations, if that is what limits.
    pub(crate) fn evaluations(self) -> Option<u64> {
        match self {
            Self::Evaluations(count) => Some(count),
            Self::Time(_) => None,
        }
    }

    /// The time, if that is what limits.
    pub(crate) fn time(self) -> Option<Duration> {
        match self {
            Self::Evaluations(_) => None,
            Self::Time(time) => Some(time),
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hint = || {
            format!("`{text}` is no budget: write `200` for configurations, or `30s`, `5m`, `2h`")
        };
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u64 = digits.parse().map_err(|_| hint())?;
        let seconds = match &text[digits.len()..] {
            "" if number == 0 => return Err("a budget of nothing finds nothing".into()),
            "" => return Ok(Self::Evaluations(number)),
            "s" => Some(number),
            "m" => number.checked_mul(60),
            "h" => number.checked_mul(3600),
            _ => return Err(hint()),
        };
        match seconds {
            None => Err(hint()),
            Some(0) => Err("a budget of nothing finds nothing".into()),
            Some(seconds) => Ok(Self::Time(Duration::from_secs(seconds))),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evaluations(count) => write!(f, "{count}"),
            Self::Time(time) => write!(f, "{}s", time.as_secs()),
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
    }
}
