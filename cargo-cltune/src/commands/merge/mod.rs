//! `cargo cltune merge A B…`: unites lockfiles that were tuned on different machines, or databases.
//!
//! | file | owns |
//! |---|---|
//! | `sources` | the files that are united, read |
//! | `timed_again` | the choice where machines disagree |
//! | `versions` | the choice between versions of a kernel |

mod sources;
mod timed_again;
mod versions;

use super::Exit;
use super::database::{self, DatabaseStoreError};
use super::outputs::{OutputError, check_output, is_same};
use crate::artifact::{CargoArgs, DiscoverError, discover_or_read};
use crate::fleet::{self, ContributionError, PartFile, PartFileError, PartsError, is_contribution};
use crate::lockfile_store::{self, StoreError};
use cltune_formats::lockfile::{Lockfile, LockfileError, MergeReport};
use sources::{Named, Source, new_entries};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use versions::{Versions, reason};

/// Unites lockfiles that were tuned on different machines.
///
/// A file may also be one in which git left conflict markers: both sides are united. Where two
/// files hold results for the same device and problem, the faster one stays; where one was measured
/// with cold caches and the other with warm ones, that of the first file. Where they were tuned for
/// different versions of a kernel, that of --artifact stays, and without it that of the first file.
/// Databases of template defaults are united in the same way.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct MergeArgs {
    /// The lockfiles, folders of parts, contributions, or databases of template defaults.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Unite what there is where parts are missing or have not done all of theirs; exit code 1
    /// then.
    #[arg(long)]
    pub(crate) incomplete: bool,
    /// Where files have different values for the same device and problem, time the finalists of
    /// both again on this machine, in turns, and take the best. The device must be here. A part may
    /// be there twice.
    #[arg(long, requires = "artifact")]
    pub(crate) time_again: bool,
    /// The executable or library that the values are for: where files were tuned for different
    /// versions of a kernel, its version stays.
    #[arg(long, value_name = "FILE")]
    pub(crate) artifact: Option<PathBuf>,
    /// Where to write the result. It may be one of the lockfiles or databases, unless that file's
    /// own results would be left out. Without it, standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Why lockfiles cannot be united.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MergeError {
    /// A file that does not exist. (Elsewhere that is an ordinary state; here it was named.)
    #[error("there is no file {}", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// A file that cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// One side of a file with conflict markers is not a lockfile.
    #[error("{}, {side}, with lines counted without the other side: {source}", path.display())]
    Side {
        /// The file.
        path: PathBuf,
        /// The file.
        side: &'static str,
        /// The mistake in it.
        source: Box<LockfileError>,
    },
    /// A folder without a part in it.
    #[error(
        "{}: it is a folder, not a file, and no part is in it: `tune --partition` did not write there. Name its \
         lockfile, or the folder in which the part was tuned",
        path.display()
    )]
    NoPart {
        /// The folder.
        path: PathBuf,
    },
    /// A journal, or the file of a part.
    #[error(
        "{}: it lies in the folder of a part, with the lockfile that it belongs to; name that folder",
        path.display()
    )]
    OfPart {
        /// The file.
        path: PathBuf,
    },
    /// The file of a part cannot be used.
    #[error(transparent)]
    PartFile(#[from] PartFileError),
    /// Parts that do not belong together.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// Parts are missing, or have not done all of theirs.
    #[error(
        "nothing was written, since not all parts are there:\n  {}\nTune these with `tune --partition`, or unite what \
         there is with --incomplete",
        missing.join("\n  ")
    )]
    Incomplete {
        /// What is missing, each with its units.
        missing: Vec<String>,
    },
    /// A contribution that cannot be used.
    #[error("{}: {source}", path.display())]
    Contribution {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<ContributionError>,
    },
    /// The artifact cannot be read.
    #[error(transparent)]
    Artifact(#[from] DiscoverError),
    /// The output would destroy what is read, or its folder is not there.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The output is one of the lockfiles, and the result has not all of it.
    #[error(
        "--output {}: nothing was written, since results of that file would be lost: {reason}. Name another file, or \
         name this one first",
        path.display()
    )]
    LeftOut {
        /// The output.
        path: PathBuf,
        /// What another file has instead.
        reason: String,
    },
    /// Nothing can be timed again.
    #[error("--time-again: {0}")]
    TimeAgain(String),
    /// Databases that cannot be united.
    #[error(transparent)]
    Database(#[from] DatabaseStoreError),
    /// Standard output or standard error is closed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// Reads, unites, writes, and says what happened.
///
/// # Errors
/// See [`MergeError`]; nothing is written then.
pub(crate) fn run(
    args: &MergeArgs,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Exit, MergeError> {
    // It may be one of the files.
    let _held = args.output.as_deref().map(lockfile_store::lock);
    let named = args.files.iter().map(|path| Named::read(path));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    // A contribution is no lockfile, and becomes none.
    let contributions = named.iter().filter(|file| is_contribution(&file.text));
    let read_only = contributions.map(|file| &file.path).chain(&args.artifact);
    check_output("--output", args.output.as_deref(), read_only)?;
    if named.iter().any(|file| database::is_database(&file.text)) {
        let texts = named.into_iter().map(|file| (file.path, file.text));
        return Ok(database::merge(
            &texts.collect::<Vec<_>>(),
            args.output.as_deref(),
            stdout,
            stderr,
        )?);
    }
    let mut sources = Vec::new();
    for file in named {
        sources.extend(file.sources()?);
    }
    let mut messages = Vec::new();
    let mut outcome = check_parts(args, &sources, &mut messages)?;
    let read = |artifact| discover_or_read(Some(artifact), None, &CargoArgs::default());
    let artifact = args.artifact.as_deref();
    let discovery = artifact.map(read).transpose()?;
    let versions = artifact.zip(discovery.as_ref());
    let versions = versions.map(|(artifact, discovery)| Versions::of(artifact, discovery));
    if let Some(versions) = &versions
        && versions.keep(&mut sources, &mut messages)?
    {
        outcome = Exit::Reported;
    }
    let (mut united, reports) = unite(&sources, versions.as_ref(), &mut messages)?;
    if reports.iter().any(is_conflict) {
        outcome = Exit::Reported;
    }
    if let Some(versions) = &versions
        && versions.warn_of_stale(&united, &reports, &mut messages)?
    {
        outcome = Exit::Reported;
    }
    if let Some(discovery) = discovery.filter(|_| args.time_again) {
        let again = timed_again::run(&mut united, &sources, &discovery, &mut messages);
        if !again.map_err(|error| MergeError::TimeAgain(error.to_string()))? {
            outcome = Exit::Reported;
        }
    }
    match &args.output {
        Some(path) => {
            check_kept(args, path, &united)?;
            lockfile_store::write(path, &united)?;
        }
        None => stdout.write_all(united.to_text().as_bytes())?,
    }
    stderr.write_all(&messages)?;
    Ok(outcome)
}

/// Whether all parts are there and have done what they should.
fn check_parts(
    args: &MergeArgs,
    sources: &[Source],
    messages: &mut Vec<u8>,
) -> Result<Exit, MergeError> {
    let parts: Vec<(String, &PartFile)> = sources
        .iter()
        .filter_map(|source| Some((source.name.clone(), source.part.as_ref()?)))
        .collect();
    let gaps = fleet::check(&parts, args.time_again)?;
    let missing: Vec<String> = gaps.missing.iter().map(ToString::to_string).collect();
    if !missing.is_empty() && !args.incomplete {
        return Err(MergeError::Incomplete { missing });
    }
    for missing in &missing {
        writeln!(messages, "warning: {missing}")?;
    }
    for (unit, reason) in &gaps.failed {
        writeln!(messages, "warning: {unit} has no result: {reason}")?;
    }
    let is_whole = missing.is_empty() && gaps.failed.is_empty();
    Ok(if is_whole { Exit::Done } else { Exit::Reported })
}

/// All of them in one lockfile, and what each added. Contributions come last, whatever their place.
fn unite(
    sources: &[Source],
    versions: Option<&Versions>,
    messages: &mut Vec<u8>,
) -> io::Result<(Lockfile, Vec<MergeReport>)> {
    let own = sources.iter().filter(|source| !source.is_contribution);
    let (mut united, mut name) = (Lockfile::default(), String::new());
    let mut reports = Vec::new();
    for source in own {
        if name.is_empty() {
            (united, name) = (source.lockfile.clone(), source.name.clone());
            continue;
        }
        let report = united.merge(&source.lockfile);
        describe(messages, &report, &name, source, versions)?;
        reports.push(report);
        name = format!("{name} + {}", source.name);
    }
    let known = united.clone();
    for source in sources.iter().filter(|source| source.is_contribution) {
        let (new, left_out) = new_entries(&source.lockfile, &known);
        let report = united.merge(&new);
        describe(messages, &report, &name, source, versions)?;
        reports.push(report);
        if left_out > 0 {
            writeln!(
                messages,
                "  {left_out} left out: a contribution replaces nothing that a lockfile has"
            )?;
        }
    }
    Ok((united, reports))
}

/// Checks that an output which is one of the files loses nothing because of its place among them.
/// With an artifact, that decides between versions.
fn check_kept(args: &MergeArgs, output: &Path, united: &Lockfile) -> Result<(), MergeError> {
    let is_input = args.files.iter().any(|file| is_same(file, output));
    if !is_input {
        return Ok(());
    }
    // Of a file with conflict markers git has both sides.
    let Ok(Some(known)) = lockfile_store::read(output) else {
        return Ok(());
    };
    let report = united.clone().merge(&known);
    let versions = report.fingerprints.iter().map(ToString::to_string);
    let versions = versions.filter(|_| args.artifact.is_none());
    let measures = report.measures.iter().map(ToString::to_string);
    let reasons: Vec<String> = versions.chain(measures).collect();
    if reasons.is_empty() {
        return Ok(());
    }
    Err(MergeError::LeftOut {
        path: output.to_owned(),
        reason: reasons.join("; "),
    })
}

/// Whether something was left out that no file can decide.
fn is_conflict(report: &MergeReport) -> bool {
    !report.fingerprints.is_empty() || !report.measures.is_empty()
}

fn describe(
    out: &mut impl Write,
    report: &MergeReport,
    into: &str,
    source: &Source,
    versions: Option<&Versions>,
) -> io::Result<()> {
    let from = &source.name;
    let entries = if report.added_entries == 1 {
        "entry"
    } else {
        "entries"
    };
    write!(out, "{from}: {} new {entries}", report.added_entries)?;
    if !report.added_devices.is_empty() {
        write!(out, ", new devices: {}", report.added_devices.join(", "))?;
    }
    writeln!(out)?;
    for (old, new) in &report.renamed_devices {
        writeln!(
            out,
            "  device {old} of {into} is now called {new}: {from} has another {old}"
        )?;
    }
    for conflict in &report.results {
        writeln!(out, "  {conflict}")?;
    }
    for conflict in &report.fingerprints {
        writeln!(out, "warning: {conflict}")?;
        writeln!(out, "  {}", reason(versions, conflict, into, source))?;
    }
    for conflict in &report.measures {
        writeln!(out, "warning: {conflict}")?;
        writeln!(
            out,
            "  if `cargo cltune check` says that it was measured otherwise than is declared, name {from} first, or \
             tune again"
        )?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../../tests/unit/merge.rs"]
mod tests;
