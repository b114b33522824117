//! The choice between versions of a kernel. No lockfile says when it was tuned, thus only a program
//! tells the present version from others.

use super::sources::{Source, without_unused};
use crate::artifact::Discovery;
use cltune_core::model::Model;
use cltune_formats::lockfile::{FingerprintConflict, LockKernel, Lockfile, MergeReport};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The versions of kernels that a program has.
pub(super) struct Versions {
    artifact: PathBuf,
    models: Vec<Model>,
}

impl Versions {
    pub(super) fn of(artifact: &Path, discovery: &Discovery) -> Self {
        let packages = discovery.packages.iter();
        let declarations = packages.flat_map(|package| &package.declarations);
        Self {
            artifact: artifact.to_owned(),
            models: declarations.map(|of| of.model.clone()).collect(),
        }
    }

    /// Leaves out other versions of a kernel than the program's, where a source has the program's;
    /// whether there were any. Contributions are left as they are: they replace nothing.
    pub(super) fn keep(
        &self,
        sources: &mut [Source],
        messages: &mut dyn Write,
    ) -> io::Result<bool> {
        let mut sources: Vec<&mut Source> = sources
            .iter_mut()
            .filter(|source| !source.is_contribution)
            .collect();
        let mut is_any_left_out = false;
        for model in &self.models {
            let of_model = |kernel: &&LockKernel| kernel.name == model.name;
            let present = sources.iter().find(|source| {
                let kernel = source.lockfile.kernels.iter().find(of_model);
                kernel.is_some_and(|kernel| kernel.is_current(model))
            });
            let Some(present) = present.map(|source| source.name.clone()) else {
                continue;
            };
            for source in &mut sources {
                let other = source.lockfile.kernels.iter().find(of_model);
                let Some(other) = other.filter(|kernel| !kernel.is_current(model)) else {
                    continue;
                };
                let count = other.tuned.len();
                writeln!(
                    messages,
                    "warning: {}: tuned for different versions of the kernel; kept that of {present}, which {} has \
                     ({}), left out {count} {} of {} ({})",
                    model.name,
                    self.artifact.display(),
                    model.fingerprint,
                    if count == 1 { "entry" } else { "entries" },
                    source.name,
                    other.fingerprint,
                )?;
                source
                    .lockfile
                    .kernels
                    .retain(|kernel| kernel.name != model.name);
                without_unused(&mut source.lockfile);
                is_any_left_out = true;
            }
        }
        Ok(is_any_left_out)
    }

    /// Warns of kernels of which no file has the program's version; whether there are any. Those of
    /// which the files have different ones were warned of in the `reports`.
    pub(super) fn warn_of_stale(
        &self,
        united: &Lockfile,
        reports: &[MergeReport],
        messages: &mut dyn Write,
    ) -> io::Result<bool> {
        let mut is_any_stale = false;
        for model in &self.models {
            let mut conflicts = reports.iter().flat_map(|report| &report.fingerprints);
            let Some(kernel) = united.kernel(&model.name) else {
                continue;
            };
            if kernel.is_current(model) || conflicts.any(|of| *of.kernel == *model.name) {
                continue;
            }
            let (program, count) = (self.artifact.display(), kernel.tuned.len());
            writeln!(
                messages,
                "warning: {}: stale: no file has the version of {program} ({}); kept {count} {} of another ({}), which \
                 {program} does not use: tune again",
                model.name,
                model.fingerprint,
                if count == 1 { "entry" } else { "entries" },
                kernel.fingerprint,
            )?;
            is_any_stale = true;
        }
        Ok(is_any_stale)
    }
}

/// Why a version stays that was not chosen by a program, and what to do where it is the wrong one.
/// `into` is what was united before `from`.
pub(super) fn reason(
    versions: Option<&Versions>,
    conflict: &FingerprintConflict,
    into: &str,
    from: &Source,
) -> String {
    let program = versions.and_then(|versions| {
        let mut models = versions.models.iter();
        let model = models.find(|model| model.name == conflict.kernel)?;
        Some((versions.artifact.display(), model))
    });
    match program {
        Some((program, model)) if model.fingerprint == conflict.kept => {
            format!("{into} has the version of {program}")
        }
        _ if from.is_contribution => format!(
            "{into} stays, since a contribution replaces nothing; if `cargo cltune check` calls it stale, tune again, \
             and unite the result with the contribution"
        ),
        Some((program, _)) => {
            format!("{into} comes first, and {program} has another version than both: tune again")
        }
        None => format!(
            "{into} comes first, and no lockfile says when it was tuned; if `cargo cltune check` calls it stale, unite \
             the files again with `--artifact PROGRAM`, which keeps the version of that program, or tune again"
        ),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/merge_versions.rs"]
mod tests;
