//! When to give a device up: one that fails again and again may hardly do anything else.

use super::bench::Measured;
use cltune_runtime::tuning::Outcome;

/// After so many lost workers in a row it is time to ask whether the device still works.
const LOST: usize = 5;
/// And after so many failed launches. Configurations that need more than the device has come in rows.
const FAILED: usize = 20;
/// So many failed launches are the end where nothing has ever worked, which cannot be asked then.
const NEVER: usize = 100;

/// Failures in a row that may be the device's, or its driver's. A configuration that does not build or
/// is wrong says nothing about the device.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    lost: usize,
    failed: usize,
    last: String,
}

/// The device is given up.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{count} configurations in a row failed to run, and what had worked before fails now, too, or \
     nothing ever did; the last failure: {last}. The device is given up; once it works again, \
     `--resume` goes on from here"
)]
pub(crate) struct GivenUp {
    count: usize,
    last: String,
}

impl Trouble {
    /// Takes a result in.
    pub(super) fn note(&mut self, measured: &Measured) {
        match measured {
            Measured::TimedOut(reason) | Measured::Crashed(reason) | Measured::Killed(reason) => {
                self.lost += 1;
                self.failed += 1;
                self.last.clone_from(reason);
            }
            Measured::Outcome(Outcome::LaunchFailed { error }) => {
                self.lost = 0;
                self.failed += 1;
                self.last.clone_from(error);
            }
            Measured::Unsound(_) | Measured::Interrupted(_) | Measured::Abandoned => {}
            Measured::Outcome(_) => self.reset(),
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
    pub(super) fn given_up(&self) -> GivenUp {
        GivenUp {
            count: self.failed,
            last: self.last.lines().next().unwrap_or_default().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crash() -> Measured {
        Measured::Crashed("signal: 11".into())
    }

    fn refused() -> Measured {
        Measured::Outcome(Outcome::LaunchFailed {
            error: "CL_OUT_OF_RESOURCES\nmore".into(),
        })
    }

    fn broken() -> Measured {
        Measured::Outcome(Outcome::BuildFailed { log: String::new() })
    }

    fn after(count: usize, failure: fn() -> Measured) -> Trouble {
        let mut trouble = Trouble::default();
        for _ in 0..count {
            trouble.note(&failure());
        }
        trouble
    }

    #[test]
    fn crashes_in_a_row_are_suspicious_and_single_ones_are_not() {
        assert!(!after(LOST - 1, crash).is_suspicious());
        let trouble = after(LOST, crash);
        assert!(trouble.is_suspicious() && trouble.is_hopeless());
        assert!(trouble.given_up().to_string().contains("5 configurations"));
        let mut trouble = Trouble::default();
        for _ in 0..20 {
            trouble.note(&crash());
            trouble.note(&broken());
        }
        assert!(!trouble.is_suspicious());
    }

    #[test]
    fn failed_launches_are_given_more_time() {
        assert!(!after(FAILED - 1, refused).is_suspicious());
        assert!(after(FAILED, refused).is_suspicious());
        assert!(!after(NEVER - 1, refused).is_hopeless());
        let trouble = after(NEVER, refused);
        assert!(trouble.is_hopeless());
        let text = trouble.given_up().to_string();
        assert!(
            text.contains("CL_OUT_OF_RESOURCES") && !text.contains("more,"),
            "{text}"
        );
    }
}
