//! A writer of Kernel Tuner's cache files, as Kernel Tuner 1.5 reads them.
//! `cltune_search::recorded` reads them, and documents the format.
//!
//! What the format has no place for (platform, driver, names of dimensions, our words for failures)
//! is in members whose names begin with `cltune`, which its readers pass over.

use super::export::{Export, milliseconds, total};
use crate::json;
use crate::session::Recorded;
use cltune_core::model::Model;
use cltune_core::parameter::Domain;
use cltune_search::recorded::words::{self, DETAIL, STATUS};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;

/// The values of a parameter are all listed up to this many; of more, only those that occur.
const LISTED: usize = 10_000;

/// The file's text.
pub(super) fn write(export: &Export<'_>) -> String {
    let model = export.model;
    let results = export.results();
    let names = model.parameters.iter().map(|parameter| &*parameter.name);
    let domains = model.parameters.iter().enumerate();
    let domains = domains.map(|(position, parameter)| {
        let values = domain(&parameter.domain, position, &results);
        (parameter.name.to_string(), values.into())
    });
    let size = match export.dims {
        // Kernel Tuner has no kernel without a size.
        [] => vec![1],
        dims => dims.to_vec(),
    };
    let more = json!({
        "platform": export.on.platform,
        "driver": export.driver(),
        "dimensions": model.dimensions,
        "measure": export.measure.caches.word(),
        "objective": export.measure.objective.word(),
    });
    let header = [
        ("device_name", json!(export.on.device).to_string()),
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
    // Values that depend on the device are those that occur, too.
    let codes: Vec<i64> = if domain.len() <= LISTED && domain.limits().is_empty() {
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
        let word = words::to_kernel_tuner(&result.status);
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

/// The members of a JSON object, in the order in which they are written: parameters are declared in
/// an order.
struct Ordered(Vec<(String, Value)>);

impl fmt::Display for Ordered {
    /// As JSON, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, (name, value)) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{}: {value}", Value::from(name.as_str()))?;
        }
        f.write_str("}")
    }
}
