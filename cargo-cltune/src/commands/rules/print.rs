//! The worth of choices, as tables for people and as messages for tools.

use super::measure::{Worth, fastest};
use crate::commands::MessageFormat;
use crate::commands::columns::{INDENT, columns};
use crate::json;
use crate::plan::Job;
use crate::session::WorkerError;
use crate::terminal::{printable_name, say};
use crate::units::time;
use cltune_core::select::Rule;
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};

/// Says on a terminal what is waited for.
pub(super) fn start(job: &Job) {
    if io::stderr().is_terminal() {
        let model = &job.declaration.model;
        let problem = model.describe_problem(&job.dims);
        say(format_args!("   Measuring {} for {problem}", model.name));
    }
}

/// Says why nothing was measured.
pub(super) fn not_measured(job: &Job, error: &WorkerError) {
    let model = &job.declaration.model;
    let (problem, device) = (
        model.describe_problem(&job.dims),
        printable_name(&job.device.name),
    );
    say(format_args!(
        "error: {} for {problem} on {device}: {error}",
        model.name
    ));
}

/// One kernel, device and problem.
pub(super) fn print(
    format: MessageFormat,
    job: &Job,
    worth: &[Worth],
    out: &mut dyn Write,
) -> io::Result<()> {
    let model = &job.declaration.model;
    let fastest = fastest(worth);
    if format == MessageFormat::Json {
        for one in worth {
            writeln!(out, "{}", message(job, one, fastest))?;
        }
        return out.flush();
    }
    let problem = model.describe_problem(&job.dims);
    let device = printable_name(&job.device.name);
    writeln!(out, "{} on {device}, {problem}", model.name)?;
    let header = [["time", "of the fastest"], ["values of", "values"]];
    let [numbers, text] = header.map(|of| of.map(str::to_owned));
    let mut rows = vec![(numbers, text)];
    for one in worth {
        let (took, part) = match (one.time_us, fastest) {
            (Some(us), Some(fastest)) => (time(us), format!("{:.0} %", 100.0 * fastest / us)),
            _ => ("fails".to_owned(), String::new()),
        };
        let values = job.configuration(&one.choice.codes);
        rows.push(([took, part], [one.choice.origin.clone(), values]));
    }
    columns(&rows, INDENT, out)?;
    writeln!(out)?;
    out.flush()
}

fn message(job: &Job, one: &Worth, fastest: Option<f64>) -> Value {
    let model = &job.declaration.model;
    let fraction = one.time_us.zip(fastest).map(|(us, fastest)| fastest / us);
    json!({
        "reason": "rule",
        "kernel": model.name,
        "device": job.device.name,
        "problem": json::problem(model, &job.dims),
        "rule": one.choice.rule.map(Rule::name),
        "tuned_on": one.choice.tuned_on,
        "values": json::values(model, &one.choice.codes),
        "time_us": one.time_us,
        "fraction": fraction,
    })
}
