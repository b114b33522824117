//! A policy as text.

use super::{Budget, BudgetError, Overhead, Policy};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The text of no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The word before the colon is none of the policies.
    #[error(
        "`{0}` is no policy: write `baked`, `tune-once:5s`, `tune-once:50`, `online:10%`, \
         `online:30s` or `offline:FILE`"
    )]
    Unknown(String),
    /// The value after the colon is missing.
    #[error("`{policy}` needs more: write `{example}`")]
    Incomplete {
        /// The policy.
        policy: &'static str,
        /// The form that it may have.
        example: &'static str,
    },
    /// The budget cannot be read.
    #[error("`tune-once`: {0}")]
    Budget(#[from] BudgetError),
    /// The overhead cannot be read.
    #[error(
        "`online`: `{0}` is no overhead: write `10%` (more than 0, at most 1000) or a time like `30s`"
    )]
    Overhead(String),
    /// The text after the overhead is unknown.
    #[error(
        "`online`: `{0}` is unknown; after the overhead there may be `,unchecked`, and after a percentage \
         `,window=10s`"
    )]
    Option(String),
    /// The program cannot do what the policy says.
    #[error(
        "`{policy}` needs cltune's feature `{feature}`, which this program was built without: \
         build it with `--features cltune/{feature}`, or unset the variable"
    )]
    NotCompiledIn {
        /// The policy.
        policy: String,
        /// The feature.
        feature: &'static str,
    },
    /// The lockfile cannot be read.
    #[error(
        "`offline`: the lockfile {} cannot be read: {reason}; name one that `cargo cltune` wrote, or unset \
         the variable",
        file.display()
    )]
    Lockfile {
        /// The lockfile.
        file: PathBuf,
        /// The error in it.
        reason: String,
    },
}

/// The features that a program was built with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    tuning: bool,
    offline: bool,
}

impl Features {
    /// Those of this program.
    pub(super) const COMPILED_IN: Self = Self {
        tuning: cfg!(feature = "tuning"),
        offline: cfg!(feature = "offline"),
    };
}

impl Policy {
    /// The policy of a text, if a program with these features can follow it.
    pub(super) fn supported(text: &str, features: Features) -> Result<Self, PolicyError> {
        let policy: Self = text.parse()?;
        let feature = match policy {
            Self::TuneOnce { .. } | Self::Online { .. } if !features.tuning => "tuning",
            Self::Offline(_) if !features.offline => "offline",
            _ => return Ok(policy),
        };
        Err(PolicyError::NotCompiledIn {
            policy: policy.to_string(),
            feature,
        })
    }
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let text = text.trim();
        let (word, rest) = match text.split_once(':') {
            Some((word, rest)) => (word.trim_end(), rest.trim()),
            None => (text, ""),
        };
        let incomplete = |policy, example| PolicyError::Incomplete { policy, example };
        match word {
            "baked" if rest.is_empty() => Ok(Self::Baked),
            "tune-once" if rest.is_empty() => Err(incomplete("tune-once", "tune-once:5s")),
            "tune-once" => Ok(Self::TuneOnce {
                budget: rest.parse()?,
            }),
            "online" if rest.is_empty() => Err(incomplete("online", "online:10%")),
            "online" => online(rest),
            "offline" if rest.is_empty() => Err(incomplete("offline", "offline:tuned.lock")),
            "offline" => Ok(Self::Offline(PathBuf::from(rest))),
            _ => Err(PolicyError::Unknown(text.to_owned())),
        }
    }
}

fn online(text: &str) -> Result<Policy, PolicyError> {
    let mut parts = text.split(',').map(str::trim);
    let mut overhead = overhead(parts.next().unwrap_or_default())?;
    let mut check = true;
    for option in parts {
        let unknown = || PolicyError::Option(option.to_owned());
        match (option.split_once('='), &mut overhead) {
            (None, _) if option == "unchecked" => check = false,
            (Some(("window", time)), Overhead::Fraction { window, .. }) => {
                let Ok(Budget::Time(time)) = time.parse() else {
                    return Err(unknown());
                };
                *window = time;
            }
            _ => return Err(unknown()),
        }
    }
    Ok(Policy::Online { overhead, check })
}

fn overhead(text: &str) -> Result<Overhead, PolicyError> {
    let unreadable = || PolicyError::Overhead(text.to_owned());
    let Some(percent) = text.strip_suffix('%') else {
        return match text.parse() {
            Ok(Budget::Time(time)) => Ok(Overhead::Time(time)),
            _ => Err(unreadable()),
        };
    };
    let percent: f64 = percent.trim_end().parse().map_err(|_| unreadable())?;
    if percent > 0.0 && percent <= 1000.0 {
        Ok(Overhead::fraction(percent / 100.0))
    } else {
        Err(unreadable())
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Baked => f.write_str("baked"),
            Self::TuneOnce { budget } => write!(f, "tune-once:{budget}"),
            Self::Online { overhead, check } => {
                let unchecked = if *check { "" } else { ",unchecked" };
                write!(f, "online:{overhead}{unchecked}")
            }
            Self::Offline(path) => write!(f, "offline:{}", path.display()),
        }
    }
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Rounded, so that 0.07 is 7 and not 7.000000000000001.
            Self::Fraction { fraction, window } => {
                write!(f, "{}%", (fraction * 1e8).round() / 1e6)?;
                if *window == Self::WINDOW {
                    return Ok(());
                }
                write!(f, ",window={}", Budget::Time(*window))
            }
            Self::Time(time) => Budget::Time(*time).fmt(f),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/policy_text.rs"]
mod tests;
