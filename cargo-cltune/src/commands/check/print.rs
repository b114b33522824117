//! Findings as text and as JSON.

use super::PackageReport;
use super::findings::Finding;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// One line for a clean package; for others every finding and what to do.
pub(super) fn text(out: &mut dyn Write, reports: &[PackageReport]) -> io::Result<()> {
    let mut dirty = false;
    for report in reports {
        let PackageReport {
            package,
            tunables,
            findings,
            ..
        } = report;
        if findings.is_empty() {
            let tunables = if *tunables == 1 {
                "1 tunable"
            } else {
                &format!("{tunables} tunables")
            };
            writeln!(out, "{package}: {tunables}, lockfile up to date")?;
            continue;
        }
        dirty = true;
        writeln!(out, "{package}: {}", report.lockfile.display())?;
        for finding in findings {
            writeln!(out, "  {finding}")?;
        }
    }
    if dirty {
        writeln!(
            out,
            "run `cargo cltune` on the devices named above, and commit cltune.lock"
        )?;
    }
    Ok(())
}

/// One object: `ok`, and `packages`, each with `package`, `lockfile`, `tunables` and `findings`.
pub(super) fn json(out: &mut dyn Write, reports: &[PackageReport]) -> io::Result<()> {
    let packages: Vec<Value> = reports
        .iter()
        .map(|report| {
            json!({
                "package": report.package,
                "lockfile": report.lockfile.display().to_string(),
                "tunables": report.tunables,
                "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
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
