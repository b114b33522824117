//! The outcome of measuring a configuration. Serializable, since it comes from another process.

use super::energy::Energy;
use super::kinds::InputKind;
use super::place::{Fields, Place, fields, lanes};
use cltune_core::model::ElementType;
use cltune_search::Status;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The outcome of measuring a configuration.
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
    /// Nothing is known of it: what the tuner compares with was found changed, and another
    /// configuration may have done that. To be measured again in a new process.
    Unjudged {
        /// The change that was found.
        reason: String,
    },
    /// A part of its work-groups showed that it is far slower than the best, so all of it was not
    /// run.
    TooSlow {
        /// The least time that one launch takes, microseconds.
        at_least_us: f64,
        /// The best time, which it was compared with, microseconds.
        best_us: f64,
    },
    /// It does not do its work where its outputs hold the right results already, so its times say
    /// nothing of a program that computes something new.
    SkipsWork(SkipsWork),
}

/// The median times of a kernel that skips work that is done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkipsWork {
    /// A launch whose outputs hold nothing yet, microseconds.
    pub empty_us: f64,
    /// A launch whose outputs hold the right results, microseconds.
    pub done_us: f64,
}

impl fmt::Display for SkipsWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { empty_us, done_us } = self;
        write!(
            f,
            "it takes {empty_us:.1} us where its outputs hold nothing yet, and {done_us:.1} us where they hold \
             the right results: it looks first, and skips work that is done"
        )
    }
}

/// The times of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The median time of one launch, microseconds.
    pub time_us: f64,
    /// Every timed launch, microseconds, in order. One sample: it was clearly slower than the best
    /// and was not repeated.
    pub samples_us: Vec<f64>,
    /// The time that building took, seconds.
    pub build_seconds: f64,
    /// The parts of one call of a group of launches; empty for a single launch, and where the
    /// driver does not measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageTime>,
    /// The time that converting buffers to images took, microseconds: not a part of any launch, and
    /// needed again only when the buffers' data change. `None` where nothing is converted, and
    /// where the driver does not measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversion_us: Option<f64>,
    /// The energy of one launch, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Box<Energy>>,
}

/// The time of a part of a call: all launches of a kernel, or all of one kind of other commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageTime {
    /// The kernel's name, `clear` or `copy`.
    pub stage: String,
    /// The number of launches or other commands.
    pub launches: usize,
    /// Their time together on the device, microseconds.
    pub time_us: f64,
}

/// A wrong result: the first place where it shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrongResult {
    /// The argument's name.
    pub argument: String,
    /// The error.
    pub kind: WrongKind,
    /// The number of components of its elements.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub lanes: u8,
    /// The fields of its elements, where those are structs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Box<Fields>>,
    /// With which kind of inputs, where they are not just random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<InputKind>,
    /// Whether a configuration was compared with an earlier run of its own: the default, where no
    /// other reference is declared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_itself: bool,
}

impl WrongResult {
    /// Of random inputs, and compared with the results of another configuration or kernel.
    pub fn new(argument: impl Into<String>, element: ElementType, kind: WrongKind) -> Self {
        Self {
            argument: argument.into(),
            kind,
            lanes: lanes(element),
            fields: fields(element),
            inputs: None,
            with_itself: false,
        }
    }
}

/// A component of an element that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Different {
    /// The index of the component.
    pub index: usize,
    /// The reference's value.
    pub expected: Box<str>,
    /// The configuration's value.
    pub found: Box<str>,
}

/// The kind of error in a result. Indices and numbers are of components, of which a scalar has
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WrongKind {
    /// An element differs from the reference's by more than the tolerance.
    Mismatch {
        /// The first such element.
        index: usize,
        /// The reference's value.
        expected: Box<str>,
        /// The configuration's value.
        found: Box<str>,
        /// By how much it may differ; 0 where nothing else will do.
        allowed: f64,
        /// The number of wrong elements.
        count: usize,
        /// The number of elements.
        len: usize,
        /// The element that differs most, where that is another.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most: Option<Box<Different>>,
    },
    /// The buffer as a whole differs from the reference's by more than the tolerance.
    Norm {
        /// The L2 norm of the differences, as a fraction of the reference's.
        error: Box<str>,
        /// The fraction that is allowed.
        bound: f64,
        /// The element that differs most.
        index: usize,
        /// The reference's value there.
        expected: Box<str>,
        /// The configuration's value there.
        found: Box<str>,
    },
    /// An element was never written that the reference writes.
    NeverWritten {
        /// The first such element.
        index: usize,
        /// The number of elements that were never written.
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
    /// Memory outside the buffer was read or written.
    AccessOutOfBounds {
        /// The distance of the byte that was accessed first, as above.
        offset: i64,
    },
    /// Memory far outside of all buffers was written: what the tuner keeps of this argument.
    FarOutOfBounds {
        /// The use of that memory.
        what: KeptFor,
        /// The draw that it is of.
        draw: usize,
    },
    /// A buffer that is declared read-only was written.
    ReadOnlyWritten {
        /// The first changed element.
        index: usize,
    },
}

/// The memory that the tuner keeps for an argument, beside the buffer that kernels get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeptFor {
    /// The contents of the buffer before a launch.
    Inputs,
    /// The reference's results.
    Results,
    /// The checksums of the memory around the buffer.
    Sums,
}

impl WrongKind {
    /// The same with other indices of components.
    pub(super) fn with_indices(mut self, change: impl Fn(usize) -> usize) -> Self {
        match &mut self {
            Self::Mismatch { index, most, .. } => {
                *index = change(*index);
                if let Some(most) = most {
                    most.index = change(most.index);
                }
            }
            Self::Norm { index, .. }
            | Self::NeverWritten { index, .. }
            | Self::ReadOnlyWritten { index } => *index = change(*index),
            Self::OutOfBounds { .. }
            | Self::AccessOutOfBounds { .. }
            | Self::FarOutOfBounds { .. } => {}
        }
        self
    }

    /// Whether memory outside of a buffer was accessed.
    pub fn is_out_of_bounds(&self) -> bool {
        matches!(
            self,
            Self::OutOfBounds { .. } | Self::AccessOutOfBounds { .. } | Self::FarOutOfBounds { .. }
        )
    }

    /// Whether what was accessed is nobody's, however far away.
    pub fn is_contained(&self) -> bool {
        matches!(self, Self::AccessOutOfBounds { .. })
    }
}

impl fmt::Display for WrongResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(inputs) = &self.inputs {
            write!(f, "with {inputs}: ")?;
        }
        self.place(f)?;
        let differs = !matches!(
            self.kind,
            WrongKind::OutOfBounds { .. } | WrongKind::ReadOnlyWritten { .. }
        );
        if self.with_itself && differs {
            f.write_str(
                "; the reference is an earlier run of this same configuration (no other is declared), on the \
                 same inputs: the kernel races, reads what nothing has written, or needs real data instead of \
                 random numbers (`fill`, `prepare`, or a capture)",
            )?;
        }
        Ok(())
    }
}

impl WrongResult {
    /// The error and its place.
    fn place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let argument = &self.argument;
        let place = |index: &usize| Place {
            argument,
            lanes: self.lanes,
            fields: self.fields.as_deref().cloned(),
            index: *index,
        };
        let elements = match self.lanes {
            _ if self.fields.is_some() => "values of this field",
            1 => "elements",
            _ => "components",
        };
        match &self.kind {
            WrongKind::Mismatch {
                index,
                expected,
                found,
                allowed,
                count,
                len,
                most,
            } => {
                write!(
                    f,
                    "{} is {found}, the reference has {expected}",
                    place(index)
                )?;
                if *allowed > 0.0 {
                    write!(f, " ± {allowed:.1e}")?;
                }
                write!(f, " ({count} of {len} {elements} differ")?;
                if let Some(most) = most {
                    let Different {
                        index,
                        expected,
                        found,
                    } = &**most;
                    write!(
                        f,
                        "; most {}, which is {found}, the reference has {expected}",
                        place(index)
                    )?;
                }
                f.write_str(")")
            }
            WrongKind::Norm {
                error,
                bound,
                index,
                expected,
                found,
            } => write!(
                f,
                "{argument} differs from the reference by {error} of its L2 norm, {bound:e} is \
                 allowed (most at {}, which is {found}, the reference has {expected})",
                place(index)
            ),
            WrongKind::NeverWritten { index, count, len } => write!(
                f,
                "{} is never written ({count} of {len} {elements} are not)",
                place(index)
            ),
            WrongKind::OutOfBounds { offset } => {
                write!(f, "{argument}: written {}", Beside(*offset))
            }
            WrongKind::AccessOutOfBounds { offset } => {
                write!(f, "{argument}: read or written {}", Beside(*offset))
            }
            WrongKind::FarOutOfBounds { what, draw } => {
                write!(f, "written far outside of all buffers: into ")?;
                match what {
                    KeptFor::Inputs => write!(f, "the inputs of `{argument}` for draw {draw}"),
                    KeptFor::Results => {
                        write!(f, "the reference's results of `{argument}` for draw {draw}")
                    }
                    KeptFor::Sums => write!(f, "the checksums of `{argument}`"),
                }?;
                write!(f, ", which the tuner keeps")
            }
            WrongKind::ReadOnlyWritten { index } => write!(
                f,
                "{} is written, but `{argument}` is declared read-only (`&Buffer`)",
                place(index)
            ),
        }
    }
}

fn one() -> u8 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_one(lanes: &u8) -> bool {
    *lanes == 1
}

/// A distance from a buffer, in words.
struct Beside(i64);

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            before if before < 0 => write!(f, "{} bytes before its begin", -before),
            0 => write!(f, "right after its end"),
            after => write!(f, "{after} bytes after its end"),
        }
    }
}

impl Outcome {
    /// The status under which it is kept and shown. What is unjudged even in a process of its own
    /// counts as a wrong result.
    pub fn status(&self) -> Status {
        match self {
            Self::Ok(_) => Status::Ok,
            Self::BuildFailed { .. } => Status::BuildFailed,
            Self::LaunchFailed { .. } => Status::LaunchFailed,
            Self::WrongResult(_) | Self::Unjudged { .. } => Status::WrongResult,
            Self::TooSlow { .. } => Status::TooSlow,
            Self::SkipsWork(_) => Status::SkipsWork,
        }
    }

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
    use cltune_core::model::ScalarType;

    const FLOAT: ElementType = ElementType::scalar(ScalarType::F32);

    #[test]
    fn a_wrong_result_says_where_by_how_much_and_how_often() {
        let most = Different {
            index: 9,
            expected: "1".into(),
            found: "8".into(),
        };
        let mismatch = |most| WrongKind::Mismatch {
            index: 5,
            expected: "2".into(),
            found: "2.5".into(),
            allowed: 0.000_123,
            count: 7,
            len: 64,
            most,
        };
        let mut wrong = WrongResult::new("y", FLOAT, mismatch(Some(Box::new(most))));
        let said = "y[5] is 2.5, the reference has 2 ± 1.2e-4 (7 of 64 elements differ; most y[9], which is \
                    8, the reference has 1)";
        assert_eq!(wrong.to_string(), said);
        wrong.inputs = Some(InputKind::Negative);
        assert_eq!(wrong.to_string(), format!("with negative inputs: {said}"));
        wrong.with_itself = true;
        assert!(wrong.to_string().contains("the kernel races"), "{wrong}");
        wrong.kind = WrongKind::OutOfBounds { offset: 4 };
        assert!(!wrong.to_string().contains("races"), "{wrong}");
        let alone = WrongResult::new("y", FLOAT, mismatch(None)).to_string();
        assert!(alone.ends_with("(7 of 64 elements differ)"), "{alone}");
    }

    #[test]
    fn outcomes_are_readable_as_json_and_come_back() {
        let measured = Outcome::Ok(Measurement {
            time_us: 1.5,
            samples_us: vec![1.5, 2.0],
            build_seconds: 0.25,
            stages: Vec::new(),
            conversion_us: None,
            energy: None,
        });
        let wrong = Outcome::WrongResult(WrongResult::new(
            "y",
            FLOAT,
            WrongKind::OutOfBounds { offset: -4 },
        ));
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
