//! `cargo cltune check`: fails where a lockfile lacks an entry that it should have. Needs no
//! device.
//!
//! | file | owns |
//! |---|---|
//! | `findings` | what is missing from one package's lockfile: pure |
//! | `print` | findings as text and as JSON |

mod findings;
mod print;

use super::lockfile_args::{LockfileArgs, NoLockfile};
use super::{Exit, Format};
use crate::artifact::{CargoArgs, Discovery, PackageTunables};
use crate::kernel_filter::KernelFilter;
use crate::lockfile_store::{self, StoreError};
use crate::plan::{PlanError, check_kernel_filters};
use clap::builder::NonEmptyStringValueParser;
use cltune_formats::declaration::Declaration;
use cltune_formats::lockfile::{FILE_NAME, Lockfile};
use findings::{Finding, findings};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Checks that the lockfile of every package is up to date; exit code 1 when one is not.
///
/// Every problem that a tunable declares must be tuned, for the tunable as it is now, on every
/// device that its lockfile names. What only examples, benchmarks and tests declare need not be
/// tuned, unless the command line names targets; where it was tuned, it must be current.
///
/// Tunables of dependencies come with their own results and are not judged, unless `-p` names the
/// package. What CLTUNE_LOCK holds of them has to be current. --lockfile and --artifact leave
/// CLTUNE_LOCK aside.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Check only tunables whose name is this or, where there is none, contains it; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) kernel: Vec<String>,
    /// Check the tunables in this executable or library, with neither cargo nor sources, against
    /// the lockfile in the current folder. Packages of which that file holds nothing are not
    /// judged, if it holds something of another one.
    #[arg(long, value_name = "FILE", conflicts_with_all = CargoArgs::OPTIONS)]
    pub(crate) artifact: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) lockfile: LockfileArgs,
    /// How to print what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// The findings of all packages.
#[derive(Clone, Debug, Default)]
struct Report {
    /// A report for each package and lockfile that is judged.
    judged: Vec<PackageReport>,
    /// The packages that have no tunables.
    without: Vec<String>,
    /// The packages that are not judged: dependencies.
    dependencies: Vec<DependencyReport>,
}

/// The findings of one package.
#[derive(Clone, Debug)]
struct PackageReport {
    package: String,
    lockfile: PathBuf,
    tunables: usize,
    /// Missing, stale and damaged entries.
    findings: Vec<Finding>,
    /// Entries that are used all the same, and may be wrong.
    warnings: Vec<Finding>,
    /// Entries that only examples, benchmarks and tests lack.
    notes: Vec<Finding>,
}

/// A dependency.
#[derive(Clone, Debug)]
struct DependencyReport {
    package: String,
    version: String,
    tunables: usize,
    /// Mistakes in its own results, which its author has to mend.
    notes: Vec<Finding>,
}

/// Checks what was found and prints it. `override_lock` is the value of `CLTUNE_LOCK`, with which
/// programs are built.
///
/// # Errors
/// When a lockfile is there but cannot be opened, or the output is closed. A lockfile that can be
/// opened but not understood is a finding, not an error: the other packages are still checked.
pub(crate) fn run(
    args: &CheckArgs,
    mut discovery: Discovery,
    override_lock: Option<&Path>,
    stdout: &mut dyn Write,
) -> Result<Exit, CheckError> {
    let named = args.lockfile.existing()?;
    choose(&args.kernel, &mut discovery)?;
    let report = if args.artifact.is_some() {
        of_artifact(&discovery.packages, named)?
    } else {
        // The file that is named is the only one.
        let override_lock = override_lock.filter(|_| named.is_none());
        of_packages(&discovery, named, override_lock)?
    };
    match args.format {
        Format::Text => print::text(stdout, &report, &Remedy::of(args))?,
        Format::Json => print::json(stdout, &report)?,
    }
    Ok(if report.is_clean() {
        Exit::Done
    } else {
        Exit::Reported
    })
}

/// Leaves out what `--kernel` does not mean.
fn choose(kernels: &[String], discovery: &mut Discovery) -> Result<(), PlanError> {
    if kernels.is_empty() {
        return Ok(());
    }
    let all = discovery.packages.iter().chain(&discovery.dependencies);
    let all: Vec<PackageTunables> = all.cloned().collect();
    check_kernel_filters(&all, kernels)?;
    let filter = KernelFilter::new(kernels, &all);
    for packages in [&mut discovery.packages, &mut discovery.dependencies] {
        for package in packages.iter_mut() {
            package
                .declarations
                .retain(|of| filter.means(&of.model.name));
            package.auxiliary.retain(|name| filter.means(name));
        }
        packages.retain(|package| !package.declarations.is_empty());
    }
    Ok(())
}

/// What has to be done where something is missing or stale.
struct Remedy {
    /// The command that tunes what was checked.
    command: String,
    /// The file that it writes.
    file: String,
}

impl Remedy {
    fn of(args: &CheckArgs) -> Self {
        let option = |name: &str, file: Option<&Path>| {
            file.map_or_else(String::new, |file| format!(" {name} {}", file.display()))
        };
        let lockfile = args.lockfile.path();
        Self {
            command: format!(
                "cargo cltune{}{}",
                option("tune --artifact", args.artifact.as_deref()),
                option("--lockfile", lockfile)
            ),
            file: lockfile
                .unwrap_or(Path::new(FILE_NAME))
                .display()
                .to_string(),
        }
    }
}

/// Why a check cannot be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// `--kernel` matches nothing.
    #[error(transparent)]
    Filter(#[from] PlanError),
    /// The lockfile that was named is not there.
    #[error(transparent)]
    NoLockfile(#[from] NoLockfile),
    /// A lockfile that cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Standard output is closed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

impl Report {
    /// Whether nothing is wrong with what is judged.
    fn is_clean(&self) -> bool {
        self.judged.iter().all(|report| report.findings.is_empty())
    }
}

fn of_packages(
    discovery: &Discovery,
    named: Option<&Path>,
    override_lock: Option<&Path>,
) -> Result<Report, StoreError> {
    let mut report = Report {
        without: discovery.without.clone(),
        ..Report::default()
    };
    for package in &discovery.packages {
        let own = lockfile_store::path(named, &package.manifest_dir);
        let (overridden, others) = overridden(package, override_lock)?;
        if !others.is_empty() || overridden.is_none() {
            report.judged.push(judged(package, &own, &others)?);
        }
        report.judged.extend(overridden);
    }
    for package in &discovery.dependencies {
        let own = lockfile_store::path(named, &package.manifest_dir);
        let (overridden, others) = overridden(package, override_lock)?;
        // The problems of a dependency are not those of the program.
        report.judged.extend(overridden.map(|mut overridden| {
            overridden.findings.retain(|finding| !finding.is_missing());
            overridden
        }));
        if others.is_empty() {
            continue;
        }
        let notes = findings_in(&own, &others)?;
        report.dependencies.push(DependencyReport {
            notes: notes
                .into_iter()
                .filter(|finding| !finding.is_missing() && !finding.is_used())
                .collect(),
            ..DependencyReport::of(package.package.clone(), &others)
        });
    }
    Ok(report)
}

/// What the file of `CLTUNE_LOCK` says of a package's tunables, and those that it does not name. A
/// relative path counts from the package, as for the macro.
fn overridden(
    package: &PackageTunables,
    override_lock: Option<&Path>,
) -> Result<(Option<PackageReport>, Vec<Declaration>), StoreError> {
    let all = || package.declarations.clone();
    let Some(path) = override_lock.map(|path| package.manifest_dir.join(path)) else {
        return Ok((None, all()));
    };
    let lockfile = match lockfile_store::read(&path) {
        _ if path == package.manifest_dir.join(FILE_NAME) => return Ok((None, all())),
        Ok(None) => return Ok((None, all())),
        Ok(Some(lockfile)) => lockfile,
        Err(StoreError::Parse { .. }) => return Ok((Some(judged(package, &path, &[])?), all())),
        Err(error) => return Err(error),
    };
    let (named, others) = all()
        .into_iter()
        .partition(|declaration| is_named(&lockfile, declaration));
    let named: Vec<Declaration> = named;
    let report = (!named.is_empty()).then(|| judged(package, &path, &named));
    Ok((report.transpose()?, others))
}

/// An artifact does not say which of its packages is the program's own; the lockfile says which
/// were tuned.
fn of_artifact(packages: &[PackageTunables], named: Option<&Path>) -> Result<Report, StoreError> {
    let mut report = Report::default();
    for package in packages {
        let path = lockfile_store::path(named, &package.manifest_dir);
        let lockfile = match lockfile_store::read(&path) {
            Ok(lockfile) => lockfile.unwrap_or_default(),
            Err(StoreError::Parse { .. }) => Lockfile::default(),
            Err(error) => return Err(error),
        };
        let declarations = &package.declarations;
        let named = declarations.iter().filter(|of| is_named(&lockfile, of));
        let named: BTreeSet<&str> = named.map(|of| &*of.package).collect();
        let (own, others): (Vec<_>, Vec<_>) = declarations
            .iter()
            .cloned()
            .partition(|of| named.is_empty() || named.contains(&*of.package));
        report.judged.push(judged(package, &path, &own)?);
        for other in others.chunk_by(|a, b| a.package == b.package) {
            let name = other[0].package.clone();
            report.dependencies.push(DependencyReport::of(name, other));
        }
    }
    Ok(report)
}

/// Whether a lockfile has results of a tunable, current or not.
fn is_named(lockfile: &Lockfile, declaration: &Declaration) -> bool {
    let kernel = lockfile.kernel(&declaration.model.name);
    kernel.is_some_and(|kernel| !kernel.tuned.is_empty())
}

impl DependencyReport {
    /// Of a package with these tunables.
    fn of(package: String, declarations: &[Declaration]) -> Self {
        let first = declarations.first();
        Self {
            package,
            version: first.map_or_else(String::new, |first| first.version.clone()),
            tunables: declarations.len(),
            notes: Vec::new(),
        }
    }
}

/// The entries that a lockfile lacks of these tunables of a package.
fn judged(
    package: &PackageTunables,
    path: &Path,
    declarations: &[Declaration],
) -> Result<PackageReport, StoreError> {
    let (warnings, others): (Vec<_>, Vec<_>) = findings_in(path, declarations)?
        .into_iter()
        .partition(Finding::is_warning);
    let (notes, findings) = others
        .into_iter()
        .partition(|finding| finding.is_missing() && is_auxiliary(finding, package));
    Ok(PackageReport {
        package: package.package.clone(),
        lockfile: path.to_owned(),
        tunables: declarations.len(),
        findings,
        warnings,
        notes,
    })
}

fn findings_in(path: &Path, declarations: &[Declaration]) -> Result<Vec<Finding>, StoreError> {
    match lockfile_store::read(path) {
        Ok(lockfile) => Ok(findings(lockfile.as_ref(), declarations)),
        Err(StoreError::Parse { source, .. }) => Ok(vec![Finding::Unreadable {
            line: source.line,
            message: source.to_string(),
        }]),
        Err(error) => Err(error),
    }
}

/// Whether a finding is about nothing but examples, benchmarks and tests.
fn is_auxiliary(finding: &Finding, package: &PackageTunables) -> bool {
    match finding.kernel() {
        Some(kernel) => package.auxiliary.contains(kernel),
        None => package.auxiliary.len() == package.declarations.len(),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/check.rs"]
mod tests;
