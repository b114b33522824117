//! Findings: entries that one package's lockfile lacks, or that are stale.

use cltune_core::measure::Measure;
use cltune_core::model::assignments;
use cltune_formats::declaration::Declaration;
use cltune_formats::fingerprint;
use cltune_formats::lockfile::{LockDevice, LockKernel, Lockfile};
use std::collections::BTreeMap;
use std::fmt;

/// Something that a lockfile should have and has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// There is no lockfile, though there are tunables.
    NoLockfile,
    /// The lockfile cannot be understood.
    Unreadable {
        /// The line.
        line: usize,
        /// The mistake, its line, and the remedy.
        message: String,
    },
    /// A tunable without any entry.
    NotTuned {
        /// The tunable.
        kernel: String,
    },
    /// Entries of an earlier version of the tunable; they are not used.
    Stale {
        /// The tunable.
        kernel: String,
        /// How many entries.
        entries: usize,
    },
    /// An entry with a value that its parameter cannot take.
    Damaged {
        /// The tunable.
        kernel: String,
        /// The entry and the value, and the remedy.
        message: String,
    },
    /// Entries whose results were verified in another way than the tunable declares now. They are
    /// used.
    VerifiedOtherwise {
        /// The tunable.
        kernel: String,
        /// How many entries.
        entries: usize,
    },
    /// Entries that were measured with caches in another state, or chosen by another objective, than
    /// the tunable declares now. They are used.
    MeasuredOtherwise {
        /// The tunable.
        kernel: String,
        /// How many entries.
        entries: usize,
        /// How they were measured and chosen.
        measured: Measure,
        /// How the tunable declares it.
        declared: Measure,
    },
    /// A device of the lockfile on which a declared problem was not tuned.
    Lacks {
        /// The tunable.
        kernel: String,
        /// The device's id.
        device: String,
        /// Names and sizes of the problem's dimensions.
        problem: Vec<(String, i64)>,
    },
}

/// What a lockfile lacks: an entry for every tunable as it is now, on every device that the file
/// names, for every declared problem. Sorted by tunable.
pub(crate) fn findings(lockfile: Option<&Lockfile>, declarations: &[Declaration]) -> Vec<Finding> {
    let Some(lockfile) = lockfile else {
        // A package without tunables needs no lockfile.
        return if declarations.is_empty() {
            Vec::new()
        } else {
            vec![Finding::NoLockfile]
        };
    };
    let mut sorted: Vec<&Declaration> = declarations.iter().collect();
    sorted.sort_by(|a, b| a.model.name.cmp(&b.model.name));
    sorted
        .into_iter()
        .flat_map(|declaration| of_tunable(lockfile, declaration))
        .collect()
}

fn of_tunable(lockfile: &Lockfile, declaration: &Declaration) -> Vec<Finding> {
    let model = &declaration.model;
    let name = || model.name.to_string();
    let Some(kernel) = lockfile
        .kernel(&model.name)
        .filter(|kernel| !kernel.tuned.is_empty())
    else {
        let devices = &lockfile.devices;
        let wanted = |device: &LockDevice| {
            let limit = |field| device.limit(field);
            declaration.problems_known_on(&limit).next().is_some()
        };
        return if devices.is_empty() || devices.iter().any(wanted) {
            vec![Finding::NotTuned { kernel: name() }]
        } else {
            Vec::new()
        };
    };
    if !kernel.is_current(model) {
        return vec![Finding::Stale {
            kernel: name(),
            entries: kernel.tuned.len(),
        }];
    }
    let damaged = lockfile.table(model).err();
    let damaged = damaged.map(|error| Finding::Damaged {
        kernel: name(),
        message: error.to_string(),
    });
    damaged
        .into_iter()
        .chain(verified_otherwise(kernel, declaration))
        .chain(measured_otherwise(kernel, declaration))
        .chain(missing_entries(lockfile, kernel, declaration))
        .collect()
}

/// Releases that did not write how they verified say nothing of it.
fn verified_otherwise(kernel: &LockKernel, declaration: &Declaration) -> Option<Finding> {
    let now = fingerprint::of_verification(declaration);
    let verified = kernel.tuned.iter().flat_map(|entry| &entry.verification);
    let entries = verified.filter(|then| **then != now).count();
    (entries > 0).then(|| Finding::VerifiedOtherwise {
        kernel: kernel.name.clone(),
        entries,
    })
}

fn measured_otherwise(kernel: &LockKernel, declaration: &Declaration) -> Vec<Finding> {
    let declared = declaration.measure;
    let mut others: BTreeMap<Measure, usize> = BTreeMap::new();
    for entry in kernel.tuned.iter().filter(|of| of.measure != declared) {
        *others.entry(entry.measure).or_default() += 1;
    }
    let others = others.into_iter();
    let findings = others.map(|(measured, entries)| Finding::MeasuredOtherwise {
        kernel: kernel.name.clone(),
        entries,
        measured,
        declared,
    });
    findings.collect()
}

fn missing_entries(
    lockfile: &Lockfile,
    kernel: &LockKernel,
    declaration: &Declaration,
) -> Vec<Finding> {
    let dimensions = &declaration.model.dimensions;
    let mut missing = Vec::new();
    for device in &lockfile.devices {
        let limit = |field| device.limit(field);
        for problem in declaration.problems_known_on(&limit) {
            if kernel.entry(&device.id, problem).is_none() {
                let names = dimensions.iter().map(ToString::to_string);
                missing.push(Finding::Lacks {
                    kernel: kernel.name.clone(),
                    device: device.id.clone(),
                    problem: names.zip(problem.iter().copied()).collect(),
                });
            }
        }
    }
    missing
}

impl Finding {
    /// The word for it in JSON.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::NoLockfile => "no-lockfile",
            Self::Unreadable { .. } => "unreadable",
            Self::NotTuned { .. } => "not-tuned",
            Self::Stale { .. } => "stale",
            Self::Damaged { .. } => "damaged",
            Self::VerifiedOtherwise { .. } => "verified-otherwise",
            Self::MeasuredOtherwise { .. } => "measured-otherwise",
            Self::Lacks { .. } => "lacks",
        }
    }

    /// Whether something was never tuned, and nothing that was is wrong.
    pub(crate) const fn is_missing(&self) -> bool {
        matches!(
            self,
            Self::NoLockfile | Self::NotTuned { .. } | Self::Lacks { .. }
        )
    }

    /// Whether results are used all the same, and may well be what tuning again finds.
    pub(crate) const fn is_warning(&self) -> bool {
        matches!(self, Self::VerifiedOtherwise { .. })
    }

    /// Whether results are used all the same.
    pub(crate) const fn is_used(&self) -> bool {
        matches!(self, Self::MeasuredOtherwise { .. }) || self.is_warning()
    }

    /// The tunable it is about, unless it is about the whole file.
    pub(crate) fn kernel(&self) -> Option<&str> {
        match self {
            Self::NoLockfile | Self::Unreadable { .. } => None,
            Self::NotTuned { kernel }
            | Self::Stale { kernel, .. }
            | Self::Damaged { kernel, .. }
            | Self::VerifiedOtherwise { kernel, .. }
            | Self::MeasuredOtherwise { kernel, .. }
            | Self::Lacks { kernel, .. } => Some(kernel),
        }
    }
}

fn counted(entries: usize) -> String {
    if entries == 1 {
        "1 entry".to_owned()
    } else {
        format!("{entries} entries")
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLockfile => f.write_str("there is no lockfile"),
            Self::NotTuned { kernel } => write!(f, "{kernel}: never tuned"),
            Self::Stale { kernel, entries } => {
                let entries = counted(*entries);
                write!(
                    f,
                    "{kernel}: stale: it changed since it was tuned ({entries} not used)"
                )
            }
            Self::VerifiedOtherwise { kernel, entries } => {
                let entries = counted(*entries);
                write!(
                    f,
                    "{kernel}: {entries} verified by other rules than today's, since its reference, tolerance, inputs \
                     or draws have changed; `cargo cltune verify --kernel {kernel}` says whether they hold, \
                     `cargo cltune --kernel {kernel}` tunes again"
                )
            }
            Self::MeasuredOtherwise {
                kernel,
                entries,
                measured,
                declared,
            } => {
                let entries = counted(*entries);
                let how = if measured.objective == declared.objective {
                    format!(
                        "measured with {} caches, and it declares otherwise now",
                        measured.caches
                    )
                } else {
                    format!(
                        "chosen by {}, and it declares {} now",
                        measured.objective, declared.objective
                    )
                };
                write!(
                    f,
                    "{kernel}: {entries} {how}: another configuration may be the best (these values are used all the \
                     same)"
                )
            }
            Self::Unreadable { message, .. } | Self::Damaged { message, .. } => {
                f.write_str(message)
            }
            Self::Lacks {
                kernel,
                device,
                problem,
            } => {
                write!(f, "{kernel}: not tuned on {device}")?;
                if problem.is_empty() {
                    return Ok(());
                }
                let sizes = problem.iter().map(|(name, size)| (name, size));
                write!(f, " for {}", assignments(sizes))
            }
        }
    }
}
