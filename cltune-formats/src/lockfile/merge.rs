//! Uniting files that were tuned on different machines.
//!
//! The result does not depend on which file is merged into which, except where two files hold
//! entries for different versions of a kernel: no file says which version is the current one. The
//! entries of the file that is merged into stay, and the report says what was left out. The same
//! holds for entries whose times were measured with caches in different states, which do not
//! compare.

use super::device_id::Ids;
use super::write::problem_text;
use super::{LockDevice, LockKernel, Lockfile, Tuned};
use cltune_core::measure::{Measure, Objective};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// What a merge did, beyond what both files agreed on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeReport {
    /// Ids of devices that were only in the other file.
    pub added_devices: Vec<String>,
    /// Devices of the file that is merged into whose id another device has now, too: old and new
    /// id.
    pub renamed_devices: Vec<(String, String)>,
    /// How many entries were only in the other file.
    pub added_entries: usize,
    /// Entries that both files have with different content: the faster one stays.
    pub results: Vec<ResultConflict>,
    /// Kernels of which the files hold different versions.
    pub fingerprints: Vec<FingerprintConflict>,
    /// Entries that both files have, of which different things were measured.
    pub measures: Vec<MeasureConflict>,
}

/// An entry that both files have, with different content.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultConflict {
    /// The kernel.
    pub kernel: String,
    /// The device's id.
    pub device: String,
    /// The problem, as the file writes it.
    pub problem: String,
    /// The time of the entry that stays, in microseconds.
    pub kept_us: f64,
    /// The time of the entry that was left out, in microseconds.
    pub dropped_us: f64,
    /// Whether the entry that stays is the other file's.
    pub kept_other: bool,
    /// The objective of both, by which that one is better.
    pub objective: Objective,
}

/// A kernel of which two files hold different versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FingerprintConflict {
    /// The kernel.
    pub kernel: String,
    /// The fingerprint that stays: that of the file that is merged into.
    pub kept: String,
    /// How many entries stay.
    pub kept_entries: usize,
    /// The other file's fingerprint.
    pub dropped: String,
    /// How many entries were left out.
    pub dropped_entries: usize,
}

/// An entry that both files have, with results that do not compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureConflict {
    /// The kernel.
    pub kernel: String,
    /// The device's id.
    pub device: String,
    /// The problem, as the file writes it.
    pub problem: String,
    /// What was measured of the entry that stays: that of the file that is merged into.
    pub kept: Measure,
    /// What the other file's was.
    pub dropped: Measure,
}

impl Lockfile {
    /// Takes over what another file holds.
    ///
    /// - The same device in both: the description that is more complete, then of the newer driver.
    /// - The same kernel with the same fingerprint: every entry of both; of two entries for the
    ///   same device and problem the one that their objective prefers; where they were measured with
    ///   caches in different states or chosen by different objectives, that of `self`, and the
    ///   report names it.
    /// - The same kernel with different fingerprints: the entries of `self`; the report names the
    ///   kernel.
    pub fn merge(&mut self, other: &Self) -> MergeReport {
        let mut report = MergeReport::default();
        let devices = unite_devices(&self.devices, &other.devices);
        let our_ids = id_changes(&self.devices, &devices);
        let their_ids = id_changes(&other.devices, &devices);

        let known: BTreeSet<&str> = our_ids.values().copied().collect();
        report.added_devices = devices
            .iter()
            .map(|device| device.id.clone())
            .filter(|id| !known.contains(id.as_str()))
            .collect();
        report.renamed_devices = our_ids
            .iter()
            .filter(|(old, new)| old != new)
            .map(|(old, new)| ((*old).to_owned(), (*new).to_owned()))
            .collect();

        for kernel in &mut self.kernels {
            rename_devices(kernel, &our_ids);
        }
        let names = self.kernels.iter().map(|kernel| kernel.name.clone());
        let mut positions: HashMap<String, usize> = names.zip(0..).collect();
        for theirs in &other.kernels {
            let mut theirs = theirs.clone();
            rename_devices(&mut theirs, &their_ids);
            let next = self.kernels.len();
            let position = *positions.entry(theirs.name.clone()).or_insert(next);
            match self.kernels.get_mut(position) {
                None => {
                    report.added_entries += theirs.tuned.len();
                    self.kernels.push(theirs);
                }
                Some(ours) => ours.merge(theirs, &mut report),
            }
        }
        self.devices = devices;
        self.sort();
        report
    }
}

impl LockKernel {
    fn merge(&mut self, mut theirs: Self, report: &mut MergeReport) {
        if !self.is_same_version(&mut theirs) {
            report.fingerprints.push(FingerprintConflict {
                kernel: theirs.name,
                kept: self.fingerprint.clone(),
                kept_entries: self.tuned.len(),
                dropped: theirs.fingerprint,
                dropped_entries: theirs.tuned.len(),
            });
            return;
        }
        let key = |tuned: &Tuned| (tuned.device.clone(), tuned.dims().collect::<Vec<_>>());
        let mut positions: HashMap<_, usize> = self.tuned.iter().map(key).zip(0..).collect();
        for theirs in theirs.tuned {
            let next = self.tuned.len();
            let position = *positions.entry(key(&theirs)).or_insert(next);
            let Some(ours) = self.tuned.get_mut(position) else {
                report.added_entries += 1;
                self.tuned.push(theirs);
                continue;
            };
            if *ours == theirs {
                continue;
            }
            if ours.measure != theirs.measure {
                report.measures.push(MeasureConflict {
                    kernel: self.name.clone(),
                    device: ours.device.clone(),
                    problem: problem_text(&ours.problem),
                    kept: ours.measure,
                    dropped: theirs.measure,
                });
                continue;
            }
            let kept_other = preference(&theirs, ours).is_lt();
            let dropped = if kept_other {
                std::mem::replace(ours, theirs)
            } else {
                theirs
            };
            report.results.push(ResultConflict {
                kernel: self.name.clone(),
                device: ours.device.clone(),
                problem: problem_text(&ours.problem),
                kept_us: ours.time_us,
                dropped_us: dropped.time_us,
                kept_other,
                objective: ours.measure.objective,
            });
        }
    }

    /// Whether the other file's entries are for the same version of the kernel. Equal fingerprints
    /// mean equal parameters and dimensions, unless a file was edited by hand.
    fn is_same_version(&self, theirs: &mut Self) -> bool {
        let mut entries = theirs.tuned.iter_mut();
        self.fingerprint == theirs.fingerprint
            && self.params == theirs.params
            && self
                .tuned
                .first()
                .is_none_or(|first| entries.all(|tuned| tuned.order_dimensions_like(first)))
    }
}

/// `Less` when `a` is to stay: the one that its objective prefers; equal times are decided by the
/// rest of the content, so that the order of files does not matter.
fn preference(a: &Tuned, b: &Tuned) -> Ordering {
    let default = |figure: Option<f64>| figure.unwrap_or(f64::INFINITY);
    a.figure()
        .total_cmp(&b.figure())
        .then_with(|| a.time_us.total_cmp(&b.time_us))
        .then_with(|| b.evaluated.cmp(&a.evaluated))
        .then_with(|| a.values.cmp(&b.values))
        .then_with(|| default(a.default_us).total_cmp(&default(b.default_us)))
        .then_with(|| default(a.default_energy_j).total_cmp(&default(b.default_energy_j)))
        .then_with(|| b.valid.cmp(&a.valid))
        .then_with(|| a.strategy.cmp(&b.strategy))
        .then_with(|| b.verification.cmp(&a.verification))
}

/// Every device of both lists once, with ids that are unique.
fn unite_devices(ours: &[LockDevice], theirs: &[LockDevice]) -> Vec<LockDevice> {
    let mut united: BTreeMap<_, LockDevice> = BTreeMap::new();
    for device in ours.iter().chain(theirs) {
        match united.get_mut(&device.device.key()) {
            None => {
                united.insert(device.device.key(), device.clone());
            }
            Some(known) => {
                let id = shorter(&known.id, &device.id).to_owned();
                if description_order(device, known).is_gt() {
                    *known = device.clone();
                }
                known.id = id;
            }
        }
    }
    // Different devices with the same id: the first by identity keeps it, the others get a new one
    // once all the ids that are kept are known.
    let mut kept: Vec<LockDevice> = Vec::with_capacity(united.len());
    let (mut ids, mut homeless) = (Ids::default(), Vec::new());
    for device in united.into_values() {
        if ids.take(&device.id) {
            kept.push(device);
        } else {
            homeless.push(device);
        }
    }
    for device in homeless {
        let id = ids.free(&device.device.name, &device.device.platform);
        kept.push(LockDevice { id, ..device });
    }
    kept
}

fn shorter<'a>(a: &'a str, b: &'a str) -> &'a str {
    if (a.len(), a) <= (b.len(), b) { a } else { b }
}

/// Orders two descriptions of one device: `Greater` is more complete, then of a newer driver. The
/// remaining comparisons only make the choice independent of the order of files.
fn description_order(a: &LockDevice, b: &LockDevice) -> Ordering {
    let limits = |device: &LockDevice| {
        [
            device.device.compute_units,
            device.device.max_work_group_size,
            device.device.local_mem_size,
        ]
    };
    let known = |device: &LockDevice| {
        limits(device).iter().filter(|limit| **limit != 0).count()
            + usize::from(!device.driver.is_empty())
    };
    known(a)
        .cmp(&known(b))
        .then_with(|| version_numbers(&a.driver).cmp(&version_numbers(&b.driver)))
        .then_with(|| a.driver.cmp(&b.driver))
        .then_with(|| limits(a).cmp(&limits(b)))
        .then_with(|| a.device.device_type.cmp(&b.device.device_type))
}

/// The numbers in a version's text, so that 580.9 comes before 580.10.
fn version_numbers(version: &str) -> Vec<u64> {
    version
        .split(|character: char| !character.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(u64::MAX))
        .collect()
}

/// The id in `united` of every device of one file, by its id there.
fn id_changes<'a>(
    devices: &'a [LockDevice],
    united: &'a [LockDevice],
) -> BTreeMap<&'a str, &'a str> {
    let identities = united
        .iter()
        .map(|device| (device.device.key(), &*device.id));
    let ids: HashMap<_, &str> = identities.collect();
    let change = |device: &'a LockDevice| Some((&*device.id, *ids.get(&device.device.key())?));
    devices.iter().filter_map(change).collect()
}

fn rename_devices(kernel: &mut LockKernel, ids: &BTreeMap<&str, &str>) {
    for tuned in &mut kernel.tuned {
        if let Some(id) = ids.get(tuned.device.as_str()) {
            tuned.device = (*id).to_owned();
        }
    }
}

impl fmt::Display for FingerprintConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: tuned for different versions of the kernel; kept {} ({}), left out {} ({})",
            self.kernel,
            entries(self.kept_entries),
            self.kept,
            entries(self.dropped_entries),
            self.dropped,
        )
    }
}

impl fmt::Display for MeasureConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} on {} for {}: results that were measured or chosen differently do not compare; kept the entry that \
             was measured with {}, left out the one measured with {}",
            self.kernel, self.device, self.problem, self.kept, self.dropped,
        )
    }
}

impl fmt::Display for ResultConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} on {} for {}: kept the {} entry, {} us instead of {} us",
            self.kernel,
            self.device,
            self.problem,
            match self.objective {
                Objective::Time => "faster",
                Objective::Energy => "more efficient",
                Objective::EnergyDelay => "better (by energy-delay)",
            },
            self.kept_us,
            self.dropped_us,
        )
    }
}

fn entries(count: usize) -> String {
    if count == 1 {
        "1 entry".to_owned()
    } else {
        format!("{count} entries")
    }
}
