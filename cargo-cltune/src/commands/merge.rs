//! `cargo cltune merge A B…`: unites lockfiles that were tuned on different machines.

use super::Outcome;
use crate::lockfile_store::{self, StoreError};
use cltune_core::lockfile::{Lockfile, LockfileError, MergeReport, split_conflict};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Unites lockfiles that were tuned on different machines.
///
/// A file may also be one in which git left conflict markers: both sides are united. Where two files
/// hold results for the same device and problem, the faster one stays.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The lockfiles.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where to write the result; it may be one of the files. Without it, standard output.
    #[arg(long, short, alias = "out", value_name = "FILE")]
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
        /// Which side.
        side: &'static str,
        /// What is wrong.
        source: Box<LockfileError>,
    },
    /// Standard output or standard error is closed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// A lockfile and what to call it in messages.
struct Source {
    name: String,
    lockfile: Lockfile,
}

/// Reads, unites, writes, and says what happened.
///
/// # Errors
/// See [`MergeError`]; nothing is written then.
pub(crate) fn run(
    args: &MergeArgs,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Outcome, MergeError> {
    // It may be one of the files.
    let _held = args.output.as_deref().map(lockfile_store::lock);
    let mut sources = Vec::new();
    for path in &args.files {
        sources.extend(read_sources(path)?);
    }
    let mut united = Source {
        name: String::new(),
        lockfile: Lockfile::default(),
    };
    let mut outcome = Outcome::Done;
    let mut messages = Vec::new();
    for source in sources {
        if united.name.is_empty() {
            united = source;
            continue;
        }
        let report = united.lockfile.merge(&source.lockfile);
        if !report.fingerprints.is_empty() {
            outcome = Outcome::Reported;
        }
        describe(&mut messages, &report, &united.name, &source.name)?;
        united.name = format!("{} + {}", united.name, source.name);
    }
    match &args.output {
        Some(path) => lockfile_store::write(path, &united.lockfile)?,
        None => stdout.write_all(united.lockfile.to_text().as_bytes())?,
    }
    stderr.write_all(&messages)?;
    Ok(outcome)
}

/// The lockfile of a file, or the two of a file with conflict markers.
fn read_sources(path: &Path) -> Result<Vec<Source>, MergeError> {
    let no_file = || MergeError::NoFile {
        path: path.to_owned(),
    };
    let text = lockfile_store::read_text(path)?.ok_or_else(no_file)?;
    let name = path.display().to_string();
    let Some(sides) = split_conflict(&text) else {
        let lockfile = Lockfile::parse(&text).map_err(|error| StoreError::Parse {
            path: path.to_owned(),
            source: Box::new(error),
        })?;
        return Ok(vec![Source { name, lockfile }]);
    };
    let side = |text: &str, side: &'static str| match Lockfile::parse(text) {
        Ok(lockfile) => Ok(Source {
            name: format!("{name} ({side})"),
            lockfile,
        }),
        Err(error) => Err(MergeError::Side {
            path: path.to_owned(),
            side,
            source: Box::new(error),
        }),
    };
    Ok(vec![
        side(&sides.ours, "our side")?,
        side(&sides.theirs, "their side")?,
    ])
}

fn describe(out: &mut impl Write, report: &MergeReport, into: &str, from: &str) -> io::Result<()> {
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
        writeln!(
            out,
            "  kept those of {into}; if `cargo cltune check` calls them stale, {from} is the newer \
             one: name it first, or tune again"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn lockfile(device: &str, fingerprint: &str, time_us: f64) -> String {
        format!(
            "version = 1\n\n[[device]]\nid = \"{device}\"\nplatform = \"p\"\nname = \"{device}\"\n\
             vendor = \"v\"\ntype = \"gpu\"\ndriver = \"1\"\ncompute_units = 1\n\
             max_work_group_size = 1\nlocal_mem_size = 1\n\n[[kernel]]\nname = \"a::k\"\n\
             fingerprint = \"{fingerprint}\"\nparams = [\"WG\"]\n\n[[kernel.tuned]]\n\
             device = \"{device}\"\nproblem = {{}}\nvalues = [1]\ntime_us = {time_us:?}\n\
             evaluated = 1\nvalid = 1\nstrategy = \"full\"\n"
        )
    }

    struct Run {
        result: Result<Outcome, MergeError>,
        stdout: String,
        stderr: String,
    }

    fn merge(folder: &Path, files: &[(&str, String)], output: Option<&str>) -> Run {
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
        let args = MergeArgs {
            files: files.iter().map(|(name, _)| folder.join(name)).collect(),
            output: output.map(|name| folder.join(name)),
        };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let result = run(&args, &mut stdout, &mut stderr);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run {
            result,
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }

    #[test]
    fn two_machines_are_united_on_standard_output() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("a", lockfile("x", "b3:1", 1.0)),
            ("b", lockfile("y", "b3:1", 2.0)),
        ];
        let run = merge(folder.path(), &files, None);
        assert_eq!(run.result.unwrap(), Outcome::Done);
        let united = Lockfile::parse(&run.stdout).unwrap();
        assert_eq!(united.kernels[0].tuned.len(), 2);
        assert!(
            run.stderr.contains("1 new entry, new devices: y"),
            "{}",
            run.stderr
        );
    }

    #[test]
    fn the_output_may_be_one_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("a", lockfile("x", "b3:1", 1.0)),
            ("b", lockfile("x", "b3:1", 0.5)),
        ];
        let run = merge(folder.path(), &files, Some("a"));
        assert_eq!(run.result.unwrap(), Outcome::Done);
        assert_eq!(run.stdout, "");
        assert!(
            run.stderr.contains("0.5 us instead of 1 us"),
            "{}",
            run.stderr
        );
        assert_eq!(
            fs::read_to_string(folder.path().join("a")).unwrap(),
            files[1].1
        );
    }

    #[test]
    fn conflict_markers_are_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (lockfile("x", "b3:1", 1.0), lockfile("y", "b3:1", 2.0));
        let text = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n");
        let run = merge(folder.path(), &[("cltune.lock", text)], Some("cltune.lock"));
        assert_eq!(run.result.unwrap(), Outcome::Done);
        let united = lockfile_store::read(&folder.path().join("cltune.lock"))
            .unwrap()
            .unwrap();
        assert_eq!(united.devices.len(), 2);
    }

    #[test]
    fn different_versions_of_a_kernel_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("a", lockfile("x", "b3:1", 1.0)),
            ("b", lockfile("y", "b3:2", 2.0)),
        ];
        let run = merge(folder.path(), &files, None);
        assert_eq!(run.result.unwrap(), Outcome::Reported);
        assert_eq!(
            Lockfile::parse(&run.stdout).unwrap().kernels[0].fingerprint,
            "b3:1"
        );
        assert!(run.stderr.contains("cargo cltune check"), "{}", run.stderr);
    }

    #[test]
    fn unreadable_files_are_named_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let good = lockfile("x", "b3:1", 1.0);
        let newer = "version = 2\n".to_owned();
        let run = merge(
            folder.path(),
            &[("a", good.clone()), ("b", newer)],
            Some("a"),
        );
        let shown = run.result.unwrap_err().to_string();
        assert!(
            shown.contains("b: line 1") && shown.contains("update cltune"),
            "{shown}"
        );
        assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), good);

        let broken = "<<<<<<< HEAD\nversion = 1\n=======\nversion = x\n>>>>>>> b\n".to_owned();
        let shown = merge(folder.path(), &[("c", broken)], None)
            .result
            .unwrap_err()
            .to_string();
        assert!(shown.contains("c, their side"), "{shown}");

        let args = MergeArgs {
            files: vec![folder.path().join("none")],
            output: None,
        };
        let result = super::run(&args, &mut Vec::new(), &mut Vec::new());
        assert!(matches!(result, Err(MergeError::NoFile { .. })));
    }
}
