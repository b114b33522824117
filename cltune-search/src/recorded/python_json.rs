//! What Python writes as JSON and is none: `NaN` and `Infinity`, and the cache files of sessions that
//! are still running or were killed, which lack their end.

/// The text as JSON: `NaN` and the infinities become `null`, and where the text ends among the
/// members of an object within an object, which is how a Kernel Tuner cache is written, the last
/// member that is not whole is left out and both objects are closed. Line numbers stay.
pub(super) fn to_json(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    let mut open: Vec<char> = Vec::new();
    // The length up to the last whole member of an object within an object.
    let mut whole = None;
    let mut in_string = false;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if in_string {
            json.push(character);
            match character {
                '\\' => json.extend(characters.next().map(|(_, escaped)| escaped)),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        if let Some(word) = constant(&text[at..]) {
            json.push_str("null");
            for _ in 1..word.len() {
                characters.next();
            }
            continue;
        }
        json.push(character);
        match character {
            '"' => in_string = true,
            '{' | '[' => {
                open.push(character);
                if open == ['{', '{'] {
                    whole = Some(json.len());
                }
            }
            '}' | ']' => {
                open.pop();
                whole = (open == ['{', '{']).then_some(json.len()).or(whole);
            }
            _ => {}
        }
    }
    let unfinished = in_string || !open.is_empty();
    if let Some(whole) = whole.filter(|_| unfinished && open.starts_with(&['{', '{'])) {
        json.truncate(whole);
        json.push_str("}}");
    }
    json
}

/// The constant of Python that a text begins with.
fn constant(text: &str) -> Option<&'static str> {
    ["NaN", "Infinity", "-Infinity"]
        .into_iter()
        .find(|word| text.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_lacks_become_null_outside_of_strings() {
        for (python, json) in [
            ("[NaN, -Infinity, Infinity, -1]", "[null, null, null, -1]"),
            (r#"{"NaN": "a \" NaN"}"#, r#"{"NaN": "a \" NaN"}"#),
            (r#"["\\", NaN]"#, r#"["\\", null]"#),
        ] {
            assert_eq!(to_json(python), json);
        }
    }

    #[test]
    fn a_cache_that_is_still_written_to_ends_after_its_last_whole_entry() {
        let whole = "{\"keys\": [\"X\"],\n\"cache\": {\n\"1\": {\"X\": 1},\n\"2\": {\"X\": 2}}\n}";
        let entries = |text: &str| -> usize {
            let json: serde_json::Value = serde_json::from_str(&to_json(text)).unwrap();
            json["cache"].as_object().unwrap().len()
        };
        assert_eq!(to_json(whole), whole);
        let header = whole.find("\n\"1\"").unwrap();
        let first = whole.find("\n\"2\"").unwrap();
        let last = whole.len() - "}\n}".len();
        for end in header..=last {
            let expected = match end {
                _ if end < first - 1 => 0,
                _ if end < last => 1,
                _ => 2,
            };
            assert_eq!(entries(&whole[..end]), expected, "{:?}", &whole[..end]);
        }
    }

    #[test]
    fn other_files_that_end_early_stay_what_they_are() {
        let torn = r#"{"results": [{"a": 1}, {"a": "#;
        assert_eq!(to_json(torn), torn);
    }
}
