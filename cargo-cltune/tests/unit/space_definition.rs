//! Unit tests of `commands::space::definition`.

use super::*;

fn message(parameters: &str, restrictions: &str) -> String {
    let text = format!(
        r#"{{"name": "s", "parameters": [{parameters}], "restrictions_c": [{restrictions}]}}"#
    );
    read(&text).map_or_else(|error| error.to_string(), |_| "no error".into())
}

#[test]
fn mistakes_say_where_they_are() {
    let a = r#"{"name": "A", "values": [1, 2]}"#;
    for (parameters, restrictions, part) in [
        (
            a,
            r#""A == 1", "A == B""#,
            "restriction 2, column 6: there is no parameter `B`",
        ),
        (
            r#"{"name": "A", "values": [1, 1]}"#,
            "",
            "`A`: the value 1 occurs twice",
        ),
        (&format!("{a}, {a}"), "", "`A`: this name occurs twice"),
        (r#"{"name": "A"}"#, "", "neither `values` nor"),
        (
            r#"{"name": "A", "values": [1], "range": [1, 2, 1]}"#,
            "",
            "both",
        ),
        (r#"{"name": "A", "range": [1, 2, 0]}"#, "", "must not be 0"),
        (
            r#"{"name": "A", "range": [0, 9223372036854775807, 1]}"#,
            "",
            "more than",
        ),
        (
            r#"{"name": "A", "values": [9223372036854775808]}"#,
            "",
            "line 1 column",
        ),
        (r#"{"name": "A", "values": [1.5]}"#, "", "line 1 column"),
        (r#"{"name": "A b", "values": [1]}"#, "", "letters"),
        (a, "", "no error"),
    ] {
        let message = message(parameters, restrictions);
        assert!(
            message.contains(part),
            "{parameters} {restrictions}: {message}"
        );
    }
    assert!(read("{").is_err());
    assert!(read(r#"{"name": "s"}"#).is_err());
    let python = read(r#"{"name": "s", "parameters": [], "restrictions": ["a"]}"#);
    assert!(matches!(python, Err(DefinitionError::OnlyPython)));
}

#[test]
fn ranges_include_their_last_value() {
    for (first, last, step, expected) in [
        (1, 4, 1, vec![1, 2, 3, 4]),
        (1, 4, 2, vec![1, 3]),
        (4, 1, -3, vec![4, 1]),
        (3, 3, 5, vec![3]),
        (3, 4, 5, vec![3]),
        (4, 3, 1, vec![]),
        (
            i64::MIN,
            i64::MAX,
            i64::MAX,
            vec![i64::MIN, -1, i64::MAX - 1],
        ),
    ] {
        assert_eq!(
            range(first, last, step),
            Ok(expected),
            "{first} {last} {step}"
        );
    }
}

#[test]
fn stated_counts_may_be_of_any_size() {
    let huge = "9".repeat(60);
    for (number, expected) in [
        ("0", Some(0)),
        ("null", None),
        ("100000000000000000000", Some(100_000_000_000_000_000_000)),
        (&huge, Some(u128::MAX)),
    ] {
        let text = format!(r#"{{"name": "s", "parameters": [], "cartesian_size": {number}}}"#);
        let stated = read(&text).map(|definition| definition.stated.cartesian);
        assert_eq!(stated.ok(), Some(expected), "{number}");
    }
    for number in ["-1", "1.5", "\"1\"", "[1]"] {
        let text = format!(r#"{{"name": "s", "parameters": [], "valid_count": {number}}}"#);
        let message = read(&text).map_or_else(|error| error.to_string(), |_| String::new());
        assert!(message.contains(&format!("found {number}")), "{message}");
    }
}
