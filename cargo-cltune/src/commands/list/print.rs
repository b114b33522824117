//! The list as text and as JSON.

use super::counts::{Count, Explained};
use crate::commands::columns::columns;
use crate::json;
use cltune_core::declaration::Declaration;
use cltune_core::model::Rule;
use cltune_core::parameter::Parameter;
use serde_json::{Value, json};
use std::io::Write;

/// The list for people.
pub(super) fn text(
    declaration: &Declaration,
    state: &str,
    counts: &[Count],
    stdout: &mut dyn Write,
) -> std::io::Result<()> {
    let model = &declaration.model;
    writeln!(
        stdout,
        "{} ({}), lockfile: {state}",
        model.name, declaration.source_file
    )?;
    for parameter in model.parameters.iter() {
        writeln!(stdout, "   {} = {}", parameter.name, values(parameter))?;
    }
    for count in counts {
        let problem = model.describe_sizes(&count.dims);
        let separator = if problem.is_empty() { "" } else { ": " };
        let place = format!("{}{separator}{problem}", count.device);
        match &count.valid {
            Ok(valid) => writeln!(
                stdout,
                "   {place}: {valid} of {} configurations are valid",
                count.cartesian
            )?,
            Err(error) => writeln!(
                stdout,
                "   {place}: {} configurations; the valid ones take too long to count: {error}",
                count.cartesian
            )?,
        }
        explanation(&count.rules, stdout)?;
    }
    writeln!(stdout)
}

/// The rules in order, with what each removes.
fn explanation(rules: &[Explained], stdout: &mut dyn Write) -> std::io::Result<()> {
    if rules.is_empty() {
        return Ok(());
    }
    let header = ["", "rule", "", "removes alone", "left after it"];
    let mut table = vec![header.map(str::to_owned)];
    for Explained { rule, effect } in rules {
        let count = |count: Option<u128>| count.map_or("?".to_owned(), |count| count.to_string());
        let rule = match rule {
            Rule::ComputeUnits => format!("{rule}, only with --fill-device"),
            _ => rule.to_string(),
        };
        table.push([
            "   ".to_owned(),
            rule,
            effect.label.to_string(),
            count(effect.removed),
            count(effect.left),
        ]);
    }
    columns(&table, stdout)
}

/// The first values of a parameter, and how many there are where that is many.
fn values(parameter: &Parameter) -> String {
    const SHOWN: usize = 12;
    let domain = &parameter.domain;
    let shown: Vec<String> = domain
        .codes()
        .take(SHOWN)
        .filter_map(|code| domain.value(code))
        .map(|value| value.to_string())
        .collect();
    let more = match domain.len() {
        len if len > SHOWN => format!(", … ({len} values)"),
        _ => String::new(),
    };
    format!("{}{more}", shown.join(", "))
}

/// The list for tools.
pub(super) fn json(declaration: &Declaration, state: &str, counts: &[Count]) -> Value {
    let model = &declaration.model;
    let spaces: Vec<Value> = counts
        .iter()
        .map(|count| {
            let mut space = json!({
                "device": count.device,
                "problem": json::problem(model, &count.dims),
                "cartesian": json::count(count.cartesian),
                "valid": count.valid.as_ref().ok().map(|valid| json::count(*valid)),
            });
            if !count.rules.is_empty() {
                space["rules"] = count.rules.iter().map(rule).collect();
            }
            space
        })
        .collect();
    let parameters: Vec<Value> = model
        .parameters
        .iter()
        .map(|parameter| json!({ "name": parameter.name, "values": parameter.domain.len() }))
        .collect();
    json!({
        "name": model.name,
        "package": declaration.package,
        "source_file": declaration.source_file,
        "fingerprint": model.fingerprint,
        "lockfile": state,
        "parameters": parameters,
        "dimensions": model.dimensions,
        "spaces": spaces,
    })
}

fn rule(explained: &Explained) -> Value {
    let Explained { rule, effect } = explained;
    json!({
        "rule": rule.to_string(),
        "constraint": effect.label,
        "removed": effect.removed.map(json::count),
        "left": effect.left.map(json::count),
        "always": *rule != Rule::ComputeUnits,
    })
}
