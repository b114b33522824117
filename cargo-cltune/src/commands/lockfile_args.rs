//! The option `--lockfile` of the commands that read lockfiles.

use std::path::{Path, PathBuf};

/// The option.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LockfileArgs {
    /// Read this lockfile instead of each package's cltune.lock: the FILE of `tune --lockfile`.
    #[arg(long, value_name = "FILE")]
    lockfile: Option<PathBuf>,
}

/// The named lockfile is not there. (A package's own need not be: nothing was tuned yet.)
#[derive(Debug, thiserror::Error)]
#[error("--lockfile: there is no file {}; `cargo cltune tune --lockfile FILE` writes one", path.display())]
pub(crate) struct NoLockfile {
    path: PathBuf,
}

impl LockfileArgs {
    /// The file, if one is named, which is there.
    ///
    /// # Errors
    /// There is no such file.
    pub(crate) fn existing(&self) -> Result<Option<&Path>, NoLockfile> {
        match self.lockfile.as_deref() {
            Some(path) if !path.exists() => Err(NoLockfile {
                path: path.to_owned(),
            }),
            named => Ok(named),
        }
    }

    /// The file, if one is named, which need not be there.
    pub(super) fn path(&self) -> Option<&Path> {
        self.lockfile.as_deref()
    }
}

#[cfg(test)]
impl LockfileArgs {
    pub(crate) fn named(path: &Path) -> Self {
        Self {
            lockfile: Some(path.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lockfile_that_was_named_has_to_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m2.lock");
        let args = LockfileArgs::named(&path);
        let error = args.existing().unwrap_err().to_string();
        assert!(error.contains("m2.lock"), "{error}");
        std::fs::write(&path, "").unwrap();
        assert_eq!(args.existing().unwrap(), Some(&*path));
        assert_eq!(LockfileArgs::default().existing().unwrap(), None);
    }
}
