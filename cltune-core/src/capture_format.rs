//! The format of a capture: the launches that a program recorded in the folder of `CLTUNE_CAPTURE`.
//!
//! `cltune-runtime` writes it, and `cargo cltune` reads it. Every process writes a file of its own,
//! whose name is `capture-TIME-PROCESS.jsonl`. Its lines are JSON objects: first a header with the
//! version, then a line for each tunable, device and problem. A line has the members `kernel`,
//! `fingerprint`, `platform`, `device`, `vendor`, `problem` (sizes by name), `data` where arguments
//! are kept (`folder`, and `arguments`, each with its `name` and a `value` or a `file`), `launches`
//! and `seconds`. The last two have a fixed length, since a launch overwrites them. A last line
//! without its end was being written when the process ended.

/// The version that is written, and the only one that is read.
pub const VERSION: u64 = 1;

/// How the names of files begin.
const PREFIX: &str = "capture-";
/// How they end.
const ENDING: &str = ".jsonl";

/// The first line of a file.
pub fn header() -> String {
    format!("{{\"cltune_capture\":{VERSION}}}\n")
}

/// The beginning of the names of a process's file and of its data folders.
pub fn stem(nanoseconds: u128, process: u32) -> String {
    format!("{PREFIX}{nanoseconds}-{process}")
}

/// The name of the file.
pub fn file_name(stem: &str) -> String {
    format!("{stem}{ENDING}")
}

/// Whether a file of this name is a part of a capture.
pub fn is_file_name(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(ENDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recognised_by_its_name() {
        let name = file_name(&stem(7, 1));
        assert_eq!(name, "capture-7-1.jsonl");
        assert!(is_file_name(&name));
        assert!(!is_file_name("capture-7-1-0") && !is_file_name("other.jsonl"));
        assert_eq!(header(), "{\"cltune_capture\":1}\n");
    }
}
