//! The options that say where tunables and their results are: `--artifact`, `--lockfile` and
//! cargo's.

use super::lockfile_args::LockfileArgs;
use super::outputs::check_output;
use crate::artifact::{CargoArgs, Discovery, discover_or_read};
use crate::lockfile_store;
use crate::session::JOURNALS;
use std::error::Error;
use std::path::{Path, PathBuf};

/// The options.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SourceArgs {
    /// Take the tunables of this executable or library, with neither cargo nor sources. What `tune
    /// --artifact` wrote, such as the lockfile, is read from the current folder.
    #[arg(long, value_name = "FILE", conflicts_with_all = CargoArgs::OPTIONS)]
    artifact: Option<PathBuf>,
    #[command(flatten)]
    pub(super) lockfile: LockfileArgs,
    #[command(flatten)]
    cargo: CargoArgs,
}

impl SourceArgs {
    /// The tunables, of which there is at least one, and the lockfile that is named.
    pub(super) fn discover(&self) -> Result<(Discovery, Option<&Path>), Box<dyn Error>> {
        let lockfile = self.lockfile.existing()?;
        Ok((self.discover_to_write(lockfile, None)?, lockfile))
    }

    /// The tunables, for a command that writes `output`: it must be none of the files that say
    /// something of them.
    pub(super) fn discover_to_write(
        &self,
        lockfile: Option<&Path>,
        output: Option<&Path>,
    ) -> Result<Discovery, Box<dyn Error>> {
        let artifact = self.artifact.as_deref();
        check_output("--output", output, artifact.into_iter().chain(lockfile))?;
        let discovery = discover_or_read(artifact, lockfile, &self.cargo)?;
        let folders = discovery.packages.iter().map(|of| &of.manifest_dir);
        let lockfiles = folders.map(|folder| lockfile_store::path(lockfile, folder));
        let journals = discovery.state.join(JOURNALS);
        check_output("--output", output, lockfiles.chain([journals]))?;
        Ok(discovery)
    }
}
