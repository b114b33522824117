//! Kernel Tuner's cache files, as its version 1.5 writes and reads them: an object whose last member,
//! `cache`, has an entry for each configuration, on a line of its own.
//!
//! An entry's key is its values joined by commas, in Python's spelling. Times are in milliseconds.
//! What the format has no place for (platform, driver, names of dimensions, our words for failures) is
//! in members whose names begin with `cltune`, which its readers pass over.

use super::failure::{self, DETAIL, STATUS};
use super::found::{Found, milliseconds, total};
use super::measurements::{About, Measured, Measurements, Position};
use super::ordered::Ordered;
use super::read::{ReadError, at_once, is_time, member, text};
use crate::json;
use crate::session::Recorded;
use cltune_core::model::Model;
use cltune_core::parameter::Domain;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The time of configurations that failed, in files of the first versions.
const FAILED_MS: f64 = 1e20;
/// The values of a parameter are all listed up to this many; of more, only those that occur.
const LISTED: usize = 10_000;

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

/// The file's text.
pub(super) fn write(found: &Found<'_>) -> String {
    let model = found.model;
    let results = found.results();
    let names = model.parameters.iter().map(|parameter| &*parameter.name);
    let domains = model.parameters.iter().enumerate();
    let domains = domains.map(|(position, parameter)| {
        let values = domain(&parameter.domain, position, &results);
        (parameter.name.to_string(), values.into())
    });
    let size = match found.dims {
        // Kernel Tuner has no kernel without a size.
        [] => vec![1],
        dims => dims.to_vec(),
    };
    let more = json!({
        "platform": found.on.platform,
        "driver": found.driver(),
        "dimensions": model.dimensions,
    });
    let header = [
        ("device_name", json!(found.on.device).to_string()),
        ("kernel_name", json!(model.name).to_string()),
        ("problem_size", json!(size).to_string()),
        (
            "tune_params_keys",
            json!(names.collect::<Vec<_>>()).to_string(),
        ),
        // Kernel Tuner compares their order with that of the keys.
        ("tune_params", Ordered(domains.collect()).to_string()),
        // A text, and not the list that Kernel Tuner 1.5 writes: it takes both, and its dashboard
        // takes texts only.
        ("objective", json!("time").to_string()),
        ("cltune", more.to_string()),
    ];
    let header = header.map(|(name, value)| format!("\"{name}\": {value},\n"));
    let entries: Vec<String> = results.iter().map(|result| entry(model, result)).collect();
    // The end is how its readers see that the file is whole.
    let (header, entries) = (header.concat(), entries.join(",\n"));
    format!("{{\n{header}\"cache\": {{\n{entries}}}\n}}\n")
}

/// The values of a parameter.
fn domain(domain: &Domain, position: usize, results: &[&Recorded]) -> Vec<Value> {
    let codes: Vec<i64> = if domain.len() <= LISTED {
        domain.codes().collect()
    } else {
        let occurring = results.iter().map(|result| result.codes[position]);
        occurring.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let values = codes.into_iter().map(|code| json::value(domain, code));
    values.collect()
}

/// An entry with its key.
fn entry(model: &Model, result: &Recorded) -> String {
    let values = json::values(model, &result.codes);
    let key: Vec<String> = values.iter().map(python).collect();
    let names = model.parameters.iter().map(|of| of.name.to_string());
    let mut entry: Vec<(String, Value)> = names.zip(values).collect();
    let mut member = |name: &str, value: Value| entry.push((name.to_owned(), value));
    if let Some(time_us) = result.time_us {
        let times: Vec<f64> = result
            .samples_us
            .iter()
            .copied()
            .map(milliseconds)
            .collect();
        member("time", milliseconds(time_us).into());
        member("benchmark_time", total(&times).into());
        member("times", times.into());
    } else {
        let word = failure::to_kernel_tuner(&result.status);
        // In the place of the time too: the dashboard looks for failures nowhere else.
        member("time", word.into());
        member("__error__", word.into());
        member("benchmark_time", 0.0.into());
        member(STATUS, result.status.as_str().into());
        member(DETAIL, json!(result.detail));
    }
    let build_ms = result.build_seconds.map_or(0.0, |seconds| seconds * 1e3);
    member("compile_time", build_ms.into());
    // Its simulation mode and its T4 writer fail without.
    for name in ["verification_time", "strategy_time", "framework_time"] {
        member(name, 0.0.into());
    }
    format!("{}: {}", json!(key.join(",")), Ordered(entry))
}

/// A value as Python's `str` has it.
fn python(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(name) => name.clone(),
        other => other.to_string(),
    }
}

/// Understands a file's text.
pub(super) fn read(path: &Path, json: &str) -> Result<Measurements, ReadError> {
    let cache: Cache<'_> = serde_json::from_str(json).map_err(|source| ReadError::Shape {
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
) -> Result<Measured, String> {
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
    let failure = words.find_map(failure::from_kernel_tuner);
    let time_ms = number("time").filter(|time| is_time(*time) && *time < FAILED_MS);
    let status = match (time_ms, failure) {
        (_, Some(failure)) => string(STATUS).unwrap_or_else(|| failure.to_owned()),
        (Some(_), None) => failure::OK.to_owned(),
        (None, None) if member("time").is_none() => {
            return Err("there is neither a `time` nor an `__error__`".to_owned());
        }
        (None, None) => "failed".to_owned(),
    };
    let samples = member("times").and_then(Value::as_array);
    Ok(Measured {
        position,
        values,
        time_ms: time_ms.filter(|_| failure.is_none()),
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
            .map(|of| (of.values.join(" "), of.time_ms, &*of.status))
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
