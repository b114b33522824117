//! Findings as text and as JSON.

use super::PackageReport;
use super::findings::Finding;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// One line for a clean package; for others every finding and what to do. Then what need not be done.
pub(super) fn text(out: &mut dyn Write, reports: &[PackageReport]) -> io::Result<()> {
    let mut untuned = false;
    let mut named = false;
    let mut noted = false;
    for report in reports {
        let PackageReport {
            package,
            tunables,
            findings,
            notes,
            ..
        } = report;
        noted |= !notes.is_empty();
        if findings.is_empty() {
            let tunables = if *tunables == 1 {
                "1 tunable"
            } else {
                &format!("{tunables} tunables")
            };
            let state = if notes.contains(&Finding::NoLockfile) {
                "none that needs a lockfile"
            } else {
                "lockfile up to date"
            };
            writeln!(out, "{package}: {tunables}, {state}")?;
        } else {
            writeln!(out, "{package}: {}", report.lockfile.display())?;
        }
        for finding in findings {
            untuned |= finding.is_missing() || matches!(finding, Finding::Stale { .. });
            named |= matches!(finding, Finding::Lacks { .. });
            writeln!(out, "  {finding}")?;
        }
        for note in notes {
            writeln!(out, "  note: {note}")?;
        }
    }
    if noted {
        writeln!(
            out,
            "notes are about examples, benchmarks and tests only, and are no failure; with \
             `--all-targets` they are"
        )?;
    }
    // What is damaged says itself what to do.
    if untuned {
        let on = if named {
            " on the devices named above"
        } else {
            ""
        };
        writeln!(out, "run `cargo cltune`{on}, and commit cltune.lock")?;
    }
    Ok(())
}

/// One object: `ok`, and `packages`, each with `package`, `lockfile`, `tunables`, `findings` and
/// `notes`, which are like findings and leave `ok` true.
pub(super) fn json(out: &mut dyn Write, reports: &[PackageReport]) -> io::Result<()> {
    let packages: Vec<Value> = reports
        .iter()
        .map(|report| {
            json!({
                "package": report.package,
                "lockfile": report.lockfile.display().to_string(),
                "tunables": report.tunables,
                "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
                "notes": report.notes.iter().map(finding).collect::<Vec<_>>(),
            })
        })
        .collect();
    let ok = reports.iter().all(|report| report.findings.is_empty());
    writeln!(out, "{}", json!({ "ok": ok, "packages": packages }))
}

fn finding(finding: &Finding) -> Value {
    let mut object = Map::new();
    object.insert("kind".to_owned(), finding.kind().into());
    if let Some(kernel) = finding.kernel() {
        object.insert("kernel".to_owned(), kernel.into());
    }
    match finding {
        Finding::Unreadable { line, .. } => {
            object.insert("line".to_owned(), (*line).into());
        }
        Finding::Stale { entries, .. } => {
            object.insert("entries".to_owned(), (*entries).into());
        }
        Finding::Lacks {
            device, problem, ..
        } => {
            let sizes = problem
                .iter()
                .map(|(name, size)| (name.clone(), Value::from(*size)));
            object.insert("device".to_owned(), device.as_str().into());
            object.insert("problem".to_owned(), Value::Object(sizes.collect()));
        }
        Finding::NoLockfile | Finding::NotTuned { .. } | Finding::Damaged { .. } => {}
    }
    object.insert("message".to_owned(), finding.to_string().into());
    Value::Object(object)
}
