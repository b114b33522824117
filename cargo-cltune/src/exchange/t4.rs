//! Writing T4, the results format of the auto-tuning community, version 1.0.0;
//! `cltune_search::recorded` reads it.
//!
//! It has no place for what was measured where, so that is in `metadata`, which is free, and a file
//! is about one kernel, device and problem. Kernel Tuner writes `compilation` where the schema says
//! `compilation_time`; both are written.

use super::export::{Export, milliseconds, total};
use crate::json;
use crate::session::Recorded;
use cltune_core::model::Model;
use cltune_search::Status;
use cltune_search::recorded::words::{self, DETAIL, STATUS};
use serde_json::{Map, Value, json};

/// The version of the schema.
const VERSION: &str = "1.0.0";
/// The objective that is minimised.
const OBJECTIVE: &str = "time";

/// The file's text.
pub(super) fn write(export: &Export<'_>) -> String {
    let model = export.model;
    let metadata = json!({
        "timeunit": "milliseconds",
        "kernel": model.name,
        "platform": export.on.platform,
        "device": export.on.device,
        "driver": export.driver(),
        "dimensions": model.dimensions,
        "problem": export.dims,
        "measure": export.measure.caches.word(),
        "objective": export.measure.objective.word(),
    });
    let results = export.results().into_iter();
    let results: Vec<String> = results.map(|of| result(model, of).to_string()).collect();
    format!(
        "{{\n\"schema_version\": \"{VERSION}\",\n\"metadata\": {metadata},\n\"results\": [\n{}\n]\n}}\n",
        results.join(",\n")
    )
}

fn result(model: &Model, result: &Recorded) -> Value {
    let names = model.parameters.iter().map(|of| of.name.to_string());
    let values = json::values(model, &result.codes);
    let configuration: Map<String, Value> = names.zip(values).collect();
    let runtimes: Vec<f64> = result
        .samples_us
        .iter()
        .copied()
        .map(milliseconds)
        .collect();
    let build_ms = result.build_seconds.map_or(0.0, |seconds| seconds * 1e3);
    let time = result.time_us.map(milliseconds);
    let measurements = time.map(|time| json!({"name": OBJECTIVE, "value": time, "unit": "ms"}));
    let mut object = json!({
        "configuration": configuration,
        "times": {
            "compilation_time": build_ms,
            "compilation": build_ms,
            "benchmark": total(&runtimes),
            "runtimes": runtimes,
            "framework": 0.0,
            "search_algorithm": 0.0,
            "validation": 0.0,
        },
        "invalidity": words::to_t4(&result.status),
        "correctness": i32::from(result.status != Status::WrongResult),
        "measurements": measurements.into_iter().collect::<Vec<_>>(),
        "objectives": [OBJECTIVE],
    });
    if result.time_us.is_none() {
        object[STATUS] = result.status.as_str().into();
        object[DETAIL] = json!(result.detail);
    }
    object
}
