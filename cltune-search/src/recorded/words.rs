//! The words of other formats for a [`Status`].
//!
//! Other formats have fewer words. A status that a format has no word for is written as the nearest
//! one, and its own name stands beside it.

use crate::Status;

/// The member with the name of the status.
pub const STATUS: &str = "cltune_status";
/// The member with why a configuration failed.
pub const DETAIL: &str = "cltune_detail";

/// Kernel Tuner's word (`__error__`) for a status.
pub fn to_kernel_tuner(status: &Status) -> &'static str {
    match status {
        Status::BuildFailed => "CompilationFailedConfig",
        Status::Invalid => "InvalidConfig",
        _ => "RuntimeFailedConfig",
    }
}

/// The status for one of Kernel Tuner's words; `None` for what is none.
pub fn from_kernel_tuner(word: &str) -> Option<Status> {
    Some(match word {
        "CompilationFailedConfig" => Status::BuildFailed,
        "RuntimeFailedConfig" | "ErrorConfig" => Status::LaunchFailed,
        "InvalidConfig" => Status::Invalid,
        _ => return None,
    })
}

/// The `invalidity` of T4 for a status.
pub fn to_t4(status: &Status) -> &'static str {
    match status {
        Status::Ok => "correct",
        Status::BuildFailed => "compile",
        Status::WrongResult | Status::SkipsWork => "correctness",
        Status::TimedOut | Status::TooSlow => "timeout",
        Status::Invalid => "constraints",
        _ => "runtime",
    }
}

/// The status for an `invalidity` of T4; `None` for what is none.
pub fn from_t4(invalidity: &str) -> Option<Status> {
    Some(match invalidity {
        "correct" => Status::Ok,
        "compile" => Status::BuildFailed,
        "runtime" => Status::LaunchFailed,
        "correctness" => Status::WrongResult,
        "timeout" => Status::TimedOut,
        "constraints" => Status::Invalid,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_format_has_come_back() {
        for status in [Status::BuildFailed, Status::LaunchFailed, Status::Invalid] {
            assert_eq!(from_kernel_tuner(to_kernel_tuner(&status)), Some(status));
        }
        for status in [
            Status::Ok,
            Status::BuildFailed,
            Status::LaunchFailed,
            Status::WrongResult,
            Status::TimedOut,
            Status::Invalid,
        ] {
            assert_eq!(from_t4(to_t4(&status)), Some(status));
        }
        let crashed = Status::Crashed;
        let nearest = Some(Status::LaunchFailed);
        assert_eq!(from_kernel_tuner(to_kernel_tuner(&crashed)), nearest);
        assert_eq!(from_t4(to_t4(&crashed)), nearest);
    }
}
