//! `cargo cltune check`: whether every lockfile has what it should have. Needs no device.
//!
//! | file | owns |
//! |---|---|
//! | `findings` | what is missing from one package's lockfile: pure |
//! | `print` | findings as text and as JSON |

mod findings;
mod print;

use super::{Format, Outcome};
use crate::artifact::PackageTunables;
use crate::lockfile_store::{self, StoreError};
use cltune_core::lockfile::FILE_NAME;
use findings::{Finding, findings};
use std::io::{self, Write};
use std::path::PathBuf;

/// Checks that the lockfile of every package is up to date; exit code 1 when one is not.
///
/// Every problem that a tunable declares must be tuned, for the tunable as it is now, on every device
/// that its lockfile names. What only examples, benchmarks and tests declare need not be tuned, unless
/// the command line names targets; where it was tuned, it must be current.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Check the tunables in this executable or library, with neither cargo nor sources, against the
    /// lockfile in the current folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) artifact: Option<PathBuf>,
    /// How to print what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// What was found in one package.
#[derive(Clone, Debug)]
struct PackageReport {
    package: String,
    lockfile: PathBuf,
    tunables: usize,
    /// What is wrong.
    findings: Vec<Finding>,
    /// What is missing for examples, benchmarks and tests only.
    notes: Vec<Finding>,
}

/// Checks the packages and prints what was found.
///
/// # Errors
/// When a lockfile is there but cannot be opened, or the output is closed. A lockfile that can be
/// opened but not understood is a finding, not an error: the other packages are still checked.
pub(crate) fn run(
    args: &CheckArgs,
    packages: &[PackageTunables],
    stdout: &mut dyn Write,
) -> Result<Outcome, CheckError> {
    let reports = packages
        .iter()
        .map(check_package)
        .collect::<Result<Vec<_>, _>>()?;
    match args.format {
        Format::Text => print::text(stdout, &reports)?,
        Format::Json => print::json(stdout, &reports)?,
    }
    let clean = reports.iter().all(|report| report.findings.is_empty());
    Ok(if clean {
        Outcome::Done
    } else {
        Outcome::Reported
    })
}

/// Why a check cannot be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// A lockfile that cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Standard output is closed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

fn check_package(package: &PackageTunables) -> Result<PackageReport, StoreError> {
    let path = package.manifest_dir.join(FILE_NAME);
    let findings = match lockfile_store::read(&path) {
        Ok(lockfile) => findings(lockfile.as_ref(), &package.declarations),
        Err(StoreError::Parse { source, .. }) => {
            vec![Finding::Unreadable {
                line: source.line,
                message: source.to_string(),
            }]
        }
        Err(error) => return Err(error),
    };
    let (notes, findings) = findings
        .into_iter()
        .partition(|finding| finding.is_missing() && is_auxiliary(finding, package));
    Ok(PackageReport {
        package: package.package.clone(),
        lockfile: path,
        tunables: package.declarations.len(),
        findings,
        notes,
    })
}

/// Whether a finding is about nothing but examples, benchmarks and tests.
fn is_auxiliary(finding: &Finding, package: &PackageTunables) -> bool {
    match finding.kernel() {
        Some(kernel) => package.auxiliary.contains(kernel),
        None => package.auxiliary.len() == package.declarations.len(),
    }
}

#[cfg(test)]
mod tests;
