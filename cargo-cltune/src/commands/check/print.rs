//! Findings as text and as JSON.

use super::findings::Finding;
use super::{DependencyReport, PackageReport, Remedy, Report};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// One line for a clean package; for others every finding and what to do. Then what need not be
/// done.
pub(super) fn text(out: &mut dyn Write, report: &Report, remedy: &Remedy) -> io::Result<()> {
    let mut untuned = false;
    let mut named = false;
    let mut noted = false;
    for PackageReport {
        package,
        tunables,
        findings,
        warnings,
        notes,
        lockfile,
    } in &report.judged
    {
        noted |= !notes.is_empty();
        if findings.is_empty() {
            let state = if notes.contains(&Finding::NoLockfile) {
                "none that needs a lockfile"
            } else {
                "lockfile up to date"
            };
            writeln!(out, "{package}: {}, {state}", counted(*tunables))?;
        } else {
            writeln!(out, "{package}: {}", lockfile.display())?;
        }
        for finding in findings {
            untuned |= finding.is_missing()
                || matches!(
                    finding,
                    Finding::Stale { .. } | Finding::MeasuredOtherwise { .. }
                );
            named |= matches!(finding, Finding::Lacks { .. });
            writeln!(out, "  {finding}")?;
        }
        for warning in warnings {
            writeln!(out, "  warning: {warning}")?;
        }
        for note in notes {
            writeln!(out, "  note: {note}")?;
        }
    }
    // Packages without tunables are only listed where no package has any.
    if report.judged.is_empty() {
        for package in &report.without {
            writeln!(out, "{package}: no tunables of its own")?;
        }
    }
    dependencies(out, &report.dependencies)?;
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
        let Remedy { command, file } = remedy;
        writeln!(out, "run `{command}`{on}, and commit {file}")?;
    }
    Ok(())
}

/// The packages that are not judged, and their state.
fn dependencies(out: &mut dyn Write, dependencies: &[DependencyReport]) -> io::Result<()> {
    for DependencyReport {
        package,
        version,
        tunables,
        notes,
    } in dependencies
    {
        let tunables = counted(*tunables);
        writeln!(
            out,
            "{package} {version}: {tunables} of a dependency, not judged"
        )?;
        for note in notes {
            writeln!(out, "  note: {note}")?;
        }
        if !notes.is_empty() {
            writeln!(
                out,
                "  its own lockfile has no values for these, so defaults are used; `-p {package}` judges it"
            )?;
        }
    }
    Ok(())
}

fn counted(tunables: usize) -> String {
    if tunables == 1 {
        "1 tunable".to_owned()
    } else {
        format!("{tunables} tunables")
    }
}

/// One object: `ok`; `packages`, each with `package`, `lockfile`, `tunables`, `findings`,
/// `warnings` and `notes`, which are like findings and leave `ok` true; and `dependencies`, which
/// are not judged, each with `package`, `version`, `tunables` and `notes`.
pub(super) fn json(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let list = |findings: &[Finding]| findings.iter().map(finding).collect::<Vec<_>>();
    let packages: Vec<Value> = report
        .judged
        .iter()
        .map(|report| {
            json!({
                "package": report.package,
                "lockfile": report.lockfile.display().to_string(),
                "tunables": report.tunables,
                "findings": list(&report.findings),
                "warnings": list(&report.warnings),
                "notes": list(&report.notes),
            })
        })
        .collect();
    let dependencies: Vec<Value> = report
        .dependencies
        .iter()
        .map(|dependency| {
            json!({
                "package": dependency.package,
                "version": dependency.version,
                "tunables": dependency.tunables,
                "notes": list(&dependency.notes),
            })
        })
        .collect();
    let object = json!({
        "ok": report.is_clean(),
        "packages": packages,
        "dependencies": dependencies,
    });
    writeln!(out, "{object}")
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
        Finding::Stale { entries, .. } | Finding::VerifiedOtherwise { entries, .. } => {
            object.insert("entries".to_owned(), (*entries).into());
        }
        Finding::MeasuredOtherwise {
            entries, measured, ..
        } => {
            object.insert("entries".to_owned(), (*entries).into());
            object.insert("measured".to_owned(), measured.caches.word().into());
            object.insert("objective".to_owned(), measured.objective.word().into());
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
