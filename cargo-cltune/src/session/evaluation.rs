//! The result of one evaluation, the end of its worker included, and failure attribution.

use crate::units::time;
use crate::worker::WorkerFailure;
use cltune_runtime::tuning::Outcome;
use cltune_search::Status;

/// What came of building, running, verifying and timing a configuration.
#[derive(Debug)]
pub(crate) enum Evaluation {
    /// The worker has answered.
    Answered(Outcome),
    /// It did not end in time.
    TimedOut(String),
    /// It ended its worker.
    Crashed(String),
    /// Another process killed the worker meanwhile.
    Killed(String),
    /// It is right and fast, and a simulator found that it does what it must not.
    Unsound(String),
    /// The session itself ended more than once while it was measured.
    Interrupted(String),
    /// Ctrl-C was pressed, and it did not end soon: nothing is known of it.
    Abandoned,
}

impl Evaluation {
    /// The median time, microseconds.
    pub(crate) fn time_us(&self) -> Option<f64> {
        match self {
            Self::Answered(outcome) => outcome.time_us(),
            Self::TimedOut(_)
            | Self::Crashed(_)
            | Self::Killed(_)
            | Self::Unsound(_)
            | Self::Interrupted(_)
            | Self::Abandoned => None,
        }
    }

    /// The status, and the reason of a failure; `None` where nothing is known.
    pub(crate) fn status(&self) -> Option<(Status, Option<String>)> {
        let (status, reason) = match self {
            Self::Answered(outcome) => return Some((outcome.status(), failure_reason(outcome))),
            Self::TimedOut(reason) => (Status::TimedOut, reason),
            Self::Crashed(reason) | Self::Killed(reason) => (Status::Crashed, reason),
            Self::Unsound(reason) => (Status::Unsound, reason),
            Self::Interrupted(reason) => (Status::Interrupted, reason),
            Self::Abandoned => return None,
        };
        Some((status, Some(reason.clone())))
    }

    /// Of a configuration whose worker did not answer.
    pub(super) fn of_lost_worker(failure: &WorkerFailure) -> Self {
        match failure {
            WorkerFailure::TimedOut { .. } => Self::TimedOut(failure.to_string()),
            WorkerFailure::Interrupted => Self::Abandoned,
            WorkerFailure::Killed(_) => Self::Killed(failure.to_string()),
            _ => Self::Crashed(failure.to_string()),
        }
    }

    /// Failure attribution: whether the worker or the device may be at fault instead of the
    /// configuration, which only a new worker can tell. Drivers written in C++ end the process when
    /// memory is used up.
    pub(super) fn may_be_worker_fault(&self) -> bool {
        /// Codes that say nothing about the configuration: a resource is used up, or the device is
        /// gone.
        const CODES: [&str; 5] = [
            "CL_MEM_OBJECT_ALLOCATION_FAILURE",
            "CL_OUT_OF_HOST_MEMORY",
            "CL_OUT_OF_RESOURCES",
            "CL_DEVICE_NOT_AVAILABLE",
            "CL_DEVICE_NOT_FOUND",
        ];
        let text = match self {
            Self::Answered(Outcome::LaunchFailed { error }) => error,
            // The first line is the code; the compiler's log may say anything.
            Self::Answered(Outcome::BuildFailed { log }) => log.lines().next().unwrap_or_default(),
            Self::Crashed(_) | Self::Killed(_) | Self::Answered(Outcome::Unjudged { .. }) => {
                return true;
            }
            _ => return false,
        };
        CODES.iter().any(|code| text.contains(code))
    }
}

/// The reason of a failure, for people.
pub(crate) fn failure_reason(outcome: &Outcome) -> Option<String> {
    Some(match outcome {
        Outcome::Ok(_) => return None,
        Outcome::BuildFailed { log } => log.clone(),
        Outcome::LaunchFailed { error } => error.clone(),
        Outcome::WrongResult(wrong) => wrong.to_string(),
        Outcome::Unjudged { reason } => reason.clone(),
        Outcome::TooSlow {
            at_least_us,
            best_us,
        } => format!(
            "a part of its work-groups shows that it takes {} or more; the best takes {}",
            time(*at_least_us),
            time(*best_us)
        ),
        Outcome::SkipsWork(skips) => skips.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(log: &str) -> Evaluation {
        Evaluation::Answered(Outcome::BuildFailed { log: log.into() })
    }

    #[test]
    fn what_a_compiler_says_of_a_source_is_the_configurations_fault() {
        let error = build("CL_BUILD_PROGRAM_FAILURE (-11)\nerror: no CL_OUT_OF_RESOURCES here");
        assert!(!error.may_be_worker_fault());
        assert!(!Evaluation::TimedOut("late".into()).may_be_worker_fault());
    }

    #[test]
    fn the_worker_may_be_at_fault_for_what_ends_or_refuses_it() {
        assert!(Evaluation::Crashed("signal: 9".into()).may_be_worker_fault());
        let reason = String::new();
        let unjudged = Evaluation::Answered(Outcome::Unjudged { reason });
        assert!(unjudged.may_be_worker_fault());
        assert!(build("CL_DEVICE_NOT_AVAILABLE (-2)\n").may_be_worker_fault());
        let error = "clCreateBuffer failed: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)".into();
        let launch = Evaluation::Answered(Outcome::LaunchFailed { error });
        assert!(launch.may_be_worker_fault());
    }
}
