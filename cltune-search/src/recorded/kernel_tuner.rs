//! Kernel Tuner's cache files, as its version 1.5 writes and reads them: an object whose last
//! member, `cache`, has an entry for each configuration, on a line of its own.
//!
//! An entry's key is its values joined by commas, in Python's spelling. Times are in milliseconds.
//! What the format has no place for (platform, driver, names of dimensions, our words for failures)
//! is in members whose names begin with `cltune`, which its readers pass over.

use super::json::{Ordered, at_once, member, text};
use super::measurements::{About, Measurements, ParseError, Position, RecordedResult, is_time};
use super::words::{self, DETAIL, STATUS};
use crate::Status;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;

/// The time of configurations that failed, in files of the first versions.
const FAILED_MS: f64 = 1e20;

/// What the format has no place for.
#[derive(Default, Deserialize)]
#[serde(default)]
struct More {
    platform: Option<String>,
    driver: Option<String>,
    dimensions: Vec<String>,
}

/// What is read of a file.
#[derive(Deserialize)]
struct Cache<'a> {
    device_name: Option<String>,
    kernel_name: Option<String>,
    #[serde(default, deserialize_with = "member")]
    problem_size: Value,
    #[serde(deserialize_with = "member")]
    tune_params_keys: Vec<String>,
    #[serde(default, deserialize_with = "member")]
    cltune: More,
    /// Each is understood on its own: all at once would take many times the memory of the file.
    #[serde(borrow, rename = "cache")]
    entries: Ordered<&'a RawValue>,
}

/// Understands a file's text.
pub(super) fn read(path: &Path, json: &str) -> Result<Measurements, ParseError> {
    let cache: Cache<'_> = serde_json::from_str(json).map_err(|source| ParseError::Shape {
        path: path.to_owned(),
        format: "Kernel Tuner cache",
        source,
    })?;
    let mut measurements = Measurements {
        path: path.to_owned(),
        about: About {
            kernel: cache.kernel_name,
            platform: cache.cltune.platform,
            device: cache.device_name,
            driver: cache.cltune.driver,
            problem: problem(&cache.problem_size, &cache.cltune.dimensions),
        },
        parameters: Vec::new(),
        results: Vec::new(),
    };
    measurements.name_parameters(Position::File, cache.tune_params_keys)?;
    for (key, entry) in cache.entries.0 {
        let position = Position::Entry(key);
        let result = at_once(entry)
            .and_then(|entry| measured(&entry, &measurements.parameters, position.clone()));
        let result = result.map_err(|problem| measurements.error(position, problem))?;
        measurements.add(result)?;
    }
    Ok(measurements)
}

/// The sizes of a problem: of our files by their names, of others as `x`, `y`, `z`.
fn problem(size: &Value, dimensions: &[String]) -> Vec<(String, i64)> {
    let sizes: Vec<i64> = match size {
        Value::Array(sizes) => sizes.iter().filter_map(Value::as_i64).collect(),
        size => size.as_i64().into_iter().collect(),
    };
    let axes = ["x", "y", "z"].map(str::to_owned);
    let names = match dimensions {
        // Ours, of a kernel without dimensions.
        [] if sizes == [1] => &[],
        [] => &axes[..],
        dimensions => dimensions,
    };
    names.iter().cloned().zip(sizes).collect()
}

/// Understands an entry.
fn measured(
    entry: &Ordered<Value>,
    parameters: &[String],
    position: Position,
) -> Result<RecordedResult, String> {
    let members = entry.by_name();
    let values = parameters.iter().map(|name| {
        let value = members.get(name.as_str());
        let value = value.ok_or_else(|| format!("there is no value of `{name}`"))?;
        text(value).ok_or_else(|| format!("`{name}` is {value}, which is no single value"))
    });
    let values = values.collect::<Result<_, _>>()?;
    let member = |name: &str| members.get(name).copied();
    let number = |name: &str| member(name).and_then(Value::as_f64);
    let string = |name: &str| Some(member(name)?.as_str()?.to_owned());
    // Files of older versions have the word in the place of the objective, whatever that is.
    let mut words = entry.0.iter().filter_map(|(_, value)| value.as_str());
    let failure = words.find_map(words::from_kernel_tuner);
    let time_ms = number("time").filter(|time| is_time(*time) && *time < FAILED_MS);
    let failed = failure.is_some();
    let status = match (time_ms, failure) {
        (_, Some(failure)) => string(STATUS).map_or(failure, |name| Status::from(name.as_str())),
        (Some(_), None) => Status::Ok,
        (None, None) if member("time").is_none() => {
            return Err("there is neither a `time` nor an `__error__`".to_owned());
        }
        (None, None) => Status::Failed,
    };
    let samples = member("times").and_then(Value::as_array);
    Ok(RecordedResult {
        position,
        values,
        time_ms: time_ms.filter(|_| !failed),
        samples_ms: samples
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .collect(),
        build_ms: number("compile_time").filter(|time| is_time(*time)),
        status,
        detail: string(DETAIL),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{
"device_name": "GPU",
"kernel_name": "sum",
"problem_size": [64, 32],
"tune_params_keys": ["X", "KIND"],
"tune_params": {"X": [1, 2], "KIND": ["a", "b"]},
"cache": {
"#;

    fn cache(entries: &str) -> Result<Measurements, String> {
        let json = format!("{HEADER}{entries}}}}}");
        read(Path::new("a.json"), &json).map_err(|error| error.to_string())
    }

    #[test]
    fn entries_of_old_and_new_versions_are_understood() {
        let file = cache(
            r#""1,a": {"X": 1, "KIND": "a", "time": 2.5, "times": [3, 2.5], "compile_time": 9.0},
               "2,a": {"X": 2, "KIND": "a", "__error__": "CompilationFailedConfig"},
               "1,b": {"X": 1, "KIND": "b", "time": "RuntimeFailedConfig"},
               "2,b": {"X": 2, "KIND": "b", "time": 1e20}"#,
        );
        let file = file.unwrap();
        assert_eq!(file.about.kernel.as_deref(), Some("sum"));
        assert_eq!(file.about.device.as_deref(), Some("GPU"));
        let sizes = [("x".to_owned(), 64), ("y".to_owned(), 32)];
        assert_eq!(file.about.problem, sizes);
        let results = file.results.iter();
        let found: Vec<_> = results
            .map(|of| (of.values.join(" "), of.time_ms, of.status.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("1 a".to_owned(), Some(2.5), "ok"),
                ("2 a".to_owned(), None, "build-failed"),
                ("1 b".to_owned(), None, "launch-failed"),
                ("2 b".to_owned(), None, "failed"),
            ]
        );
        assert_eq!(file.results[0].samples_ms, [3.0, 2.5]);
        assert_eq!(file.results[0].build_ms, Some(9.0));
    }

    #[test]
    fn mistakes_name_the_entry() {
        for (entry, says) in [
            (
                r#""1": {"X": 1, "time": 1}"#,
                "a.json: cache entry `1`: there is no value of `KIND`",
            ),
            (
                r#""1,a": {"X": [1], "KIND": "a"}"#,
                "`X` is [1], which is no single value",
            ),
            (
                r#""1,a": {"X": 1, "KIND": "a"}"#,
                "there is neither a `time` nor an `__error__`",
            ),
            (r#""1,a": 3"#, "a.json: cache entry `1,a`: invalid type"),
        ] {
            let error = cache(entry).unwrap_err();
            assert!(error.contains(says), "{entry}: {error}");
        }
    }
}
