//! Outputs that cannot be written or would destroy what is read: refused before anything runs.

use crate::lockfile_store::folder;
use std::fs;
use std::path::{Path, PathBuf};

/// Why an output is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    /// It is an input.
    #[error(
        "{option} {}: this command reads that file, whose content would be lost; name another file",
        path.display()
    )]
    IsInput { option: &'static str, path: PathBuf },
    /// Its folder is not there.
    #[error(
        "{option} {}: there is no folder {}; make it, or name another file",
        path.display(),
        folder(path).display()
    )]
    NoFolder { option: &'static str, path: PathBuf },
    /// Another option names it.
    #[error("{option} {}: {other} writes that file; name another one", path.display())]
    IsWritten {
        option: &'static str,
        path: PathBuf,
        other: &'static str,
    },
}

/// Checks the file that an option names. Of an input that is a folder all files are read.
pub(super) fn check_output(
    option: &'static str,
    output: Option<&Path>,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), OutputError> {
    let Some(output) = output else {
        return Ok(());
    };
    let path = output.to_owned();
    if !folder(output).is_dir() {
        return Err(OutputError::NoFolder { option, path });
    }
    // What is not there yet is not read.
    let Ok(real) = fs::canonicalize(output) else {
        return Ok(());
    };
    let is_read = |input: &Path| real.ancestors().any(|place| is_same(place, input));
    if inputs.into_iter().any(|input| is_read(input.as_ref())) {
        return Err(OutputError::IsInput { option, path });
    }
    Ok(())
}

/// Checks that two options name different files, which need not be there.
pub(super) fn check_distinct(
    (option, output): (&'static str, Option<&Path>),
    (other, written): (&'static str, Option<&Path>),
) -> Result<(), OutputError> {
    let (Some(output), Some(written)) = (output, written) else {
        return Ok(());
    };
    let is_same_place =
        is_same(&folder(output), &folder(written)) && output.file_name() == written.file_name();
    if is_same_place || is_same(output, written) {
        let path = output.to_owned();
        return Err(OutputError::IsWritten {
            option,
            path,
            other,
        });
    }
    Ok(())
}

/// Whether two paths lead to the same file, which is there.
#[cfg(unix)]
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // Hard links have different paths.
    let id = |path| fs::metadata(path).map(|of| (of.dev(), of.ino()));
    id(a).is_ok_and(|a| id(b).is_ok_and(|b| a == b))
}

/// Whether two paths lead to the same file, which is there.
#[cfg(not(unix))]
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path| fs::canonicalize(path);
    real(a).is_ok_and(|a| real(b).is_ok_and(|b| a == b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(output: &Path, input: &Path) -> Option<String> {
        let checked = check_output("--output", Some(output), [input]);
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn an_output_is_no_input_by_whatever_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("inner")).unwrap();
        for name in ["input", "other", "inner/file"] {
            fs::write(path(name), "").unwrap();
        }
        fs::hard_link(path("input"), path("hard")).unwrap();
        let mut same = vec!["input", "inner/../input"];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("input", path("soft")).unwrap();
            same.extend(["hard", "soft"]);
        }
        for output in same {
            let refusal = refusal(&path(output), &path("input")).unwrap();
            let begin = format!("--output {}: this command reads", path(output).display());
            assert!(refusal.starts_with(&begin), "{refusal}");
        }
        assert_eq!(refusal(&path("other"), &path("input")), None);
        assert_eq!(refusal(&path("new"), &path("absent")), None);
        // All files of a folder are read.
        assert!(refusal(&path("inner/file"), &path("inner")).is_some());
        assert_eq!(refusal(&path("inner/new"), &path("inner")), None);
        let refusal = refusal(&path("no/folder/x"), &path("input")).unwrap();
        assert!(refusal.contains("there is no folder"), "{refusal}");
        assert!(check_output("--output", None, [path("input")]).is_ok());
    }

    #[test]
    fn two_outputs_are_different_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("inner")).unwrap();
        fs::write(path("there"), "").unwrap();
        fs::hard_link(path("there"), path("hard")).unwrap();
        let refusal = |one: &str, other: &str| {
            let (one, other) = (path(one), path(other));
            let checked = check_distinct(("--plot", Some(&one)), ("--trace", Some(&other)));
            checked.err().map(|error| error.to_string())
        };
        for (one, other) in [("new", "new"), ("inner/../new", "new"), ("there", "hard")] {
            let said = refusal(one, other).unwrap();
            let end = format!("{one}: --trace writes that file; name another one");
            assert!(
                said.starts_with("--plot ") && said.ends_with(&end),
                "{said}"
            );
        }
        assert_eq!(refusal("new", "newer"), None);
        assert_eq!(refusal("new", "inner/new"), None);
        assert!(check_distinct(("--plot", Some(&path("new"))), ("--trace", None)).is_ok());
    }
}
