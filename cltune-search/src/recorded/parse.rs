//! Understanding a file's text, whatever its format: what it is shows in its content.

use super::measurements::{Measurements, ParseError};
use super::{csv, json, kernel_tuner, t4};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::Path;

/// The members that tell formats apart.
#[derive(Deserialize)]
struct Members {
    cache: Option<IgnoredAny>,
    results: Option<IgnoredAny>,
}

/// Understands the text of a file: a Kernel Tuner cache, T4 results, or CSV, whichever it is. The
/// path is only for messages and for [`Measurements::name`]; nothing is read.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn parse(path: &Path, text: &str) -> Result<Measurements, ParseError> {
    if !text.trim_start().starts_with('{') {
        return csv::read(path, text);
    }
    let json = json::from_python(text);
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
