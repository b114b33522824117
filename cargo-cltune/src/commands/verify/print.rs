//! Results as a table for people and as messages for tools.

use super::attempt::{Attempt, Purpose, Verified};
use super::entries::Entries;
use super::plan::Plan;
use crate::commands::MessageFormat;
use crate::commands::columns::{INDENT, Row, columns};
use crate::json;
use crate::terminal::{printable_name, say};
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};

/// Prints what comes, or keeps it for the table.
pub(super) struct Printer<'a> {
    format: MessageFormat,
    out: &'a mut dyn Write,
    rows: Vec<Row<2, 4>>,
    /// The lines under the table.
    details: Vec<String>,
    right: usize,
    wrong: usize,
    not_run: usize,
    /// Whether something was compared with itself.
    own_reference: bool,
    /// Whether an uneven problem showed something.
    uneven_is_wrong: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(format: MessageFormat, out: &'a mut dyn Write) -> Self {
        Self {
            format,
            out,
            rows: Vec::new(),
            details: Vec::new(),
            right: 0,
            wrong: 0,
            not_run: 0,
            own_reference: false,
            uneven_is_wrong: false,
        }
    }

    /// The attempts, and the entries that are left out.
    pub(super) fn begin(&mut self, entries: &Entries, plan: &Plan) -> io::Result<()> {
        if self.format == MessageFormat::Json {
            self.message(&json!({
                "reason": "verification",
                "seed": plan.seed,
                "runs": plan.attempts.len(),
                "stale": entries.stale,
                "left_out": plan.left_out,
            }))?;
            return Ok(());
        }
        for kernel in &entries.stale {
            self.wrong += 1;
            writeln!(
                self.out,
                "stale: {kernel} has changed since it was tuned; run `cargo cltune --kernel {kernel}`"
            )?;
        }
        for left_out in &plan.left_out {
            writeln!(self.out, "not run: {left_out}")?;
        }
        writeln!(
            self.out,
            "inputs: seed {} (--seed {0} runs on the same)",
            plan.seed
        )?;
        self.out.flush()
    }

    /// Says on a terminal what is waited for.
    pub(super) fn start(&self, attempt: &Attempt) {
        if self.format == MessageFormat::Human && io::stderr().is_terminal() {
            let job = &attempt.job;
            let problem = job.declaration.model.describe_problem(&job.dims);
            say(format_args!(
                "   Verifying {} for {problem}",
                job.declaration.model.name
            ));
        }
    }

    /// One result.
    pub(super) fn result(&mut self, attempt: &Attempt, result: &Verified) -> io::Result<()> {
        if result.is_right() {
            self.right += 1;
        } else if result.is_not_run() || attempt.says_nothing(result) {
            self.not_run += 1;
        } else {
            self.wrong += 1;
        }
        if self.format == MessageFormat::Json {
            return self.message(&message(attempt, result));
        }
        let job = &attempt.job;
        let name = job.declaration.model.name.to_string();
        let dims = result.other_problem.as_ref().unwrap_or(&job.dims);
        let problem = job.declaration.model.describe_sizes(dims);
        let size = match attempt.purpose {
            Purpose::Own => "",
            Purpose::Larger => " (larger)",
            Purpose::Uneven => " (uneven)",
            Purpose::Captured => " (captured)",
        };
        let device = match &attempt.tuned_on {
            Some(tuned_on) => format!("{tuned_on}, simulated"),
            None => printable_name(&job.device.name).into_owned(),
        };
        let configuration = job.configuration(&attempt.codes);
        let values = match attempt.origin.selected() {
            None => configuration.clone(),
            Some(selected) => {
                let here = if attempt.origin.is_of_another() {
                    " here"
                } else {
                    ""
                };
                format!("{configuration} (not tuned{here}: {selected})")
            }
        };
        self.own_reference |= attempt.oclgrind.is_none() && attempt.is_own_reference();
        let mut details: Vec<String> = Vec::new();
        if let Some(failure) = &result.failure {
            details.push(failure.detail.clone());
        }
        details.extend(
            result
                .left_out
                .iter()
                .map(|kind| format!("not run with {kind}")),
        );
        details.extend(result.findings.iter().map(ToString::to_string));
        details.extend(result.note.map(str::to_owned));
        let is_wrong = !result.is_right() && !attempt.says_nothing(result);
        self.uneven_is_wrong |= attempt.purpose == Purpose::Uneven && is_wrong;
        let of_problem = if problem.is_empty() {
            String::new()
        } else {
            format!(" for {problem}")
        };
        for detail in details {
            let lines = detail.lines().take(12).collect::<Vec<_>>().join("\n      ");
            self.details.push(format!(
                "{name} on {device}{of_problem} ({configuration}): {lines}"
            ));
        }
        let draws = format!("{} of {}", result.draws, attempt.all_draws());
        self.rows.push((
            [result.status().to_string(), draws],
            [name, format!("{problem}{size}"), device, values],
        ));
        Ok(())
    }

    /// The table. `all` are the attempts that were to be made, where Ctrl-C ended them early.
    pub(super) fn end(&mut self, all: Option<usize>) -> io::Result<()> {
        if self.format == MessageFormat::Json {
            return Ok(());
        }
        let done = self.rows.len();
        if !self.rows.is_empty() {
            let numbers = ["result", "draws"].map(str::to_owned);
            let text = ["kernel", "problem", "device", "values"].map(str::to_owned);
            let mut table = vec![(numbers, text)];
            table.append(&mut self.rows);
            writeln!(self.out)?;
            columns(&table, INDENT, self.out)?;
        }
        for detail in &self.details {
            writeln!(self.out, "  {detail}")?;
        }
        if self.own_reference {
            writeln!(
                self.out,
                "\nthe default is its own reference, without `reference(…)`: of that only crashes, elements \
                 never written and writes out of bounds show here; more under --oclgrind"
            )?;
        }
        if self.uneven_is_wrong {
            writeln!(
                self.out,
                "\na launch with an uneven size gets these values, too; where a kernel is not meant for such sizes, \
                 a clause says so: `constraints(n % 4 == 0)`"
            )?;
        }
        write!(self.out, "\n{} right, {} not", self.right, self.wrong)?;
        if self.not_run > 0 {
            write!(self.out, ", {} not run", self.not_run)?;
        }
        if let Some(all) = all {
            write!(self.out, "; interrupted after {done} of {all} runs")?;
        }
        writeln!(self.out)
    }

    fn message(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value}")?;
        self.out.flush()
    }
}

fn message(attempt: &Attempt, result: &Verified) -> Value {
    let model = &attempt.job.declaration.model;
    let findings: Vec<Value> = result
        .findings
        .iter()
        .map(|finding| {
            let places: Vec<Value> = finding
                .places
                .iter()
                .map(|place| json!({ "file": place.file, "line": place.line }))
                .collect();
            json!({
                "what": finding.what,
                "kernel_function": finding.kernel,
                "places": places,
                "count": finding.count,
                "in_reference": finding.in_reference,
            })
        })
        .collect();
    let failure = result.failure.as_ref().map(|failure| &*failure.detail);
    let detail = failure.or(result.note);
    let here = || &attempt.job.device.name;
    let tuned_on = match attempt.origin.selected() {
        None => Some(attempt.tuned_on.as_ref().unwrap_or_else(here)),
        Some(_) => None,
    };
    json!({
        "reason": "verified",
        "kernel": model.name,
        "device": attempt.job.device.name,
        "tuned_on": tuned_on,
        "rule": attempt.origin.selected(),
        "problem": json::problem(
            model,
            result.other_problem.as_ref().unwrap_or(&attempt.job.dims),
        ),
        "larger": attempt.purpose == Purpose::Larger,
        "purpose": attempt.purpose.word(),
        "values": json::values(model, &attempt.codes),
        "status": result.status(),
        "draws": result.draws,
        "left_out": result.left_out,
        "detail": detail,
        "findings": findings,
    })
}
