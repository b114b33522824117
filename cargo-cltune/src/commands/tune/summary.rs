//! The table at the end of a session: the result and the failures of each search, by device.

use crate::commands::columns::{self, INDENT, Row};
use crate::interrupt::interrupted;
use crate::oclgrind::Verdict;
use crate::plan::Job;
use crate::session::{Choice, Cost, Finished};
use crate::terminal::printable_name;
use crate::units::{beside_default, energy, time};
use cltune_core::expr::{Env, Formula};
use cltune_core::measure::Caches;
use cltune_runtime::tuning::IdlePower;
use std::io::Write;
use std::path::Path;

/// Prints a table for each device.
pub(super) fn print(rows: &[(Job, Finished)], out: &mut dyn Write) -> std::io::Result<()> {
    let mut devices: Vec<usize> = rows.iter().map(|(job, _)| job.device.index).collect();
    devices.sort_unstable();
    devices.dedup();
    for device in devices {
        let of_device: Vec<_> = rows
            .iter()
            .filter(|(job, _)| job.device.index == device)
            .collect();
        let Some((first, _)) = of_device.first() else {
            continue;
        };
        let name = printable_name(&first.device.name);
        let platform = printable_name(&first.device.platform);
        writeln!(out, "\n{name} ({platform})")?;
        let width = columns::width();
        let numbers = ["time", "default", "speed-up", "measured", "failed"].map(str::to_owned);
        let text = ["kernel", "problem", "rate"].map(str::to_owned);
        let mut table = vec![(numbers, text)];
        table.extend(of_device.iter().map(|(job, finished)| row(job, finished)));
        let mut rows = columns::lines(&table, INDENT, width).into_iter();
        for line in rows.next().into_iter().flatten() {
            writeln!(out, "{line}")?;
        }
        for (lines, (job, finished)) in rows.zip(&of_device) {
            // On lines of their own, since a line has no room for all.
            let values = match &finished.choice {
                Some(choice) => job.configuration(&choice.codes),
                None => nothing().to_owned(),
            };
            let values = columns::wrapped(&values, 4, width);
            for line in lines.into_iter().chain(values) {
                writeln!(out, "{line}")?;
            }
            writeln!(out, "    {}", finished.spent)?;
        }
        for (job, finished) in &of_device {
            remarks(job, finished, out)?;
        }
    }
    Ok(())
}

/// Why a search found nothing.
fn nothing() -> &'static str {
    if interrupted() {
        "interrupted before a configuration was verified"
    } else {
        "every configuration failed"
    }
}

/// A choice that would be another one in fewer repetitions is certain enough to say nothing.
const FLIPS: f64 = 0.1;

/// Remarks on a search, beside its numbers.
fn remarks(job: &Job, finished: &Finished, out: &mut dyn Write) -> std::io::Result<()> {
    let subject = subject(job);
    if job.declaration.measure.caches == Caches::Cold && finished.choice.is_some() {
        writeln!(out, "  {subject}: times with cold caches")?;
    }
    if let (Some(choice), Some(idle)) = (&finished.choice, &finished.idle_power) {
        writeln!(out, "  {subject}: {}", of_energy(job, choice, idle))?;
    }
    if finished.stagnant {
        writeln!(
            out,
            "  {subject}: ended before the budget, since a tenth more evaluations are unlikely to improve the \
             result (--stop-when-stagnant)"
        )?;
    }
    if let Some(limitation) = &finished.limitation {
        writeln!(out, "  {subject}: {limitation}")?;
    }
    if let Some(error) = finished.held_out_error {
        writeln!(
            out,
            "  {subject}: mean relative error of predicted times, held out: {:.1} %",
            100.0 * error
        )?;
    }
    if let Some(conversion_us) = finished.conversion_us {
        let took = time(conversion_us);
        writeln!(
            out,
            "  {subject}: the buffers become images in {took}, which is not part of the time: a call does it \
             again when their data have changed"
        )?;
    }
    if let Some(startup) = &finished.startup {
        writeln!(out, "  {subject}: {startup}")?;
    }
    let repeatability = finished
        .choice
        .as_ref()
        .and_then(|choice| choice.repeatability);
    if let Some(of) = repeatability.filter(|of| of.flip_rate >= FLIPS) {
        let (flips, slower) = (100.0 * of.flip_rate, 100.0 * of.regret);
        writeln!(
            out,
            "  {subject}: the best are close: timed again, another one would be chosen in {flips:.0} % of the \
             cases; averaged over all cases, that would cost {slower:.2} %"
        )?;
    }
    let soundness = finished.soundness.as_ref();
    let soundness = soundness.filter(|_| finished.choice.is_some());
    if let Some(reason) = soundness.and_then(Verdict::reason) {
        let reason = reason.replace('\n', "\n    ");
        writeln!(out, "  {subject}: {reason}")?;
    }
    if let Some(steadiness) = finished.steadiness.filter(|of| !of.is_steady()) {
        let (fastest, slowest) = (time(steadiness.fastest_us), time(steadiness.slowest_us));
        let count = steadiness.count;
        writeln!(
            out,
            "  {subject}: the device was not steady: the same configuration took between {fastest} and \
             {slowest} ({count} times); tune again when nothing else uses it"
        )?;
    }
    for (status, (count, example)) in &finished.failures {
        let first = example.lines().take(4).collect::<Vec<_>>().join("\n      ");
        writeln!(out, "  {subject}: {count} {status}, the first: {first}")?;
    }
    Ok(())
}

/// The line about what a search found: `app::saxpy on some device for n = 1024: 1.23 ms, 2.00x
/// default`.
pub(super) fn found(job: &Job, finished: &Finished) -> String {
    let objective = job.declaration.measure.objective;
    let of = |choice: &Choice| {
        let default = choice.default.map(|default| default.figure(objective));
        beside_default(objective, choice.cost.figure(objective), default)
    };
    let found = finished.choice.as_ref().map(of);
    let found = found.unwrap_or_else(|| nothing().to_owned());
    format!("{}: {found}", subject(job))
}

/// The line about a search that could not be done.
pub(super) fn failed(job: &Job, reason: &str) -> String {
    format!("error: {}: {reason}", subject(job))
}

/// The line about a search that ended early, whose results are kept.
pub(super) fn stopped(job: &Job, reason: &str) -> String {
    format!(
        "warning: {}: the search ended early and what it found is kept: {reason}",
        subject(job)
    )
}

/// The line about a search whose result is not written.
pub(super) fn kept_entry(job: &Job) -> String {
    format!(
        "warning: {}: kept the faster lockfile entry; this search ended before re-measuring it",
        subject(job)
    )
}

/// The line about a lockfile's entry that fails, with nothing to take its place.
pub(super) fn entry_fails(job: &Job, lockfile: &Path) -> String {
    format!(
        "warning: {}: the entry in {} fails as well, and was kept, since no configuration was found to replace \
         it; remove it, so that programs use the default",
        subject(job),
        lockfile.display()
    )
}

/// `app::saxpy on some device for n = 1024`.
fn subject(job: &Job) -> String {
    let problem = job.problem();
    let of = if problem.is_empty() {
        String::new()
    } else {
        format!(" for {problem}")
    };
    let device = printable_name(&job.device.name);
    format!("{} on {device}{of}", job.declaration.model.name)
}

fn row(job: &Job, finished: &Finished) -> Row<5, 3> {
    let failed: u64 = finished.failures.values().map(|(count, _)| count).sum();
    let measured = format!("{} of {}", finished.evaluated, finished.valid);
    let name = job.declaration.model.name.to_string();
    let (times, rate) = match &finished.choice {
        None => (
            ["-".to_owned(), "-".to_owned(), "-".to_owned()],
            String::new(),
        ),
        Some(choice) => {
            let took_us = choice.cost.time_us;
            let speed_up = choice
                .default
                .map(|default| format!("{:.2}x", default.time_us / took_us));
            let default = choice.default.map(|default| time(default.time_us));
            let without = if finished.default_failed {
                "failed"
            } else {
                "-"
            };
            let default = default.unwrap_or_else(|| without.into());
            let times = [time(took_us), default, speed_up.unwrap_or_default()];
            (times, rate(job, &choice.codes, took_us))
        }
    };
    let [took, default, speed_up] = times;
    (
        [took, default, speed_up, measured, failed.to_string()],
        [name, job.problem(), rate],
    )
}

/// The energy of a choice, and what it is measured against.
fn of_energy(job: &Job, choice: &Choice, idle: &IdlePower) -> String {
    let joules = |cost: Cost| cost.energy_j.map_or_else(|| "unknown".to_owned(), energy);
    let watts = choice
        .cost
        .energy_j
        .map(|energy_j| format!(" ({:.1} W)", energy_j / choice.cost.time_us * 1e6));
    let default = choice
        .default
        .map(|default| format!(", the default {}", joules(default)));
    format!(
        "chosen by {}: a launch takes {}{}{}; idle power {:.1} W, which is part of it ({})",
        job.declaration.measure.objective,
        joules(choice.cost),
        watts.unwrap_or_default(),
        default.unwrap_or_default(),
        idle.watts,
        idle.source,
    )
}

/// GB/s and GFLOPS, where they are declared.
fn rate(job: &Job, codes: &[i64], time_us: f64) -> String {
    let limits = job.device.info().limits;
    let env = Env {
        params: codes,
        dims: &job.dims,
        device: &limits,
    };
    let value = |formula: &Option<Formula>| {
        formula
            .as_ref()
            .and_then(|formula| formula.eval(&env).ok())
            .map(|count| count as f64 / time_us / 1e3)
    };
    let rates = [
        (value(&job.declaration.bytes), "GB/s"),
        (value(&job.declaration.flops), "GFLOPS"),
    ];
    let texts = rates
        .into_iter()
        .filter_map(|(rate, unit)| rate.map(|rate| format!("{rate:.1} {unit}")));
    texts.collect::<Vec<_>>().join(", ")
}
