//! Whether a failure is the configuration's, or may be the worker's: of its age, or of the device.

use super::Measured;
use cltune_runtime::tuning::Outcome;

/// Codes that say nothing about the configuration: something was used up, or the device is gone.
const SIGNS: [&str; 5] = [
    "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    "CL_OUT_OF_HOST_MEMORY",
    "CL_OUT_OF_RESOURCES",
    "CL_DEVICE_NOT_AVAILABLE",
    "CL_DEVICE_NOT_FOUND",
];

/// Whether only a new worker can tell what is to blame. Drivers written in C++ end the process where
/// memory is used up.
pub(super) fn may_be_the_workers(measured: &Measured) -> bool {
    let text = match measured {
        Measured::Outcome(Outcome::LaunchFailed { error }) => error,
        // The first line is the code; the compiler's log may say anything.
        Measured::Outcome(Outcome::BuildFailed { log }) => log.lines().next().unwrap_or_default(),
        Measured::Crashed(_)
        | Measured::Killed(_)
        | Measured::Outcome(Outcome::Unjudged { .. }) => return true,
        _ => return false,
    };
    SIGNS.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(log: &str) -> Measured {
        Measured::Outcome(Outcome::BuildFailed { log: log.into() })
    }

    #[test]
    fn sources_are_to_blame_for_what_compilers_say_of_them() {
        let error = build("CL_BUILD_PROGRAM_FAILURE (-11)\nerror: no CL_OUT_OF_RESOURCES here");
        assert!(!may_be_the_workers(&error));
        assert!(!may_be_the_workers(&Measured::TimedOut("late".into())));
    }

    #[test]
    fn workers_may_be_to_blame_for_what_ends_or_refuses_them() {
        assert!(may_be_the_workers(&Measured::Crashed("signal: 9".into())));
        let reason = String::new();
        let unjudged = Measured::Outcome(Outcome::Unjudged { reason });
        assert!(may_be_the_workers(&unjudged));
        assert!(may_be_the_workers(&build("CL_DEVICE_NOT_AVAILABLE (-2)\n")));
        let error = "clCreateBuffer failed: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)".into();
        let launch = Measured::Outcome(Outcome::LaunchFailed { error });
        assert!(may_be_the_workers(&launch));
    }
}
