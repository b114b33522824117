//! The words for failures in each format.
//!
//! Other formats have fewer words than the journal, so what they have none for is written as the
//! nearest, and the journal's own word stands beside it.

/// The member with the journal's word.
pub const STATUS: &str = "cltune_status";
/// The member with why a configuration failed.
pub const DETAIL: &str = "cltune_detail";
/// What the journal calls a configuration that works.
pub const OK: &str = "ok";
/// What it calls one whose results are not the reference's.
pub const WRONG: &str = "wrong-result";
/// A configuration that breaks a constraint: other tuners record those, and our spaces have none.
const INVALID: &str = "invalid";

/// Kernel Tuner's word (`__error__`) for a status of the journal.
pub fn to_kernel_tuner(status: &str) -> &'static str {
    match status {
        "build-failed" => "CompilationFailedConfig",
        INVALID => "InvalidConfig",
        _ => "RuntimeFailedConfig",
    }
}

/// The journal's word for one of Kernel Tuner; `None` for what is none.
pub fn from_kernel_tuner(word: &str) -> Option<&'static str> {
    Some(match word {
        "CompilationFailedConfig" => "build-failed",
        "RuntimeFailedConfig" | "ErrorConfig" => "launch-failed",
        "InvalidConfig" => INVALID,
        _ => return None,
    })
}

/// The `invalidity` of T4 for a status of the journal.
pub fn to_t4(status: &str) -> &'static str {
    match status {
        OK => "correct",
        "build-failed" => "compile",
        WRONG | "skips-work" => "correctness",
        "timed-out" | "too-slow" => "timeout",
        INVALID => "constraints",
        _ => "runtime",
    }
}

/// The journal's word for an `invalidity` of T4; `None` for what is none.
pub fn from_t4(invalidity: &str) -> Option<&'static str> {
    Some(match invalidity {
        "correct" => OK,
        "compile" => "build-failed",
        "runtime" => "launch-failed",
        "correctness" => WRONG,
        "timeout" => "timed-out",
        "constraints" => INVALID,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_format_has_come_back() {
        for status in ["build-failed", "launch-failed", INVALID] {
            assert_eq!(from_kernel_tuner(to_kernel_tuner(status)), Some(status));
        }
        for status in [
            OK,
            "build-failed",
            "launch-failed",
            WRONG,
            "timed-out",
            INVALID,
        ] {
            assert_eq!(from_t4(to_t4(status)), Some(status));
        }
        assert_eq!(
            from_kernel_tuner(to_kernel_tuner("crashed")),
            Some("launch-failed")
        );
        assert_eq!(from_t4(to_t4("crashed")), Some("launch-failed"));
    }
}
