//! The files that are united, read: lockfiles, both sides of a conflict, parts, contributions.

use super::MergeError;
use crate::artifact::STATE;
use crate::fleet::{Contribution, PartFile, UnitResult, is_contribution};
use crate::lockfile_store::{self, StoreError};
use cltune_formats::lockfile::{LockDevice, LockKernel, Lockfile, split_conflict};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A lockfile and what to call it in messages.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) lockfile: Lockfile,
    /// The part of a partition that it is.
    pub(super) part: Option<PartFile>,
    /// The folder that may have its journals.
    pub(super) state: Option<PathBuf>,
    /// Whether somebody else contributed it.
    pub(super) is_contribution: bool,
}

/// A file that was named, and its text.
pub(super) struct Named {
    pub(super) path: PathBuf,
    pub(super) text: String,
    part: Option<PartFile>,
    state: Option<PathBuf>,
}

impl Named {
    /// Reads a file, or the folder of a part.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self, MergeError> {
        if path.is_dir() {
            return Self::of_folder(path);
        }
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            return Err(MergeError::OfPart {
                path: path.to_owned(),
            });
        }
        let no_file = || MergeError::NoFile {
            path: path.to_owned(),
        };
        let text = lockfile_store::read_text(path)?.ok_or_else(no_file)?;
        let state = path.parent().unwrap_or(Path::new("")).join(STATE);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = PartFile::read(&state)?;
        Ok(Self {
            path: path.to_owned(),
            text,
            // Another file may lie in the same folder.
            part: part.filter(|part| part.part.lockfile == name),
            state: state.is_dir().then_some(state),
        })
    }

    fn of_folder(path: &Path) -> Result<Self, MergeError> {
        let state = path.join(STATE);
        let no_part = || MergeError::NoPart {
            path: path.to_owned(),
        };
        let part = PartFile::read(&state)?.ok_or_else(no_part)?;
        // A part that was ended before its first result has no lockfile.
        let text = lockfile_store::read_text(&path.join(&part.part.lockfile))?;
        Ok(Self {
            path: path.to_owned(),
            text: text.unwrap_or_else(|| Lockfile::default().to_text()),
            part: Some(part),
            state: Some(state),
        })
    }

    /// The lockfile of a file, or the two of a file with conflict markers.
    ///
    /// # Errors
    /// The text is none.
    pub(super) fn sources(mut self) -> Result<Vec<Source>, MergeError> {
        let name = self.path.display().to_string();
        if is_contribution(&self.text) {
            let contribution = Contribution::parse(&self.text);
            let contribution = contribution.map_err(|source| MergeError::Contribution {
                path: self.path.clone(),
                source: Box::new(source),
            })?;
            let release = contribution.cltune;
            return Ok(vec![Source {
                name: format!("{name} (contributed by cltune {release})"),
                lockfile: contribution.lockfile,
                part: None,
                state: None,
                is_contribution: true,
            }]);
        }
        let source = |name: String, lockfile: Lockfile| Source {
            name,
            lockfile,
            part: None,
            state: self.state.clone(),
            is_contribution: false,
        };
        let Some(sides) = split_conflict(&self.text) else {
            let part = self.part.take();
            let lockfile = Lockfile::parse(&self.text).map_err(|error| StoreError::Parse {
                path: match &part {
                    Some(part) if self.path.is_dir() => self.path.join(&part.part.lockfile),
                    _ => self.path.clone(),
                },
                source: Box::new(error),
            })?;
            let (lockfile, part) = match part {
                Some(part) => {
                    let (lockfile, part) = own_results(lockfile, part);
                    (lockfile, Some(part))
                }
                None => (lockfile, None),
            };
            return Ok(vec![Source {
                part,
                ..source(name, lockfile)
            }]);
        };
        let side = |text: &str, side: &'static str| match Lockfile::parse(text) {
            Ok(lockfile) => Ok(source(format!("{name} ({side})"), lockfile)),
            Err(error) => Err(MergeError::Side {
                path: self.path.clone(),
                side,
                source: Box::new(error),
            }),
        };
        Ok(vec![
            side(&sides.ours, "our side")?,
            side(&sides.theirs, "their side")?,
        ])
    }
}

/// The results of a part's lockfile without those that are another part's to find: the lockfile may
/// have begun as a copy, for a warm start. A unit of which there is no result is not done, whatever
/// the part's file says: somebody may have removed the lockfile.
fn own_results(mut lockfile: Lockfile, mut file: PartFile) -> (Lockfile, PartFile) {
    let own = file.own();
    let units = file.part.units.iter().enumerate();
    let positions: HashMap<_, usize> = units
        .map(|(at, unit)| ((&*unit.kernel, unit.key(), unit.dims().to_vec()), at))
        .collect();
    let is_done = |at: usize| own[at] && file.outcomes.get(&at) == Some(&UnitResult::Tuned);
    let mut there = HashSet::<usize>::new();
    let devices = &lockfile.devices;
    for kernel in &mut lockfile.kernels {
        let name = &kernel.name;
        kernel.tuned.retain(|tuned| {
            let device = devices.iter().find(|device| device.id == tuned.device);
            let at = device.and_then(|device| {
                let key = (&**name, device.device.key(), tuned.dims().collect());
                positions.get(&key)
            });
            there.extend(at);
            at.is_none_or(|at| is_done(*at))
        });
    }
    without_unused(&mut lockfile);
    let is_there =
        |at: &usize, outcome: &UnitResult| *outcome != UnitResult::Tuned || there.contains(at);
    file.outcomes.retain(|at, outcome| is_there(at, outcome));
    (lockfile, file)
}

/// Leaves out kernels without entries, and devices that no entry is for.
pub(super) fn without_unused(lockfile: &mut Lockfile) {
    lockfile.kernels.retain(|kernel| !kernel.tuned.is_empty());
    let kernels = &lockfile.kernels;
    let is_used = |device: &LockDevice| {
        let mut entries = kernels.iter().flat_map(|kernel| &kernel.tuned);
        entries.any(|tuned| tuned.device == device.id)
    };
    lockfile.devices.retain(is_used);
}

/// What a contribution has and `known` does not: it is no better than what the maintainers of that
/// lockfile have measured. And how many entries were left out.
pub(super) fn new_entries(contributed: &Lockfile, known: &Lockfile) -> (Lockfile, usize) {
    let mut new = contributed.clone();
    let mut left_out = 0;
    let is_known = |kernel: &LockKernel, device: &str, dims: Vec<i64>| {
        let device = contributed.device(device)?.device.key();
        let mut devices = known.devices.iter();
        let id = &devices.find(|of| of.device.key().is(device))?.id;
        let entry = known.kernel(&kernel.name)?.entry(id, &dims)?;
        Some(entry)
    };
    for (kernel, from) in new.kernels.iter_mut().zip(&contributed.kernels) {
        let before = kernel.tuned.len();
        let entries = &mut kernel.tuned;
        entries.retain(|tuned| is_known(from, &tuned.device, tuned.dims().collect()).is_none());
        left_out += before - entries.len();
    }
    without_unused(&mut new);
    (new, left_out)
}
