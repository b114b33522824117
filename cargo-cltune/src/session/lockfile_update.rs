//! The update of the lockfile after every search. It is read again, changed and replaced, so that
//! neither new nor existing results are lost.

use super::finalists::Choice;
use super::result::Finished;
use crate::artifact::touch;
use crate::lockfile_store::{self, StoreError};
use crate::plan::Job;
use cltune_formats::declaration::Declaration;
use cltune_formats::fingerprint;
use cltune_formats::lockfile::{FILE_NAME, Lockfile, Measured, RecordError};
use std::path::{Path, PathBuf};

/// The lockfile that results are written to.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockfileTarget {
    /// `--lockfile`: one file for all packages.
    pub(crate) file: Option<PathBuf>,
}

/// What came of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// The result is in the lockfile.
    Written,
    /// The existing entry is faster and was kept.
    KeptFaster,
}

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    /// The lockfile cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The result does not fit the lockfile.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The file or its folder cannot be written to. Found before anything is measured.
    #[error(
        "cannot write {}: {source}. Name another place with --lockfile FILE",
        path.display()
    )]
    Unwritable {
        /// The lockfile.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl LockfileTarget {
    /// The lockfile for a package's folder.
    pub(crate) fn path(&self, folder: &Path) -> PathBuf {
        lockfile_store::path(self.file.as_deref(), folder)
    }

    /// The name of the lockfile without its folder.
    pub(crate) fn name(&self) -> String {
        let name = self.file.as_deref().and_then(Path::file_name);
        name.map_or_else(
            || FILE_NAME.to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// Whether results could be kept: the file can be read, and replaced.
    pub(crate) fn check(&self, folder: &Path) -> Result<(), UpdateError> {
        let path = self.path(folder);
        lockfile_store::read(&path)?;
        lockfile_store::check_writable(&path)
            .map_err(|source| UpdateError::Unwritable { path, source })
    }

    /// Puts a result into the lockfile. That of a search which ended before it measured what is
    /// there replaces none that is faster.
    pub(crate) fn update(
        &self,
        job: &Job,
        choice: &Choice,
        finished: &Finished,
        strategy: &str,
    ) -> Result<Update, UpdateError> {
        let path = self.path(&job.folder);
        let _held = lockfile_store::lock(&path);
        let existing = lockfile_store::read(&path)?;
        let created = existing.is_none();
        let mut lockfile = existing.unwrap_or_default();
        let found = choice.cost.figure(job.declaration.measure.objective);
        if !finished.is_complete()
            && entry_figure(&lockfile, job).is_some_and(|figure| figure <= found)
        {
            return Ok(Update::KeptFaster);
        }
        let measured = Measured {
            dims: job.dims.clone(),
            codes: choice.codes.clone(),
            time_us: choice.cost.time_us,
            default_us: choice.default.map(|default| default.time_us),
            evaluated: finished.evaluated,
            valid: finished.valid,
            strategy: strategy.to_string(),
            verification: Some(fingerprint::of_verification(&job.declaration)),
            measure: job.declaration.measure,
            energy_j: choice.cost.energy_j,
            default_energy_j: choice.default.and_then(|default| default.energy_j),
        };
        lockfile.record(&job.declaration.model, &job.device.info(), &measured)?;
        lockfile_store::write(&path, &lockfile)?;
        if created && self.file.is_none() {
            touch(&job.folder, &job.declaration);
        }
        Ok(Update::Written)
    }
}

/// What the objective wants least of, as a lockfile has it for this very job, measured as the job
/// measures: other results do not compare.
fn entry_figure(lockfile: &Lockfile, job: &Job) -> Option<f64> {
    let Declaration { model, measure, .. } = &job.declaration;
    let kernel = lockfile.kernel(&model.name);
    let kernel = kernel.filter(|kernel| kernel.is_current(model))?;
    let device = lockfile.device_of(&job.device.info())?;
    let entry = kernel.entry(&device.id, &job.dims)?;
    (entry.measure == *measure).then(|| entry.figure())
}
