//! The pieces of TOML that this crate writes: one text per value, so that equal data are equal
//! bytes.

use std::fmt::Write as _;

/// Appends a key: bare where TOML allows it, else quoted.
pub(crate) fn push_key(out: &mut String, key: &str) {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !key.is_empty() && key.bytes().all(bare) {
        out.push_str(key);
    } else {
        push_string(out, key);
    }
}

/// Appends a basic string on one line: what TOML forbids inside is escaped.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // TOML forbids the other control characters of ASCII. Those of Unicode and the line
            // separators are allowed, but would be invisible in a diff.
            other
                if other.is_control() || matches!(other, '\u{2028}' | '\u{2029}' | '\u{feff}') =>
            {
                push_escape(out, other);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn push_escape(out: &mut String, character: char) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{:04X}", character as u32);
}

/// Appends a finite number as a TOML float: the shortest decimal text that reads back as the same
/// number, without an exponent, and with a decimal point so that it stays a float.
pub(crate) fn push_float(out: &mut String, number: f64) {
    let start = out.len();
    let _ = write!(out, "{number}");
    if !out[start..].contains('.') {
        out.push_str(".0");
    }
}

/// Appends `[a, b, c]`, each item written by `push`.
pub(crate) fn push_array<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut String, T),
) {
    out.push('[');
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        push(out, item);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(push: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        push(&mut out);
        out
    }

    #[test]
    fn keys_are_bare_where_toml_allows_it() {
        for (key, expected) in [
            ("n", "n"),
            ("a-b_1", "a-b_1"),
            ("", "\"\""),
            ("größe", "\"größe\""),
        ] {
            assert_eq!(written(|out| push_key(out, key)), expected);
        }
    }

    #[test]
    fn floats_keep_a_point_and_never_use_an_exponent() {
        for (number, expected) in [
            (7.42, "7.42"),
            (12.0, "12.0"),
            (0.0, "0.0"),
            (1e-7, "0.0000001"),
            (1e20, "100000000000000000000.0"),
        ] {
            assert_eq!(written(|out| push_float(out, number)), expected);
        }
    }

    proptest! {
        #[test]
        fn strings_read_back(text in any::<String>()) {
            let toml = written(|out| push_string(out, &text));
            prop_assert!(!toml.contains('\n'));
            let value = toml::de::DeValue::parse(&toml).unwrap();
            prop_assert_eq!(value.get_ref().as_str(), Some(text.as_str()));
        }

        #[test]
        fn floats_read_back(number in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            let toml = written(|out| push_float(out, number));
            let value = toml::de::DeValue::parse(&toml).unwrap();
            let read: f64 = value.get_ref().as_float().unwrap().as_str().parse().unwrap();
            prop_assert_eq!(read, number);
        }
    }
}
