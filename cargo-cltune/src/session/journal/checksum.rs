//! A checksum at the end of each line, by which a line that was changed is told from one that was not.

use serde::Serialize;
use std::fmt::Write as _;

/// Before the checksum of a line, in place of its closing brace.
const BEFORE: &str = r#","crc32":""#;
/// After it.
const AFTER: &str = r#""}"#;
/// The checksum's hexadecimal digits.
const DIGITS: usize = 8;

/// An object as a line: its last field is the CRC-32 of all that is before that field. The newline
/// is there.
pub(super) fn seal(object: &impl Serialize) -> serde_json::Result<String> {
    let mut line = serde_json::to_string(object)?;
    debug_assert!(line.ends_with('}'), "{line}");
    line.pop();
    let checksum = crc32fast::hash(line.as_bytes());
    // Writing to a String cannot fail.
    let _ = writeln!(line, "{BEFORE}{checksum:08x}{AFTER}");
    Ok(line)
}

/// Whether a line, without its newline, is as it was written. One without a checksum was written by
/// another tool, and passes.
pub(super) fn is_whole(line: &[u8]) -> bool {
    let split = line
        .len()
        .checked_sub(BEFORE.len() + DIGITS + AFTER.len())
        .map(|at| line.split_at(at));
    let Some((content, field)) = split.filter(|(_, field)| field.starts_with(BEFORE.as_bytes()))
    else {
        return true;
    };
    let digits = field[BEFORE.len()..].get(..DIGITS);
    let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
    let stated = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    stated == Some(crc32fast::hash(content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_changed_byte_is_noticed() {
        let line = seal(&json!({ "values": [64, true], "time_us": 1.25 })).unwrap();
        let line = line.trim_end().as_bytes();
        assert!(is_whole(line));
        serde_json::from_slice::<serde_json::Value>(line).unwrap();
        let field = BEFORE.len() + DIGITS + AFTER.len();
        for at in 0..line.len() - field {
            let mut changed = line.to_vec();
            changed[at] ^= 1;
            assert!(!is_whole(&changed), "{at}");
        }
    }

    #[test]
    fn a_line_of_another_tool_passes() {
        assert!(is_whole(br#"{"values":[64],"time_us":1}"#) && is_whole(b""));
    }
}
