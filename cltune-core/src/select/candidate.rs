//! One candidate of the selection rule.

use super::{TunedDevice, TunedResult};
use crate::Text;
use crate::model::{Rejection, assignments};
use std::borrow::Cow;
use std::fmt;

/// Which part of the selection rule a candidate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// It was tuned on this very device, and is compiled into the program.
    ExactDevice {
        /// Whether for this very problem; else for another, and this one is among the nearest.
        exact: bool,
    },
    /// It is in the user's own cache, from tuning on this machine.
    Cache {
        /// Whether for this very problem.
        exact: bool,
    },
    /// It was tuned on another device of the same type.
    SimilarDevice {
        /// Whether the device is of the same vendor.
        same_vendor: bool,
    },
    /// An expression of the same template was found to like it: the database of template defaults.
    Database {
        /// Whether on this very device; else on the most similar one that the database knows.
        this_device: bool,
    },
    /// It is the declared default.
    Default,
    /// It is the first valid configuration in declaration order.
    FirstValid,
}

impl Rule {
    /// Whether the configuration was tuned on this very device for this very problem.
    pub const fn is_for_this_problem(self) -> bool {
        matches!(
            self,
            Self::ExactDevice { exact: true } | Self::Cache { exact: true }
        )
    }

    /// Whether the configuration was tuned on this very device. Where it was not, tuning may find a
    /// better one.
    pub const fn is_for_this_device(self) -> bool {
        matches!(self, Self::ExactDevice { .. } | Self::Cache { .. })
    }

    /// Its name in messages for tools.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExactDevice { exact: true } => "this-problem",
            Self::ExactDevice { exact: false } => "other-problem",
            Self::Cache { exact: true } => "cache-this-problem",
            Self::Cache { exact: false } => "cache-other-problem",
            Self::SimilarDevice { .. } => "similar-device",
            Self::Database { this_device: true } => "database",
            Self::Database { this_device: false } => "database-similar-device",
            Self::Default => "default",
            Self::FirstValid => "first-valid",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ExactDevice { exact: true } => "tuned on this device for this problem",
            Self::ExactDevice { exact: false } => "tuned on this device for another problem",
            Self::Cache { exact: true } => "from this user's cache, for this problem",
            Self::Cache { exact: false } => "from this user's cache, for another problem",
            Self::SimilarDevice { same_vendor: true } => "tuned on a similar device",
            Self::SimilarDevice { same_vendor: false } => "tuned on a device of another vendor",
            Self::Database { this_device: true } => "from the database of template defaults",
            Self::Database { this_device: false } => {
                "from the database of template defaults, for a similar device"
            }
            Self::Default => "the declared default",
            Self::FirstValid => "the first valid configuration",
        })
    }
}

/// The dimensions of the results in the database of template defaults, as far as they are said.
const DATABASE_DIMENSIONS: [&str; 2] = ["elements", "vectors"];

/// A configuration that the selection rule considers.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<'a> {
    /// Where it comes from.
    pub rule: Rule,
    /// The codes of its values, in the order of the parameters.
    pub codes: Cow<'a, [i64]>,
    /// The device and the result it was taken from, for rules about tuned configurations.
    pub known: Option<(&'a TunedDevice, &'a TunedResult)>,
    /// The names of the problem dimensions.
    pub dimensions: &'a [Text],
    /// Whether it is valid on the device for the problem asked for, or why not.
    pub verdict: Result<(), Rejection>,
}

impl Candidate<'_> {
    /// The rule, and the device and problem it was tuned for.
    pub fn origin(&self) -> String {
        let mut text = self.rule.to_string();
        // Writing to a String cannot fail.
        let _ = self.write_known(&mut text);
        text
    }

    fn write_known(&self, f: &mut impl fmt::Write) -> fmt::Result {
        if let Some((device, result)) = self.known {
            if matches!(
                self.rule,
                Rule::SimilarDevice { .. } | Rule::Database { this_device: false }
            ) {
                write!(f, " ({})", device.name)?;
            }
            if matches!(self.rule, Rule::Database { .. }) {
                let sizes = DATABASE_DIMENSIONS.iter().zip(&*result.problem);
                write!(f, ": {}", assignments(sizes))?;
            } else if !result.problem.is_empty() {
                let sizes = self.dimensions.iter().zip(&*result.problem);
                write!(f, ": {}", assignments(sizes))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Candidate<'_> {
    /// The rule, the device and problem it was tuned for, and why it cannot be used, if so.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rule)?;
        self.write_known(f)?;
        match &self.verdict {
            Ok(()) => Ok(()),
            Err(rejection) => write!(f, "; not usable: {rejection}"),
        }
    }
}
