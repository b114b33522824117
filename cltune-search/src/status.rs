//! The status of an evaluation: one list of names for workers, journals, messages, exports and
//! reports.

use std::cmp::Ordering;
use std::fmt;

/// What came of building, running, verifying and timing a configuration.
///
/// Its name stands in files and messages. Files of other tools, and of later releases, may have
/// further names, which are kept as they are. Ordered by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// It works, and has a time.
    Ok,
    /// It does not build.
    BuildFailed,
    /// It cannot be launched, or the launch fails on the device.
    LaunchFailed,
    /// Its results are not the reference's, or it writes what it must not write.
    WrongResult,
    /// It does not do its work where its outputs hold the right results already.
    SkipsWork,
    /// A part of its work-groups took longer than all of the best configuration, so not all of it
    /// was run.
    TooSlow,
    /// It did not end in time.
    TimedOut,
    /// It ended the process that ran it.
    Crashed,
    /// Its results are right, and a simulator found that it does what it must not.
    Unsound,
    /// Several sessions ended while it was measured.
    Interrupted,
    /// It was never run: what comes before that failed.
    #[default]
    NotRun,
    /// It breaks a constraint. Other tuners record such configurations; the spaces of this crate
    /// have none.
    Invalid,
    /// It failed, and the file does not say how.
    Failed,
    /// A name that this release does not have.
    Other(Box<str>),
}

impl Status {
    /// Each status that has a name of its own.
    pub const NAMED: [Self; 13] = [
        Self::Ok,
        Self::BuildFailed,
        Self::LaunchFailed,
        Self::WrongResult,
        Self::SkipsWork,
        Self::TooSlow,
        Self::TimedOut,
        Self::Crashed,
        Self::Unsound,
        Self::Interrupted,
        Self::NotRun,
        Self::Invalid,
        Self::Failed,
    ];

    /// The name in files and messages.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Ok => "ok",
            Self::BuildFailed => "build-failed",
            Self::LaunchFailed => "launch-failed",
            Self::WrongResult => "wrong-result",
            Self::SkipsWork => "skips-work",
            Self::TooSlow => "too-slow",
            Self::TimedOut => "timed-out",
            Self::Crashed => "crashed",
            Self::Unsound => "unsound",
            Self::Interrupted => "interrupted",
            Self::NotRun => "not-run",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for Status {
    fn from(name: &str) -> Self {
        let named = Self::NAMED.into_iter().find(|of| of.as_str() == name);
        named.unwrap_or_else(|| Self::Other(name.into()))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialOrd for Status {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Status {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

/// As its name.
#[cfg(feature = "recorded")]
impl serde::Serialize for Status {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "recorded")]
impl<'de> serde::Deserialize<'de> for Status {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(Self::from(name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_parsed_and_a_foreign_one_is_kept() {
        for status in Status::NAMED {
            assert_eq!(Status::from(status.as_str()), status);
        }
        let other = Status::from("timeout");
        assert_eq!(other, Status::Other("timeout".into()));
        assert_eq!(other.to_string(), "timeout");
    }

    #[test]
    fn statuses_are_ordered_by_name() {
        let mut sorted = Status::NAMED.map(|status| status.to_string());
        sorted.sort();
        let mut statuses = Status::NAMED;
        statuses.sort();
        assert_eq!(statuses.map(|status| status.to_string()), sorted);
    }
}
