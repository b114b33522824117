//! Coverage: the share of the recorded time that is of problems with results of their own.

use super::Captured;
use super::jobs::dims;
use crate::artifact::PackageTunables;
use crate::lockfile_store::{self, StoreError};
use std::fmt;
use std::path::Path;

/// A part of the recorded time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Coverage {
    /// Seconds of problems that are tuned, on the device that they were launched on.
    pub(crate) covered: f64,
    /// All recorded seconds.
    pub(crate) total: f64,
    /// The number of problems that are tuned.
    pub(crate) tuned: usize,
    /// The number of all.
    pub(crate) problems: usize,
}

/// The lockfiles' coverage of a capture; `named` is the file of `--lockfile`.
pub(crate) fn coverage(
    captured: &[Captured],
    packages: &[PackageTunables],
    named: Option<&Path>,
) -> Result<Coverage, StoreError> {
    let mut coverage = Coverage {
        covered: 0.0,
        total: captured.iter().map(|captured| captured.seconds).sum(),
        tuned: 0,
        problems: captured.len(),
    };
    for package in packages {
        let Some(lockfile) =
            lockfile_store::read(&lockfile_store::path(named, &package.manifest_dir))?
        else {
            continue;
        };
        for declaration in &package.declarations {
            // Of the kernel as it is now: results for another version do not count.
            let Ok(table) = lockfile.table(&declaration.model) else {
                continue;
            };
            let of_kernel = captured
                .iter()
                .filter(|captured| *declaration.model.name == *captured.kernel);
            for captured in of_kernel {
                let dims = dims(&declaration.model, captured);
                let is_tuned = table.results.iter().any(|result| {
                    let device = &table.devices[usize::from(result.device)];
                    device.key().is(captured.key()) && dims.as_deref() == Some(&*result.problem)
                });
                if is_tuned {
                    coverage.covered += captured.seconds;
                    coverage.tuned += 1;
                }
            }
        }
    }
    Ok(coverage)
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            covered,
            total,
            tuned,
            problems,
        } = self;
        let part = if *total > 0.0 { covered / total } else { 0.0 };
        write!(
            f,
            "the lockfile now covers {:.1} % of the captured {total:.3} s of launches: {tuned} of \
             {problems} problems",
            100.0 * part
        )
    }
}
