//! The list as text and as JSON.

use super::counts::{Count, Explained};
use crate::commands::columns::columns;
use crate::json;
use cltune_core::device::DeviceField;
use cltune_core::measure::Measure;
use cltune_core::model::ConstraintOrigin;
use cltune_core::parameter::{Domain, Parameter, Scale};
use cltune_formats::declaration::Declaration;
use cltune_search::space::Effect;
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
        "{} ({}), lockfile: {state}{}",
        model.name,
        declaration.source_file,
        match declaration.measure {
            Measure::WARM => String::new(),
            measure => format!(", measured with {measure}"),
        }
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
        if !count.not_known.is_empty() {
            let limits = limits(&count.not_known);
            writeln!(
                stdout,
                "      not known, so they rule nothing out: {limits}"
            )?;
        }
        if !count.values_not_known.is_empty() {
            let limits = limits(&count.values_not_known);
            writeln!(
                stdout,
                "      not known, so values of parameters that need them are left out: {limits}"
            )?;
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
    let header = [["removes alone", "left after it"], ["rule", "constraint"]];
    let [numbers, text] = header.map(|of| of.map(str::to_owned));
    let mut table = vec![(numbers, text)];
    for Explained {
        rule,
        constraint,
        effect,
    } in rules
    {
        let count = |of: fn(&Effect) -> Option<u128>| match effect {
            Ok(effect) => of(effect).map_or("?".to_owned(), |count| count.to_string()),
            Err(_) => "not known".to_owned(),
        };
        let rule = match rule {
            ConstraintOrigin::ComputeUnits => format!("{rule}, only with --fill-device:"),
            _ => format!("{rule}:"),
        };
        let counts = [count(|effect| effect.removed), count(|effect| effect.left)];
        table.push((counts, [rule, constraint.to_string()]));
    }
    columns(&table, 6, stdout)
}

/// The first values of a parameter, and how many there are where that is many.
fn values(parameter: &Parameter) -> String {
    const SHOWN: usize = 12;
    let domain = &parameter.domain;
    if let Domain::Reals(range) = domain {
        return format!(
            "all numbers from {range} (counted as {} values)",
            range.len()
        );
    }
    let shown: Vec<String> = match domain {
        Domain::PerDevice(formulas) => {
            let formulas = formulas.iter().take(SHOWN);
            formulas.map(|formula| formula.text.to_string()).collect()
        }
        _ => domain
            .codes()
            .take(SHOWN)
            .map(|code| domain.show(code))
            .collect(),
    };
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
            if !count.not_known.is_empty() {
                space["not_known"] = names(&count.not_known).collect();
            }
            if !count.values_not_known.is_empty() {
                space["values_not_known"] = names(&count.values_not_known).collect();
            }
            if !count.rules.is_empty() {
                space["rules"] = count.rules.iter().map(rule).collect();
            }
            space
        })
        .collect();
    let parameters: Vec<Value> = model.parameters.iter().map(values_json).collect();
    json!({
        "name": model.name,
        "package": declaration.package,
        "source_file": declaration.source_file,
        "fingerprint": model.fingerprint,
        "lockfile": state,
        "measure": declaration.measure.caches.word(),
        "objective": declaration.measure.objective.word(),
        "parameters": parameters,
        "dimensions": model.dimensions,
        "spaces": spaces,
    })
}

fn values_json(parameter: &Parameter) -> Value {
    let domain = &parameter.domain;
    let mut values = json!({ "name": parameter.name, "values": domain.len() });
    if let Domain::Reals(range) = domain {
        values["range"] = json!([range.first.get(), range.last.get()]);
        values["scale"] = match range.scale {
            Scale::Linear => "linear",
            Scale::Logarithmic => "logarithmic",
        }
        .into();
    }
    values
}

fn rule(explained: &Explained) -> Value {
    let Explained {
        rule,
        constraint,
        effect,
    } = explained;
    let effect = effect.as_ref();
    let mut rule = json!({
        "rule": rule.to_string(),
        "constraint": constraint,
        "removed": effect.ok().and_then(|effect| effect.removed).map(json::count),
        "left": effect.ok().and_then(|effect| effect.left).map(json::count),
        "always": *rule != ConstraintOrigin::ComputeUnits,
    });
    if let Err(limits) = effect {
        rule["not_known"] = names(limits).collect();
    }
    rule
}

fn names(limits: &[DeviceField]) -> impl Iterator<Item = &'static str> {
    limits.iter().map(|limit| limit.name())
}

/// `device.fp16, device.is_gpu`
fn limits(limits: &[DeviceField]) -> String {
    let names = names(limits).map(|name| format!("device.{name}"));
    names.collect::<Vec<_>>().join(", ")
}
