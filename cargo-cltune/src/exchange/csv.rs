//! Writing CSV, a row per configuration. `cltune_search::recorded` reads it, and documents the
//! format.

use super::export::{Export, milliseconds};
use cltune_search::recorded::{COMPILE_COLUMN, ERROR_COLUMN, TIME_COLUMN};

/// The file's text.
pub(super) fn write(export: &Export<'_>) -> String {
    let model = export.model;
    let names = model.parameters.iter().map(|parameter| &*parameter.name);
    let mut text = names
        .chain([TIME_COLUMN, COMPILE_COLUMN, ERROR_COLUMN])
        .collect::<Vec<_>>()
        .join(",");
    text.push('\n');
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for result in export.results() {
        let codes = result.codes.iter().enumerate();
        let mut fields: Vec<String> = codes
            .map(|(position, code)| model.describe_value(position, *code))
            .collect();
        fields.push(number(result.time_us.map(milliseconds)));
        fields.push(number(result.build_seconds.map(|seconds| seconds * 1e3)));
        fields.push(match result.time_us {
            Some(_) => String::new(),
            None => result.status.to_string(),
        });
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}
