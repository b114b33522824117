//! The plan of a session: tunables, devices and problems, less what the filters leave out, and
//! which devices are tuned at the same time.

use crate::artifact::PackageTunables;
use crate::kernel_filter::KernelFilter;
use crate::worker::DeviceRecord;
use cltune_core::model::{ArgumentKind, ScalarType};
use cltune_formats::declaration::Declaration;
use std::num::{IntErrorKind, ParseIntError};
use std::path::PathBuf;

/// The filters of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    /// `--kernel`: parts of names.
    pub(crate) kernels: Vec<String>,
    /// `--device`: see [`DeviceInfo::matches`](cltune_core::device::DeviceInfo::matches).
    pub(crate) devices: Vec<String>,
    /// `--problem`: `n=1024,m=5`; replaces the declared problems.
    pub(crate) problems: Vec<String>,
}

/// One kernel, device and problem.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The folder of the package, where its lockfile lies.
    pub(crate) folder: PathBuf,
    /// The tunable.
    pub(crate) declaration: Declaration,
    /// The device.
    pub(crate) device: DeviceRecord,
    /// Others of the same kind, which share its search.
    pub(crate) twins: Vec<DeviceRecord>,
    /// The problem, in the order of the dimensions.
    pub(crate) dims: Vec<i64>,
}

impl Job {
    /// `n = 1024, m = 5`; empty for a kernel without dimensions.
    pub(crate) fn problem(&self) -> String {
        self.declaration.model.describe_sizes(&self.dims)
    }

    /// A configuration as text: `WG = 64, WPT = 2`.
    pub(crate) fn configuration(&self, codes: &[i64]) -> String {
        self.declaration.model.describe(codes)
    }
}

/// Why there is nothing to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PlanError {
    /// No tunable has such a name.
    #[error("no tunable has `{filter}` in its name; there are: {}", known.join(", "))]
    NoKernel {
        /// The filter.
        filter: String,
        /// The tunables' names.
        known: Vec<String>,
    },
    /// `--device` matches nothing.
    #[error(
        "no device matches --device {filter}; there are: {}. Give an index or a part of a name",
        known.join(", ")
    )]
    NoDevice {
        /// The filter.
        filter: String,
        /// The devices.
        known: Vec<String>,
    },
    /// `--problem` cannot be understood or fits no tunable.
    #[error("--problem {text}: {reason}")]
    Problem {
        /// The option's value.
        text: String,
        /// The mistake in it.
        reason: String,
    },
}

/// The jobs of a session, in a stable order.
pub(crate) fn plan(
    packages: &[PackageTunables],
    devices: &[DeviceRecord],
    filters: &Filters,
) -> Result<Vec<Job>, PlanError> {
    let tunables = tunables(packages, &filters.kernels)?;
    let devices = kinds(choose_devices(devices, &filters.devices)?);
    let mut jobs = Vec::new();
    for (package, declaration) in tunables {
        for (device, twins) in &devices {
            for dims in problems(declaration, device, &filters.problems)? {
                jobs.push(Job {
                    folder: package.manifest_dir.clone(),
                    declaration: declaration.clone(),
                    device: device.clone(),
                    twins: twins.clone(),
                    dims,
                });
            }
        }
    }
    Ok(jobs)
}

/// The tunables that one of the filters means; all where there is no filter.
pub(crate) fn tunables<'a>(
    packages: &'a [PackageTunables],
    filters: &[String],
) -> Result<Vec<(&'a PackageTunables, &'a Declaration)>, PlanError> {
    check_kernel_filters(packages, filters)?;
    let wanted = KernelFilter::new(filters, packages);
    let all = packages.iter().flat_map(|package| {
        let declarations = package.declarations.iter();
        declarations.map(move |found| (package, found))
    });
    Ok(all
        .filter(|(_, found)| wanted.means(&found.model.name))
        .collect())
}

/// The first device of each kind, with the others. CPUs are all the same cores.
pub(crate) fn kinds(devices: Vec<DeviceRecord>) -> Vec<(DeviceRecord, Vec<DeviceRecord>)> {
    let mut kinds: Vec<(DeviceRecord, Vec<DeviceRecord>)> = Vec::new();
    for device in devices {
        let mut known = kinds.iter_mut();
        match known.find(|(first, _)| first.is_twin(&device)) {
            Some((first, _)) if first.is_cpu() => {}
            Some((_, twins)) => twins.push(device),
            None => kinds.push((device, Vec::new())),
        }
    }
    kinds
}

/// Whether every filter matches a tunable.
pub(crate) fn check_kernel_filters(
    packages: &[PackageTunables],
    filters: &[String],
) -> Result<(), PlanError> {
    let declarations = || packages.iter().flat_map(|package| &package.declarations);
    let names: Vec<String> = declarations()
        .map(|found| found.model.name.to_string())
        .collect();
    let unmatched = |filter: &&String| !names.iter().any(|name| name.contains(filter.as_str()));
    match filters.iter().find(unmatched) {
        Some(filter) => Err(PlanError::NoKernel {
            filter: filter.clone(),
            known: names,
        }),
        None => Ok(()),
    }
}

/// The devices that the filters leave in.
pub(crate) fn choose_devices(
    devices: &[DeviceRecord],
    filters: &[String],
) -> Result<Vec<DeviceRecord>, PlanError> {
    if filters.is_empty() {
        return Ok(devices.to_vec());
    }
    let matches = |device: &DeviceRecord, filter: &str| device.info().matches(device.index, filter);
    for filter in filters {
        if !devices.iter().any(|device| matches(device, filter)) {
            let name = |device: &DeviceRecord| {
                format!("{}: {} ({})", device.index, device.name, device.platform)
            };
            return Err(PlanError::NoDevice {
                filter: filter.clone(),
                known: devices.iter().map(name).collect(),
            });
        }
    }
    let wanted = |device: &&DeviceRecord| filters.iter().any(|filter| matches(device, filter));
    Ok(devices.iter().filter(wanted).cloned().collect())
}

/// The device that is likely to be tuned first, whatever the kernels are: see [`rounds`].
pub(crate) fn tuned_first(devices: &[DeviceRecord], filters: &[String]) -> Option<DeviceRecord> {
    let mut chosen = choose_devices(devices, filters).ok()?;
    chosen.sort_by_key(DeviceRecord::is_cpu);
    chosen.into_iter().next()
}

/// The problems that are declared for a device, or those of the command line.
fn problems(
    declaration: &Declaration,
    device: &DeviceRecord,
    given: &[String],
) -> Result<Vec<Vec<i64>>, PlanError> {
    if given.is_empty() {
        let limits = device.info().limits;
        return Ok(declaration.problems_on(&limits).cloned().collect());
    }
    given
        .iter()
        .map(|text| problem(declaration, text))
        .collect()
}

/// The sizes of `n=1024,m=5` in the order of a declaration's dimensions.
pub(crate) fn problem(declaration: &Declaration, text: &str) -> Result<Vec<i64>, PlanError> {
    let model = &declaration.model;
    let wrong = |reason: String| PlanError::Problem {
        text: text.to_string(),
        reason,
    };
    let mut dims = vec![None; model.dimensions.len()];
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let (name, size) = part
            .split_once('=')
            .ok_or_else(|| wrong(format!("`{part}` is not of the form `n=1024`")))?;
        let position = model
            .dimensions
            .iter()
            .position(|dimension| dimension == name.trim())
            .ok_or_else(|| {
                let known = model.dimensions.join(", ");
                wrong(format!(
                    "`{}` has no dimension `{}`; it has: {known} (name the tunables that have it)",
                    model.name,
                    name.trim()
                ))
            })?;
        let size = size.trim().replace('_', "").parse();
        let size: i64 = size.map_err(|error: ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                wrong(format!("`{part}` does not fit into 64 bits"))
            }
            _ => wrong(format!("`{part}` needs an integer")),
        })?;
        if let Some(scalar) = scalar_of(declaration, position) {
            let (least, most) = scalar.integers();
            if size < least || size > most {
                return Err(wrong(format!(
                    "{size} does not fit into `{}`, the type of `{}` of `{}`",
                    scalar.rust_name(),
                    name.trim(),
                    model.name
                )));
            }
        }
        if dims[position].replace(size).is_some() {
            return Err(wrong(format!("`{}` is given twice", name.trim())));
        }
    }
    let missing = dims.iter().position(Option::is_none);
    if let Some(position) = missing {
        return Err(wrong(format!(
            "`{}` of `{}` is missing (name the tunables without it)",
            model.dimensions[position], model.name
        )));
    }
    Ok(dims.into_iter().flatten().collect())
}

/// The type of a problem dimension, where a call passes it as an argument.
fn scalar_of(declaration: &Declaration, position: usize) -> Option<ScalarType> {
    let mut arguments = declaration.model.arguments.iter();
    arguments.find_map(|argument| match argument.kind {
        ArgumentKind::Scalar {
            scalar,
            dimension: Some(dimension),
        } if usize::from(dimension) == position => scalar.as_scalar(),
        _ => None,
    })
}

/// The searches of one device, in their order.
pub(crate) type Searches = Vec<Job>;

/// The rounds of a session, one after another; the devices of a round are tuned side by side.
///
/// GPUs and accelerators do not disturb each other, so they share a round. A CPU shares its cores
/// with all that builds, so it has a round of its own. The same holds for a device that may be the
/// same hardware through another driver: one of the same vendor on another platform.
pub(crate) fn rounds(jobs: Vec<Job>) -> Vec<Vec<Searches>> {
    let mut devices: Vec<Searches> = Vec::new();
    for job in jobs {
        let index = job.device.index;
        match devices.iter_mut().find(|of| of[0].device.index == index) {
            Some(searches) => searches.push(job),
            None => devices.push(vec![job]),
        }
    }
    let mut rounds: Vec<Vec<Searches>> = Vec::new();
    // CPUs come last: what they share with the others is busy till then.
    devices.sort_by_key(|searches| searches[0].device.is_cpu());
    for searches in devices {
        let device = &searches[0].device;
        let fits = |round: &&mut Vec<Searches>| {
            let mut others = round.iter();
            others.all(|other| !disturb(&other[0].device, device))
        };
        match rounds.iter_mut().find(fits) {
            Some(round) => round.push(searches),
            None => rounds.push(vec![searches]),
        }
    }
    rounds
}

/// Whether measuring on one may disturb measuring on the other.
fn disturb(a: &DeviceRecord, b: &DeviceRecord) -> bool {
    let maybe_one = a.platform != b.platform && a.vendor == b.vendor;
    a.is_cpu() || b.is_cpu() || maybe_one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use cltune_core::model::{Argument, ElementType};

    #[test]
    fn a_problem_has_each_dimension_once() {
        let declaration = samples::declaration("app::saxpy", "b3:0", &[1024]);
        let problem = |text: &str| problem(&declaration, text).map_err(|error| error.to_string());
        assert_eq!(problem("n=1_024"), Ok(vec![1024]));
        assert_eq!(problem(" n = 7 ,"), Ok(vec![7]));
        for (text, reason) in [
            ("n", "`n` is not of the form"),
            ("m=1", "has no dimension `m`; it has: n"),
            ("n=x", "`n=x` needs an integer"),
            ("n=1e3", "`n=1e3` needs an integer"),
            ("n=9223372036854775808", "does not fit into 64 bits"),
            ("n=1,n=2", "`n` is given twice"),
            ("", "`n` of `app::saxpy` is missing"),
        ] {
            let error = problem(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        // Who passes it as an unsigned number has no problem of -5.
        assert_eq!(problem("n=-5"), Ok(vec![-5]));
        let mut passed = declaration.clone();
        passed.model.arguments = vec![Argument {
            name: "n".into(),
            kind: ArgumentKind::Scalar {
                scalar: ElementType::scalar(ScalarType::U32),
                dimension: Some(0),
            },
        }]
        .into();
        let error = super::problem(&passed, "n=-5").unwrap_err().to_string();
        assert!(error.contains("-5 does not fit into `u32`"), "{error}");
    }

    /// The indices of the devices of each round, and how many searches each has.
    fn indices(devices: &[(&str, &str, &str)]) -> Vec<Vec<(usize, usize)>> {
        let devices = devices.iter().enumerate();
        let records: Vec<DeviceRecord> = devices
            .map(|(index, (kind, platform, vendor))| DeviceRecord {
                platform: (*platform).to_owned(),
                vendor: (*vendor).to_owned(),
                device_type: (*kind).to_owned(),
                ..DeviceRecord::new(index, &samples::device("x"))
            })
            .collect();
        let jobs = [8, 16].iter().flat_map(|size| {
            records.iter().map(|device| Job {
                folder: "app".into(),
                declaration: samples::declaration("app::saxpy", "b3:1", &[8]),
                device: device.clone(),
                twins: Vec::new(),
                dims: vec![*size],
            })
        });
        let rounds = rounds(jobs.collect()).into_iter();
        let searches = |of: &Searches| (of[0].device.index, of.len());
        rounds
            .map(|round| round.iter().map(searches).collect())
            .collect()
    }

    #[test]
    fn a_gpu_is_tuned_before_a_cpu_unless_it_is_left_out() {
        let of = |index: usize, kind: &str| DeviceRecord {
            device_type: kind.to_owned(),
            ..DeviceRecord::new(index, &samples::device("x"))
        };
        let devices = [of(0, "cpu"), of(1, "gpu"), of(2, "gpu")];
        let first = |filters: &[&str]| {
            let filters: Vec<String> = filters.iter().map(|&of| of.to_owned()).collect();
            tuned_first(&devices, &filters).map(|device| device.index)
        };
        assert_eq!(first(&[]), Some(1));
        assert_eq!(first(&["0"]), Some(0));
        assert_eq!(first(&["2", "0"]), Some(2));
        assert_eq!(first(&["none of that name"]), None);
        assert_eq!(tuned_first(&[], &[]), None);
    }

    #[test]
    fn what_does_not_disturb_each_other_is_tuned_side_by_side() {
        assert_eq!(
            indices(&[("cpu", "a", "x"), ("gpu", "b", "y"), ("gpu", "c", "z")]),
            [vec![(1, 2), (2, 2)], vec![(0, 2)]]
        );
        assert_eq!(
            indices(&[("gpu", "a", "x"), ("gpu", "b", "x"), ("gpu", "a", "x")]),
            [vec![(0, 2), (2, 2)], vec![(1, 2)]]
        );
        assert_eq!(
            indices(&[("cpu", "a", "x"), ("cpu", "b", "y")]),
            [vec![(0, 2)], vec![(1, 2)]]
        );
        assert!(indices(&[]).is_empty());
    }
}
