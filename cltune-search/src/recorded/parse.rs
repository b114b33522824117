//! Understanding a file's text, whatever its format: what it is shows in its content.

use super::measurements::{Measurements, Position};
use super::{csv, kernel_tuner, python_json, t4};
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, IgnoredAny};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// A part of a file that is understood as a whole, such as an entry of a cache, has no more bytes: as
/// values, text takes twenty times its size.
const MOST_AT_ONCE: usize = 16 << 20;

/// Why the text of a file cannot be understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Something in it is wrong.
    #[error("{}{position}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        position: Position,
        /// What is wrong.
        problem: String,
    },
    /// The text ends early, or is no JSON, though it begins like it.
    #[error("{}: this is no whole JSON: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// It is JSON, and not of the format that its members are those of.
    #[error("{}: not a {format} as expected: {source}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Which format it seems to be.
        format: &'static str,
        /// What is missing or of another type.
        source: serde_json::Error,
    },
    /// It is JSON of no format that is known.
    #[error(
        "{}: neither a Kernel Tuner cache, which has a member `cache`, nor T4 results, which have a \
         member `results`, nor CSV with a column `time_ms`",
        path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
    },
}

/// The members that tell formats apart.
#[derive(Deserialize)]
struct Members {
    cache: Option<IgnoredAny>,
    results: Option<IgnoredAny>,
}

/// Understands the text of a file: a Kernel Tuner cache, T4 results, or CSV, whichever it is. The path is
/// only for messages and for [`Measurements::name`]; nothing is read.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn parse(path: &Path, text: &str) -> Result<Measurements, ParseError> {
    if !text.trim_start().starts_with('{') {
        return csv::read(path, text);
    }
    let json = python_json::to_json(text);
    let members: Members = serde_json::from_str(&json).map_err(|source| ParseError::Json {
        path: path.to_owned(),
        source,
    })?;
    match members {
        Members { cache: Some(_), .. } => kernel_tuner::read(path, &json),
        Members {
            results: Some(_), ..
        } => t4::read(path, &json),
        Members { .. } => Err(ParseError::Unknown {
            path: path.to_owned(),
        }),
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

/// A time that a configuration can have taken.
pub(super) fn is_time(time: f64) -> bool {
    time.is_finite() && time > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_is_shows_in_its_content() {
        let parameters = |text: &str| {
            let file = parse(Path::new("a.json"), text);
            file.map(|file| file.parameters)
                .map_err(|of| of.to_string())
        };
        for text in [
            "X,time_ms\n1,2\n",
            r#"{"tune_params_keys": ["X"], "cache": {}}"#,
            r#"{"tune_params_keys": ["X"], "cache": {"#,
            r#" {"results": [{"configuration": {"X": 1}, "invalidity": "compile"}]}"#,
        ] {
            assert_eq!(parameters(text), Ok(vec!["X".to_owned()]), "{text}");
        }
        for (text, says) in [
            ("{}", "neither a Kernel Tuner cache"),
            (
                "{\n\"results\": [,",
                "a.json: this is no whole JSON: expected value at line 2",
            ),
            (r#"{"results": [{"a": 1}"#, "no whole JSON: EOF"),
            (
                "{\n\"cache\": {}\n}",
                "not a Kernel Tuner cache as expected: missing field `tune_params_keys`",
            ),
            (
                r#"{"results": 3}"#,
                "not a file of T4 results as expected: invalid type",
            ),
        ] {
            let error = parameters(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
