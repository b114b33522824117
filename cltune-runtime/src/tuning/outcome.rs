//! What can become of a configuration. Serializable, since it comes from another process.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What became of measuring a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// It built, ran, was right, and was timed.
    Ok(Measurement),
    /// It did not build.
    BuildFailed {
        /// The driver's code and the compiler's log.
        log: String,
    },
    /// It could not be launched, or the launch failed on the device.
    LaunchFailed {
        /// The reason.
        error: String,
    },
    /// It ran and was wrong.
    WrongResult(WrongResult),
    /// A part of its work-groups showed that it is far slower than the best, so all of it was not run.
    TooSlow {
        /// What one launch takes at least, microseconds.
        at_least_us: f64,
        /// The best time, which it was compared with, microseconds.
        best_us: f64,
    },
}

/// The times of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The median time of one launch, microseconds.
    pub time_us: f64,
    /// Every timed launch, microseconds, in order. One sample: it was clearly slower than the best
    /// and was not repeated.
    pub samples_us: Vec<f64>,
    /// How long building took, seconds.
    pub build_seconds: f64,
}

/// A wrong result: the first place where it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrongResult {
    /// The argument's name.
    pub argument: String,
    /// What is wrong.
    pub kind: WrongKind,
}

/// What is wrong with a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WrongKind {
    /// An element differs from the reference's by more than the tolerance.
    Mismatch {
        /// The first such element.
        index: usize,
        /// What the reference computes.
        expected: String,
        /// What the configuration computes.
        found: String,
        /// How many elements are wrong.
        count: usize,
        /// The number of elements.
        len: usize,
    },
    /// The buffer as a whole differs from the reference's by more than the tolerance.
    Norm {
        /// The L2 norm of the differences, as a fraction of the reference's.
        error: String,
        /// The fraction that is allowed.
        bound: f64,
        /// The element that differs most.
        index: usize,
        /// What the reference computes there.
        expected: String,
        /// What the configuration computes there.
        found: String,
    },
    /// An element was never written that the reference writes.
    NeverWritten {
        /// The first such element.
        index: usize,
        /// How many elements were never written.
        count: usize,
        /// The number of elements.
        len: usize,
    },
    /// Memory outside the buffer was written.
    OutOfBounds {
        /// The nearest damaged byte's distance from the buffer: negative before its begin, at
        /// least 0 from its end on.
        offset: i64,
    },
    /// A buffer that is declared read-only was written.
    ReadOnlyWritten {
        /// The first changed element.
        index: usize,
    },
}

impl fmt::Display for WrongResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let argument = &self.argument;
        match &self.kind {
            WrongKind::Mismatch {
                index,
                expected,
                found,
                count,
                len,
            } => write!(
                f,
                "{argument}[{index}] is {found}, the reference has {expected} \
                 ({count} of {len} elements differ)"
            ),
            WrongKind::Norm {
                error,
                bound,
                index,
                expected,
                found,
            } => write!(
                f,
                "{argument} differs from the reference by {error} of its L2 norm, {bound:e} is \
                 allowed (most at {argument}[{index}], which is {found}, the reference has \
                 {expected})"
            ),
            WrongKind::NeverWritten { index, count, len } => write!(
                f,
                "{argument}[{index}] is never written ({count} of {len} elements are not)"
            ),
            WrongKind::OutOfBounds { offset } if *offset < 0 => {
                write!(f, "{argument}: written {} bytes before its begin", -offset)
            }
            WrongKind::OutOfBounds { offset: 0 } => {
                write!(f, "{argument}: written right after its end")
            }
            WrongKind::OutOfBounds { offset } => {
                write!(f, "{argument}: written {offset} bytes after its end")
            }
            WrongKind::ReadOnlyWritten { index } => write!(
                f,
                "{argument}[{index}] is written, but `{argument}` is declared read-only (`&Buffer`)"
            ),
        }
    }
}

impl Outcome {
    /// The median time in microseconds, for a configuration that is right.
    pub fn time_us(&self) -> Option<f64> {
        match self {
            Self::Ok(measurement) => Some(measurement.time_us),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_readable_as_json_and_come_back() {
        let measured = Outcome::Ok(Measurement {
            time_us: 1.5,
            samples_us: vec![1.5, 2.0],
            build_seconds: 0.25,
        });
        let wrong = Outcome::WrongResult(WrongResult {
            argument: "y".into(),
            kind: WrongKind::OutOfBounds { offset: -4 },
        });
        let cases = [
            (
                measured,
                r#"{"Ok":{"time_us":1.5,"samples_us":[1.5,2.0],"build_seconds":0.25}}"#,
            ),
            (
                Outcome::BuildFailed { log: "no".into() },
                r#"{"BuildFailed":{"log":"no"}}"#,
            ),
            (
                wrong,
                r#"{"WrongResult":{"argument":"y","kind":{"OutOfBounds":{"offset":-4}}}}"#,
            ),
        ];
        for (outcome, json) in cases {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), json);
            assert_eq!(serde_json::from_str::<Outcome>(json).unwrap(), outcome);
        }
    }
}
