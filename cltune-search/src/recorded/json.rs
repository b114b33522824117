//! JSON as files of other tuners have it: objects whose order matters, members that are kept as
//! text until they are needed, and the forms of Python that are not JSON (`NaN`, `Infinity`, files
//! without their end).

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

/// A part of a file that is understood as a whole, such as an entry of a cache, has no more bytes:
/// as values, text takes twenty times its size.
const MOST_AT_ONCE: usize = 16 << 20;

/// The members of an object, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ordered<V>(pub(super) Vec<(String, V)>);

impl<V> Ordered<V> {
    /// The members by their names; of several with one name the first.
    pub(super) fn by_name(&self) -> HashMap<&str, &V> {
        let mut members = HashMap::with_capacity(self.0.len());
        for (name, value) in &self.0 {
            members.entry(name.as_str()).or_insert(value);
        }
        members
    }
}

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData))
    }
}

struct Members<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
    type Value = Ordered<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::with_capacity(map.size_hint().unwrap_or(0));
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Ordered(members))
    }
}

/// A part of a JSON text that is understood as a whole.
///
/// # Errors
/// It is too large, or something else.
pub(super) fn at_once<T: DeserializeOwned>(part: &RawValue) -> Result<T, String> {
    let length = part.get().len();
    if length > MOST_AT_ONCE {
        return Err(format!(
            "it has {length} bytes, more than the {MOST_AT_ONCE} that are read at once"
        ));
    }
    serde_json::from_str(part.get()).map_err(|error| {
        // Its place in the part would be taken for one in the file.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let text = error.to_string();
        text.strip_suffix(&place).unwrap_or(&text).to_owned()
    })
}

/// For a member of an object: a part that is understood as a whole.
pub(super) fn member<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let part = <&RawValue>::deserialize(deserializer)?;
    at_once(part).map_err(de::Error::custom)
}

/// A value of a parameter as text; `None` where it is no single value.
pub(super) fn text(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(_) | serde_json::Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The text as JSON: `NaN` and the infinities become `null`, and where the text ends among the
/// members of an object within an object, which is how a Kernel Tuner cache is written, the last
/// member that is not whole is left out and both objects are closed. Line numbers stay.
pub(super) fn from_python(text: &str) -> String {
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
            assert_eq!(from_python(python), json);
        }
    }

    #[test]
    fn a_cache_that_is_still_written_to_ends_after_its_last_whole_entry() {
        let whole = "{\"keys\": [\"X\"],\n\"cache\": {\n\"1\": {\"X\": 1},\n\"2\": {\"X\": 2}}\n}";
        let entries = |text: &str| -> usize {
            let json: serde_json::Value = serde_json::from_str(&from_python(text)).unwrap();
            json["cache"].as_object().unwrap().len()
        };
        assert_eq!(from_python(whole), whole);
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
        assert_eq!(from_python(torn), torn);
    }
}
