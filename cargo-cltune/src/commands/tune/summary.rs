//! The table at the end: per device what was found, and what failed.

use crate::commands::columns::lines;
use crate::session::{Finished, Job, time};
use crate::terminal::printable_name;
use cltune_core::expr::{Env, Formula};
use std::io::Write;

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
        let header = [
            "kernel", "problem", "time", "rate", "default", "speed-up", "measured", "failed",
        ];
        let mut table = vec![header.map(str::to_string)];
        table.extend(of_device.iter().map(|(job, finished)| row(job, finished)));
        let mut lines = lines(&table).into_iter();
        if let Some(header) = lines.next() {
            writeln!(out, "  {header}")?;
        }
        for (line, (job, finished)) in lines.zip(&of_device) {
            writeln!(out, "  {line}")?;
            // Apart, since a line has no room for all.
            let values = finished.choice.as_ref().map_or_else(
                || "every configuration failed".to_owned(),
                |choice| job.configuration(&choice.codes),
            );
            writeln!(out, "    {values}")?;
            writeln!(out, "    {}", finished.spent)?;
        }
        for (job, finished) in &of_device {
            if finished.stagnant {
                let (name, problem) = (&job.declaration.model.name, job.problem());
                writeln!(
                    out,
                    "  {name}, {problem}: ended before the budget, as a tenth more is unlikely to \
                     improve it (--stop-when-stagnant)"
                )?;
            }
            if let Some(crowded) = &finished.crowded {
                let (name, problem) = (&job.declaration.model.name, job.problem());
                writeln!(out, "  {name}, {problem}: {crowded}")?;
            }
            if let Some(steadiness) = finished.steadiness.filter(|of| !of.is_steady()) {
                let (name, count) = (&job.declaration.model.name, steadiness.count);
                let (fastest, slowest) = (steadiness.fastest_us, steadiness.slowest_us);
                writeln!(
                    out,
                    "  {name}: the device was not steady: the same configuration took between {} \
                     and {} ({count} times); tune again when nothing else uses it",
                    time(fastest),
                    time(slowest)
                )?;
            }
            for (status, (count, example)) in &finished.failures {
                let first = example.lines().take(4).collect::<Vec<_>>().join("\n      ");
                writeln!(
                    out,
                    "  {}: {count} {status}, the first: {first}",
                    job.declaration.model.name
                )?;
            }
        }
    }
    Ok(())
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
pub(super) fn stays(job: &Job) -> String {
    format!(
        "warning: {}: what the lockfile has is faster and stays; the search ended before it measured it again",
        subject(job)
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

fn row(job: &Job, finished: &Finished) -> [String; 8] {
    let failed: u64 = finished.failures.values().map(|(count, _)| count).sum();
    let measured = format!("{} of {}", finished.evaluated, finished.valid);
    let name = job.declaration.model.name.to_string();
    let Some(choice) = &finished.choice else {
        let none = || "-".to_owned();
        return [
            name,
            job.problem(),
            none(),
            none(),
            none(),
            none(),
            measured,
            failed.to_string(),
        ];
    };
    [
        name,
        job.problem(),
        time(choice.time_us),
        rate(job, &choice.codes, choice.time_us),
        choice.default_us.map_or_else(|| "failed".into(), time),
        choice
            .default_us
            .map(|default| format!("{:.2}x", default / choice.time_us))
            .unwrap_or_default(),
        measured,
        failed.to_string(),
    ]
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
