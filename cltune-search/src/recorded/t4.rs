//! T4, the results format of the auto-tuning community, version 1.0.0.
//!
//! It has no place for what was measured where, so that is in `metadata`, which is free, and a file
//! is about one kernel, device and problem. Kernel Tuner writes `compilation` where the schema says
//! `compilation_time`; both are written.

use super::json::{Ordered, at_once, member, text};
use super::measurements::{About, Measurements, ParseError, Position, RecordedResult, is_time};
use super::words;
use crate::Status;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::path::Path;

/// What is minimised.
const OBJECTIVE: &str = "time";

/// What is read of a file.
#[derive(Deserialize)]
struct Document<'a> {
    /// Free, so nothing of it is relied on.
    #[serde(default, deserialize_with = "member")]
    metadata: Map<String, Value>,
    /// Each is understood on its own: all at once would take many times the memory of the file.
    #[serde(borrow)]
    results: Vec<&'a RawValue>,
}

/// What is read of a result.
#[derive(Deserialize)]
struct Result4 {
    configuration: Ordered<Value>,
    invalidity: String,
    #[serde(default)]
    times: Map<String, Value>,
    #[serde(default)]
    measurements: Vec<Measurement>,
    #[serde(default)]
    objectives: Vec<String>,
    #[serde(rename = "cltune_status")]
    status: Option<Status>,
    #[serde(rename = "cltune_detail")]
    detail: Option<String>,
}

#[derive(Deserialize)]
struct Measurement {
    name: String,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    unit: String,
}

/// Understands a file's text.
pub(super) fn read(path: &Path, json: &str) -> Result<Measurements, ParseError> {
    let document: Document<'_> =
        serde_json::from_str(json).map_err(|source| ParseError::Shape {
            path: path.to_owned(),
            format: "file of T4 results",
            source,
        })?;
    let mut measurements = Measurements {
        path: path.to_owned(),
        about: about(&document.metadata),
        parameters: Vec::new(),
        results: Vec::new(),
    };
    let unit = document.metadata.get("timeunit").and_then(Value::as_str);
    for (number, result) in document.results.into_iter().enumerate() {
        let position = Position::Result(number);
        let result: Result<Result4, String> = at_once(result);
        let result = result.map_err(|problem| measurements.error(position.clone(), problem))?;
        if number == 0 {
            let names = result.configuration.0.iter().map(|(name, _)| name.clone());
            measurements.name_parameters(position.clone(), names.collect())?;
        }
        let result = measured(result, &measurements.parameters, unit, position.clone());
        let result = result.map_err(|problem| measurements.error(position, problem))?;
        measurements.add(result)?;
    }
    Ok(measurements)
}

fn about(metadata: &Map<String, Value>) -> About {
    let string = |name: &str| Some(metadata.get(name)?.as_str()?.to_owned());
    let list = |name: &str| {
        metadata
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let names = list("dimensions").filter_map(|name| Some(name.as_str()?.to_owned()));
    About {
        kernel: string("kernel"),
        platform: string("platform"),
        device: string("device"),
        driver: string("driver"),
        problem: names
            .zip(list("problem").filter_map(Value::as_i64))
            .collect(),
    }
}

/// Understands a result.
fn measured(
    result: Result4,
    parameters: &[String],
    unit: Option<&str>,
    position: Position,
) -> Result<RecordedResult, String> {
    let members = result.configuration.by_name();
    let values = parameters.iter().map(|name| {
        let value = members.get(name.as_str());
        let value = value.ok_or_else(|| format!("its configuration has no `{name}`"))?;
        text(value).ok_or_else(|| format!("`{name}` is {value}, which is no single value"))
    });
    let values: Vec<String> = values.collect::<Result<_, _>>()?;
    if result.configuration.0.len() > parameters.len() {
        let known = parameters.join(", ");
        return Err(format!(
            "its configuration has more than {known}, the first one's parameters"
        ));
    }
    let invalidity = &result.invalidity;
    let status = words::from_t4(invalidity).ok_or_else(|| {
        format!(
            "its invalidity is `{invalidity}`, and not one of correct, compile, runtime, \
             correctness, timeout, constraints"
        )
    })?;
    let time_ms = (status == Status::Ok)
        .then(|| time_ms(&result, unit))
        .transpose()?;
    let number = |name: &str| result.times.get(name).and_then(Value::as_f64);
    let samples = result.times.get("runtimes").and_then(Value::as_array);
    Ok(RecordedResult {
        position,
        values,
        time_ms,
        samples_ms: samples
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .collect(),
        build_ms: number("compilation_time")
            .or_else(|| number("compilation"))
            .filter(|time| is_time(*time)),
        status: result.status.unwrap_or(status),
        detail: result.detail,
    })
}

/// The time of a configuration that works: the measurement `time`, or an objective that is one.
fn time_ms(result: &Result4, unit: Option<&str>) -> Result<f64, String> {
    let objectives = result.objectives.iter().map(String::as_str);
    for name in [OBJECTIVE].into_iter().chain(objectives) {
        let named = |of: &&Measurement| of.name == name;
        let Some(measurement) = result.measurements.iter().find(named) else {
            continue;
        };
        let unit = match &*measurement.unit {
            "" if name == OBJECTIVE => unit.unwrap_or("ms"),
            unit => unit,
        };
        let Some(factor) = in_milliseconds(unit) else {
            continue;
        };
        let value = &measurement.value;
        let time = value.as_f64().map(|value| value * factor);
        return time
            .filter(|time| is_time(*time))
            .ok_or_else(|| format!("its `{name}` is {value} {unit}, which is no time"));
    }
    Err("none of its measurements is a time, and only times can be compared".to_owned())
}

/// How many milliseconds a unit is; `None` where it is none of time.
fn in_milliseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "seconds" => 1e3,
        // The second spelling is that of published files.
        "ms" | "milliseconds" | "miliseconds" => 1.0,
        "us" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => 1e-3,
        "ns" | "nanoseconds" => 1e-6,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t4(results: &str) -> Result<Measurements, String> {
        let json =
            format!(r#"{{"metadata": {{"timeunit": "miliseconds"}}, "results": [{results}]}}"#);
        read(Path::new("a.json"), &json).map_err(|error| error.to_string())
    }

    #[test]
    fn times_are_milliseconds_whatever_their_unit() {
        let result = |measurements: &str, objectives: &str| {
            format!(
                r#"{{"configuration": {{"Y": 1, "X": true}}, "times": {{"runtimes": [1]}},
                    "invalidity": "correct", "correctness": 1,
                    "measurements": [{measurements}], "objectives": [{objectives}]}}"#
            )
        };
        for (measurements, objectives) in [
            (
                r#"{"name": "time", "value": 2.0, "unit": "ms"}"#,
                r#""time""#,
            ),
            (r#"{"name": "time", "value": 2.0, "unit": ""}"#, r#""time""#),
            (r#"{"name": "time", "value": 0.002, "unit": "s"}"#, ""),
            (
                r#"{"name": "energy", "value": 1, "unit": "J"}, {"name": "t", "value": 2000, "unit": "us"}"#,
                r#""energy", "t""#,
            ),
        ] {
            let file = t4(&result(measurements, objectives)).unwrap();
            assert_eq!(file.parameters, ["Y", "X"]);
            assert_eq!(file.results[0].values, ["1", "true"]);
            assert_eq!(file.results[0].time_ms, Some(2.0), "{measurements}");
        }
        for (measurements, says) in [
            ("", "results[0]: none of its measurements is a time"),
            (
                r#"{"name": "time", "value": "fast"}"#,
                "its `time` is \"fast\" miliseconds",
            ),
            (
                r#"{"name": "GFLOP/s", "value": 3, "unit": "GFLOP/s"}"#,
                "only times",
            ),
        ] {
            let error = t4(&result(measurements, r#""GFLOP/s""#)).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn mistakes_name_the_result() {
        let failed = |configuration: &str, invalidity: &str| {
            format!(r#"{{"configuration": {configuration}, "invalidity": "{invalidity}"}}"#)
        };
        let first = failed(r#"{"X": 1}"#, "timeout");
        for (second, says) in [
            (
                failed("{}", "compile"),
                "a.json: results[1]: its configuration has no `X`",
            ),
            (
                failed(r#"{"X": 1, "Y": 1}"#, "compile"),
                "has more than X, the first one's",
            ),
            (
                failed(r#"{"X": null}"#, "compile"),
                "`X` is null, which is no single value",
            ),
            (
                failed(r#"{"X": 1}"#, "broken"),
                "its invalidity is `broken`, and not one of correct",
            ),
        ] {
            let error = t4(&format!("{first}, {second}")).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        let statuses = t4(&first).unwrap().results.remove(0).status;
        assert_eq!(statuses, Status::TimedOut);
    }
}
