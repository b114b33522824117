//! Device quarantine: a device is given up after repeated failures.

use super::evaluation::Evaluation;
use cltune_runtime::tuning::Outcome;

/// After so many lost workers in a row, the device is checked with a configuration that has worked.
const LOST: usize = 5;
/// The same after so many failed launches. Configurations that need more than the device has come
/// in rows.
const FAILED: usize = 20;
/// After so many failed launches the device is given up where no configuration has ever worked,
/// with which it could be checked.
const NEVER: usize = 100;

/// Failures in a row that may be attributed to the device or its driver. A configuration that does
/// not build or is wrong says nothing about the device.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    lost: usize,
    failed: usize,
    last: String,
}

/// The device is given up.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{count} configurations in a row failed to run, and the best configuration so far fails now, too, or \
     none has ever worked; the last failure: {last}. The device is given up; once it works again, \
     `--resume` continues this search"
)]
pub(crate) struct DeviceGivenUp {
    count: usize,
    last: String,
}

impl Quarantine {
    /// Takes a result in.
    pub(super) fn note(&mut self, measured: &Evaluation) {
        match measured {
            Evaluation::TimedOut(reason)
            | Evaluation::Crashed(reason)
            | Evaluation::Killed(reason) => {
                self.lost += 1;
                self.failed += 1;
                self.last.clone_from(reason);
            }
            Evaluation::Answered(Outcome::LaunchFailed { error }) => {
                self.lost = 0;
                self.failed += 1;
                self.last.clone_from(error);
            }
            Evaluation::Unsound(_) | Evaluation::Interrupted(_) | Evaluation::Abandoned => {}
            Evaluation::Answered(_) => self.reset(),
        }
    }

    /// Something works.
    pub(super) fn reset(&mut self) {
        self.lost = 0;
        self.failed = 0;
    }

    /// Whether it is time to measure something that is known to work.
    pub(super) fn is_suspicious(&self) -> bool {
        self.lost >= LOST || self.failed >= FAILED
    }

    /// Whether it is over, where nothing is known to work.
    pub(super) fn is_hopeless(&self) -> bool {
        self.lost >= LOST || self.failed >= NEVER
    }

    /// The device is given up.
    pub(super) fn given_up(&self) -> DeviceGivenUp {
        DeviceGivenUp {
            count: self.failed,
            last: self.last.lines().next().unwrap_or_default().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crash() -> Evaluation {
        Evaluation::Crashed("signal: 11".into())
    }

    fn refused() -> Evaluation {
        Evaluation::Answered(Outcome::LaunchFailed {
            error: "CL_OUT_OF_RESOURCES\nmore".into(),
        })
    }

    fn broken() -> Evaluation {
        Evaluation::Answered(Outcome::BuildFailed { log: String::new() })
    }

    fn after(count: usize, failure: fn() -> Evaluation) -> Quarantine {
        let mut quarantine = Quarantine::default();
        for _ in 0..count {
            quarantine.note(&failure());
        }
        quarantine
    }

    #[test]
    fn crashes_in_a_row_are_suspicious_and_single_ones_are_not() {
        assert!(!after(LOST - 1, crash).is_suspicious());
        let quarantine = after(LOST, crash);
        assert!(quarantine.is_suspicious() && quarantine.is_hopeless());
        assert!(
            quarantine
                .given_up()
                .to_string()
                .contains("5 configurations")
        );
        let mut quarantine = Quarantine::default();
        for _ in 0..20 {
            quarantine.note(&crash());
            quarantine.note(&broken());
        }
        assert!(!quarantine.is_suspicious());
    }

    #[test]
    fn failed_launches_are_given_more_time() {
        assert!(!after(FAILED - 1, refused).is_suspicious());
        assert!(after(FAILED, refused).is_suspicious());
        assert!(!after(NEVER - 1, refused).is_hopeless());
        let quarantine = after(NEVER, refused);
        assert!(quarantine.is_hopeless());
        let text = quarantine.given_up().to_string();
        assert!(
            text.contains("CL_OUT_OF_RESOURCES") && !text.contains("more,"),
            "{text}"
        );
    }
}
