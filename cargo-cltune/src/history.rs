//! The results of earlier sessions, from their journals and the lockfile, for reports and exports.

use crate::artifact::PackageTunables;
use crate::lockfile_store::{self, StoreError};
use crate::plan::{Filters, PlanError, problem, tunables};
use crate::session::{LeftOut, Place, Recorded, Repeatability, Session, recall};
use crate::terminal::say;
use crate::worker::DeviceRecord;
use cltune_core::device::{DeviceKey, name_matches};
use cltune_core::measure::{Caches, Measure, Objective};
use cltune_core::model::Model;
use cltune_formats::declaration::Declaration;
use cltune_formats::lockfile::{Lockfile, Tuned};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A tunable, and what was found for each problem.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) declaration: Declaration,
    /// Sorted by their sizes; none is without devices.
    pub(crate) problems: Vec<Problem>,
}

/// A problem, and what was found on each device.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The sizes, in the order of the dimensions.
    pub(crate) dims: Vec<i64>,
    /// Sorted by platform and name.
    pub(crate) devices: Vec<OnDevice>,
}

/// The results for a problem on a device.
#[derive(Debug, Default)]
pub(crate) struct OnDevice {
    pub(crate) platform: String,
    /// The name, see [`cltune_core::device::DeviceInfo::name`].
    pub(crate) device: String,
    /// The sessions that measured, the first one first.
    pub(crate) sessions: Vec<Session>,
    /// Their results, in the order of measuring; empty where only the lockfile has an entry.
    pub(crate) results: Vec<Recorded>,
    /// What repeating the last comparison of finalists would change.
    pub(crate) repeatability: Option<Repeatability>,
    /// The lockfile's entry.
    pub(crate) entry: Option<LockfileEntry>,
}

/// The lockfile's entry for the declaration as it is now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LockfileEntry {
    pub(crate) codes: Vec<i64>,
    /// Microseconds, measured in turns with the default.
    pub(crate) time_us: f64,
    /// The default's time, microseconds.
    pub(crate) default_us: Option<f64>,
    /// How many configurations are valid.
    pub(crate) valid: u128,
}

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    #[error(transparent)]
    Filter(#[from] PlanError),
    #[error(transparent)]
    Lockfile(#[from] StoreError),
    #[error(
        "nothing was measured yet: no journal in {} and no entry of a lockfile is about {kernels} as \
         declared now. Tune first, with `cargo cltune`",
        state.display()
    )]
    Nothing { state: PathBuf, kernels: String },
    #[error(
        "nothing of {kernels} was measured with {wanted}; there are results with {}: name that with {}",
        others.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        others.iter().map(|of| options(*of)).collect::<Vec<_>>().join(" or ")
    )]
    MeasuredOtherwise {
        kernels: String,
        /// How the tunables declare it, or the command line.
        wanted: String,
        others: BTreeSet<Measure>,
    },
    #[error("no result fits {filters}; there are results of {}", known.join("; "))]
    NothingLeft { filters: String, known: Vec<String> },
}

/// A filter of devices.
#[derive(Clone, Debug)]
pub(crate) enum DeviceFilter {
    /// Part of a name or platform, or `platform:name`.
    Name(String),
    /// One of this machine.
    Device(Box<DeviceRecord>),
}

impl DeviceFilter {
    /// Whether it means the device with this key.
    pub(crate) fn matches(&self, key: DeviceKey<'_>) -> bool {
        match self {
            Self::Name(filter) => name_matches(key.platform, key.name, filter),
            Self::Device(device) => device.key().is(key),
        }
    }
}

impl OnDevice {
    /// The key of the device, as far as journals of earlier releases and imported files have it.
    pub(crate) fn key(&self) -> DeviceKey<'_> {
        DeviceKey {
            platform: &self.platform,
            name: &self.device,
            vendor: "",
        }
    }

    fn new(platform: &str, device: &str) -> Self {
        Self {
            platform: platform.to_owned(),
            device: device.to_owned(),
            ..Self::default()
        }
    }

    /// The last result of each configuration that was measured, in the order of the codes.
    pub(crate) fn latest(&self) -> BTreeMap<&[i64], &Recorded> {
        let results = self.results.iter();
        results.map(|result| (&*result.codes, result)).collect()
    }

    /// Codes and time in microseconds of the configurations that work, each once.
    pub(crate) fn working(&self) -> Vec<(&[i64], f64)> {
        let latest = self.latest().into_iter();
        latest
            .filter_map(|(codes, result)| Some((codes, result.time_us?)))
            .collect()
    }

    /// The best values known: the lockfile's, or else the fastest measured.
    pub(crate) fn best(&self) -> Option<(&[i64], f64)> {
        let entry = self.entry.as_ref();
        entry
            .map(|entry| (&*entry.codes, entry.time_us))
            .or_else(|| self.fastest())
    }

    /// The fastest configuration that was measured, and its time in microseconds.
    pub(crate) fn fastest(&self) -> Option<(&[i64], f64)> {
        let working = self.working().into_iter();
        working.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The time of the declared default in microseconds.
    pub(crate) fn default_us(&self, model: &Model) -> Option<f64> {
        if let Some(entry) = &self.entry {
            return entry.default_us;
        }
        let default = model.default.as_deref()?;
        self.latest().get(default)?.time_us
    }

    /// How many different configurations were tried, and how many of them failed.
    pub(crate) fn tried(&self) -> (usize, usize) {
        let latest = self.latest();
        let failed = latest.values().filter(|of| of.time_us.is_none()).count();
        (latest.len(), failed)
    }
}

/// What is known of the packages' tunables. `lockfile` is that of all packages, where there is but
/// one.
///
/// # Errors
/// Where filters fit nothing, a lockfile cannot be read, or nothing is known.
pub(crate) fn read(
    packages: &[PackageTunables],
    state: &Path,
    lockfile: Option<&Path>,
    filters: &Filters,
    devices: &[DeviceFilter],
) -> Result<Vec<Kernel>, HistoryError> {
    let tunables = tunables(packages, &filters.kernels)?;
    let mut kernels = Vec::new();
    let mut known = BTreeSet::new();
    let mut left_out = BTreeSet::new();
    for (package, declaration) in &tunables {
        let dims = filters.problems.iter();
        let dims = dims.map(|text| problem(declaration, text));
        let dims = dims.collect::<Result<Vec<_>, _>>()?;
        let path = lockfile_store::path(lockfile, &package.manifest_dir);
        let entries = lockfile_store::read(&path)?;
        let mut found = collect(declaration, state, entries.as_ref(), &mut left_out);
        for problem in &found {
            let sizes = declaration.model.describe_problem(&problem.dims);
            let devices = problem.devices.iter().map(|on| &on.device);
            known.extend(
                devices.map(|of| format!("{} on {of} for {sizes}", declaration.model.name)),
            );
        }
        found.retain(|problem| dims.is_empty() || dims.contains(&problem.dims));
        for problem in &mut found {
            let wanted = |on: &OnDevice| devices.iter().any(|filter| filter.matches(on.key()));
            problem
                .devices
                .retain(|on| devices.is_empty() || wanted(on));
        }
        found.retain(|problem| !problem.devices.is_empty());
        if !found.is_empty() {
            kernels.push(Kernel {
                declaration: (*declaration).clone(),
                problems: found,
            });
        }
    }
    // Before an error, too: these journals may be why there is nothing.
    for journal in &left_out {
        say(format_args!("warning: {}", journal.warning()));
    }
    if !kernels.is_empty() {
        return Ok(kernels);
    }
    if known.is_empty() {
        let names = tunables.iter().map(|(_, of)| of.model.name.to_string());
        let kernels = names.collect::<Vec<_>>().join(", ");
        let others = measured_otherwise(&tunables, state, lockfile)?;
        if others.is_empty() {
            return Err(HistoryError::Nothing {
                state: state.to_owned(),
                kernels,
            });
        }
        let wanted: BTreeSet<Measure> = tunables.iter().map(|(_, of)| of.measure).collect();
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        return Err(HistoryError::MeasuredOtherwise {
            kernels,
            wanted: wanted.join("; "),
            others,
        });
    }
    let given = |flag: &str, values: &[String]| -> Vec<String> {
        values
            .iter()
            .map(|value| format!("{flag} {value}"))
            .collect()
    };
    let given = [
        given("--device", &filters.devices),
        given("--problem", &filters.problems),
    ];
    Err(HistoryError::NothingLeft {
        filters: given.concat().join(" "),
        known: known.into_iter().collect(),
    })
}

/// The options that name how something was measured.
fn options(measure: Measure) -> String {
    let objective = match measure.objective {
        Objective::Time => String::new(),
        other => format!(" --objective {other}"),
    };
    format!("`--measure {}{objective}`", measure.caches)
}

/// How else than they declare something of these tunables was measured.
fn measured_otherwise(
    tunables: &[(&PackageTunables, &Declaration)],
    state: &Path,
    lockfile: Option<&Path>,
) -> Result<BTreeSet<Measure>, StoreError> {
    let mut others = BTreeSet::new();
    for (package, declaration) in tunables {
        let path = lockfile_store::path(lockfile, &package.manifest_dir);
        let lockfile = lockfile_store::read(&path)?;
        for caches in Caches::ALL {
            for objective in Objective::ALL {
                let measure = Measure { caches, objective };
                let mut otherwise = (*declaration).clone();
                otherwise.measure = measure;
                // Warnings of journals were given.
                let found = collect(&otherwise, state, lockfile.as_ref(), &mut BTreeSet::new());
                if !found.is_empty() {
                    others.insert(measure);
                }
            }
        }
    }
    Ok(others)
}

/// The results of journals and lockfile on a model, before anything is filtered out. Journals
/// of which something is left out are added to `left_out`.
fn collect(
    declaration: &Declaration,
    state: &Path,
    lockfile: Option<&Lockfile>,
    left_out: &mut BTreeSet<LeftOut>,
) -> Vec<Problem> {
    let mut found: BTreeMap<(Vec<i64>, String, String), OnDevice> = BTreeMap::new();
    let model = &declaration.model;
    for recalled in recall(state, declaration, left_out) {
        let Place { device, problem } = recalled.place;
        let (platform, device) = (device.platform.to_string(), device.name.to_string());
        if !recalled.results.is_empty() {
            let mut on = OnDevice::new(&platform, &device);
            on.sessions = recalled.sessions;
            on.results = recalled.results;
            on.repeatability = recalled.repeatability;
            found.insert((problem, platform, device), on);
        }
    }
    let kernel = lockfile.and_then(|lockfile| Some((lockfile, lockfile.kernel(&model.name)?)));
    if let Some((lockfile, kernel)) = kernel.filter(|(_, kernel)| kernel.is_current(model)) {
        // Other times do not compare with those of the journals.
        let alike = kernel
            .tuned
            .iter()
            .filter(|tuned| tuned.measure == declaration.measure);
        for tuned in alike {
            let device = lockfile.device(&tuned.device);
            if let (Some(device), Some(entry)) = (device, entry(model, tuned)) {
                let key = (
                    tuned.dims().collect(),
                    device.device.platform.to_string(),
                    device.device.name.to_string(),
                );
                let new = || OnDevice::new(&device.device.platform, &device.device.name);
                found.entry(key).or_insert_with(new).entry = Some(entry);
            }
        }
    }
    let mut problems: Vec<Problem> = Vec::new();
    for ((dims, ..), on) in found {
        match problems.last_mut() {
            Some(problem) if problem.dims == dims => problem.devices.push(on),
            _ => problems.push(Problem {
                dims,
                devices: vec![on],
            }),
        }
    }
    problems
}

/// The entry in codes; `None` where someone wrote values that the parameters do not have.
pub(crate) fn entry(model: &Model, tuned: &Tuned) -> Option<LockfileEntry> {
    let parameters = model.parameters.iter().zip(&tuned.values);
    let codes = parameters.map(|(parameter, value)| parameter.domain.code(value));
    Some(LockfileEntry {
        codes: codes.collect::<Option<_>>()?,
        time_us: tuned.time_us,
        default_us: tuned.default_us,
        valid: tuned.valid,
    })
}

#[cfg(test)]
#[path = "../tests/unit/history.rs"]
mod tests;
