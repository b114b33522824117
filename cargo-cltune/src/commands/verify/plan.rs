//! The attempts of a verification: entries, problems and devices put together.

use super::VerifyArgs;
use super::attempt::{Attempt, Purpose};
use super::entries::{Entries, Origin, VerifiedEntry};
use super::problems::{larger, uneven};
use crate::captured::{self, Captured, ReadError};
use crate::commands::tuned::Tuned;
use crate::oclgrind::{self, Oclgrind, OclgrindError};
use crate::plan::{self, Job, PlanError, choose_devices};
use crate::session::{WorkerError, list_devices};
use crate::terminal::say;
use crate::worker::DeviceRecord;
use cltune_core::device::{DeviceInfo, DeviceLimits};
use cltune_core::select::{Table, TunedDevice, candidates};

/// The attempts of a verification.
pub(super) struct Plan {
    pub(super) attempts: Vec<Attempt>,
    /// The entries that are left out, and why.
    pub(super) left_out: Vec<String>,
    /// The seed of the inputs.
    pub(super) seed: u64,
}

/// Why nothing can be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum VerifyError {
    /// Devices cannot be listed.
    #[error(transparent)]
    Devices(#[from] WorkerError),
    /// A filter matches nothing.
    #[error(transparent)]
    Filter(#[from] PlanError),
    /// There is no Oclgrind.
    #[error(transparent)]
    Oclgrind(#[from] OclgrindError),
    /// There is no capture.
    #[error(transparent)]
    Capture(#[from] ReadError),
    /// There is one, and none of it can be run.
    #[error("no launch of the capture can be verified here: {}", .0.join("; "))]
    NothingCaptured(Vec<String>),
    /// The entries were tuned on devices that are not chosen.
    #[error(
        "nothing to verify: with --oclgrind, --device means what was tuned on a device, and {}",
        if tuned.is_empty() { "nothing was".to_owned() } else { format!("results are of {}", tuned.join(", ")) }
    )]
    Elsewhere {
        /// The devices in the lockfiles.
        tuned: Vec<String>,
    },
    /// Neither tuned nor declared.
    #[error(
        "nothing to verify: there are no problems, neither in the lockfile nor declared for these \
         devices; `--problem` gives some"
    )]
    NoProblem,
}

/// Puts them together, in the order of the lockfiles.
pub(super) fn plan(entries: &Entries, args: &VerifyArgs) -> Result<Plan, VerifyError> {
    let damaged = |line: &str| say(format_args!("warning: {line}"));
    let captured = args.captured.as_deref();
    let captured = captured.map(|folder| captured::read(folder, damaged));
    let captured = captured.transpose()?;
    let mut planner = Planner {
        args,
        captured: captured.unwrap_or_default(),
        found_captured: false,
        plan: Plan {
            attempts: Vec::new(),
            left_out: Vec::new(),
            seed: args.seed(),
        },
    };
    let hosts = if args.oclgrind {
        simulators(entries, &args.filter.device)?
    } else {
        own(entries, &args.filter.device)?
    };
    let mut elsewhere: Vec<String> = Vec::new();
    for entry in &entries.current {
        match hosts
            .iter()
            .find(|host| host.of.key().is(entry.device.key()))
        {
            // With --captured: on what was captured, below.
            Some(_) if planner.is_captured(&entry.declaration) => planner.add_if_captured(entry),
            Some(host) => planner.add(entry, host)?,
            None => elsewhere.push(entry.device.name.to_string()),
        }
    }
    for tunable in &entries.tunables {
        let is_captured = planner.is_captured(&tunable.declaration);
        for host in &hosts {
            if is_captured {
                planner.add_captured(tunable, host)?;
            } else {
                planner.add_untuned(tunable, host)?;
            }
        }
    }
    if args.captured.is_some() {
        planner.check_capture(&entries.tunables)?;
    }
    let Planner { mut plan, .. } = planner;
    elsewhere.sort();
    elsewhere.dedup();
    if plan.attempts.is_empty() && plan.left_out.is_empty() && entries.stale.is_empty() {
        return Err(if args.oclgrind && !args.filter.device.is_empty() {
            VerifyError::Elsewhere { tuned: elsewhere }
        } else {
            VerifyError::NoProblem
        });
    }
    if !elsewhere.is_empty() {
        let devices = elsewhere.join(", ");
        plan.left_out.push(format!("what was tuned on {devices}"));
    }
    Ok(plan)
}

/// Where the entries of one device are run.
pub(super) struct Host {
    pub(super) of: TunedDevice,
    pub(super) device: DeviceRecord,
    oclgrind: Option<Oclgrind>,
    /// Whether it is the simulator as it is, for what was never tuned.
    is_plain: bool,
}

/// The devices of this machine, one of each kind.
fn own(entries: &Entries, filters: &[String]) -> Result<Vec<Host>, VerifyError> {
    let devices = choose_devices(&list_devices()?, filters)?;
    let mut hosts: Vec<Host> = Vec::new();
    for device in devices {
        let info = device.info();
        let mut tuned = entries.current.iter().map(|entry| &entry.device);
        let known = tuned.find(|known| known.key().is(info.key()));
        let of = known.map_or_else(|| TunedDevice::of(&info), Clone::clone);
        if hosts.iter().any(|host| host.of.key().is(of.key())) {
            continue;
        }
        hosts.push(Host {
            of,
            device,
            oclgrind: None,
            is_plain: false,
        });
    }
    Ok(hosts)
}

/// A simulator for each device of the lockfiles, and one for what is not tuned.
fn simulators(entries: &Entries, filters: &[String]) -> Result<Vec<Host>, VerifyError> {
    let mut hosts: Vec<Host> = Vec::new();
    for entry in &entries.current {
        let known = &entry.device;
        if hosts.iter().any(|host| host.of.key().is(known.key())) || !is_wanted(known, filters) {
            continue;
        }
        let oclgrind = Oclgrind::like(Some(known))?;
        hosts.push(Host {
            of: known.clone(),
            device: oclgrind.device()?,
            oclgrind: Some(oclgrind),
            is_plain: false,
        });
    }
    let untuned = |tunable: &Tuned| tunable.table.results.is_empty();
    // What is not tuned was tuned on no device that could be chosen.
    if filters.is_empty() && entries.tunables.iter().any(untuned) {
        let oclgrind = Oclgrind::like(None)?;
        let device = oclgrind.device()?;
        hosts.push(Host {
            of: TunedDevice::of(&device.info()),
            device,
            oclgrind: Some(oclgrind),
            is_plain: true,
        });
    }
    Ok(hosts)
}

fn is_wanted(device: &TunedDevice, filters: &[String]) -> bool {
    let info = DeviceInfo {
        platform: device.platform.to_string(),
        name: device.name.to_string(),
        vendor: device.vendor.to_string(),
        device_type: device.device_type,
        driver: String::new(),
        version: String::new(),
        limits: DeviceLimits::default(),
    };
    // A lockfile's device has no index.
    filters.is_empty()
        || filters
            .iter()
            .any(|filter| info.matches(usize::MAX, filter))
}

pub(super) struct Planner<'a> {
    args: &'a VerifyArgs,
    /// With --captured: what was.
    pub(super) captured: Vec<Captured>,
    /// Whether any of it is run.
    pub(super) found_captured: bool,
    pub(super) plan: Plan,
}

impl Planner<'_> {
    pub(super) fn add(&mut self, entry: &VerifiedEntry, host: &Host) -> Result<(), PlanError> {
        let model = &entry.declaration.model;
        let limits = &host.device.info().limits;
        let factor = i64::from(self.args.larger);
        if !self.args.problem.is_empty() {
            for text in &self.args.problem {
                let dims = plan::problem(&entry.declaration, text)?;
                match model.check(&entry.codes, &dims, limits) {
                    Ok(()) => self.push(entry, host, dims, Purpose::Own),
                    Err(reason) => self.leave_out(entry, text, &reason.to_string()),
                }
            }
        } else if host.oclgrind.is_some() {
            let tuned = oclgrind::Tuned {
                declaration: &entry.declaration,
                configurations: &[&entry.codes],
                dims: &entry.dims,
                limits,
            };
            let problems = tuned.small_problems();
            if problems.is_empty() {
                self.leave_out(entry, "a smaller problem", oclgrind::FILES);
            }
            self.push_first(entry, host, problems, Purpose::Own);
        } else {
            self.push(entry, host, entry.dims.clone(), Purpose::Own);
            if factor > 1 && !entry.dims.is_empty() {
                match larger(model, &entry.codes, &entry.dims, factor, limits) {
                    Ok(problems) => {
                        for dims in problems {
                            self.push(entry, host, dims, Purpose::Larger);
                        }
                    }
                    Err(reason) => {
                        let problem = format!("{factor} times as large");
                        self.leave_out(entry, &problem, &reason);
                    }
                }
                for dims in uneven(model, &entry.codes, &entry.dims, limits) {
                    self.push(entry, host, dims, Purpose::Uneven);
                }
            }
        }
        Ok(())
    }

    /// Adds what a launch would select for problems of a tunable that were not tuned on a device:
    /// the default, where nothing else is known. A simulator of a tuned device runs what was tuned
    /// on it.
    fn add_untuned(&mut self, tunable: &Tuned, host: &Host) -> Result<(), PlanError> {
        let Tuned {
            declaration, table, ..
        } = tunable;
        let info = host.device.info();
        if host.oclgrind.is_some() && !(host.is_plain && table.results.is_empty()) {
            return Ok(());
        }
        let results = table.results.iter();
        let here = results.filter(|of| table.devices[usize::from(of.device)].key().is(info.key()));
        let here: Vec<&[i64]> = here.map(|result| &*result.problem).collect();
        let problems: Vec<Vec<i64>> = if !self.args.problem.is_empty() {
            // What is tuned here is run on them already.
            let given = self.args.problem.iter().filter(|_| here.is_empty());
            given
                .map(|text| plan::problem(declaration, text))
                .collect::<Result<_, _>>()?
        } else if host.is_plain {
            // The simulator stands for every device that they may be declared for.
            declaration.problems.clone()
        } else {
            declaration.problems_on(&info.limits).cloned().collect()
        };
        for dims in problems {
            if here.contains(&&*dims) {
                continue;
            }
            let Some(entry) = self.selected(tunable, host, &dims) else {
                continue;
            };
            if self.args.problem.is_empty() {
                self.add(&entry, host)?;
            } else {
                self.push(&entry, host, dims, Purpose::Own);
            }
        }
        Ok(())
    }

    /// What a launch would select for a problem; `None`, after saying so, where that is nothing.
    pub(super) fn selected(
        &mut self,
        tunable: &Tuned,
        host: &Host,
        dims: &[i64],
    ) -> Option<VerifiedEntry> {
        let (model, info) = (&tunable.declaration.model, host.device.info());
        let candidates = candidates(model, &info, dims, &tunable.table, &Table::EMPTY);
        let selected = candidates.with_database(&tunable.database).selected();
        let Some(candidate) = selected else {
            let problem = model.describe_problem(dims);
            self.plan.left_out.push(format!(
                "{} on {problem}: it is not tuned, and no configuration is valid",
                model.name
            ));
            return None;
        };
        Some(VerifiedEntry {
            folder: tunable.folder.clone(),
            declaration: tunable.declaration.clone(),
            device: host.of.clone(),
            codes: candidate.codes.to_vec(),
            origin: Origin::Selected {
                rule: candidate.rule,
                text: candidate.origin(),
            },
            dims: dims.to_vec(),
        })
    }

    pub(super) fn push(
        &mut self,
        entry: &VerifiedEntry,
        host: &Host,
        dims: Vec<i64>,
        purpose: Purpose,
    ) {
        self.push_first(entry, host, vec![dims], purpose);
    }

    /// Adds an attempt on the first of these problems that can be prepared, if the same is not
    /// there: entries for several problems may share one.
    fn push_first(
        &mut self,
        entry: &VerifiedEntry,
        host: &Host,
        problems: Vec<Vec<i64>>,
        purpose: Purpose,
    ) {
        let mut problems = problems.into_iter();
        let Some(dims) = problems.next() else { return };
        let tuned_on = host
            .oclgrind
            .as_ref()
            .filter(|_| !host.is_plain)
            .map(|_| entry.device.name.to_string());
        let is_same = |other: &Attempt| {
            other.job.declaration.model.name == entry.declaration.model.name
                && other.job.device.index == host.device.index
                && other.tuned_on == tuned_on
                && other.job.dims == dims
                && other.codes == entry.codes
        };
        if self.plan.attempts.iter().any(is_same) {
            return;
        }
        self.plan.attempts.push(Attempt {
            job: Job {
                folder: entry.folder.clone(),
                declaration: entry.declaration.clone(),
                device: host.device.clone(),
                twins: Vec::new(),
                dims,
            },
            other_problems: problems.collect(),
            codes: entry.codes.clone(),
            origin: entry.origin.clone(),
            tuned_on,
            purpose,
            draws: self.args.draws(&entry.declaration),
            seed: self.plan.seed,
            limit: self.args.time_limit(),
            oclgrind: host.oclgrind.clone(),
        });
    }

    fn leave_out(&mut self, entry: &VerifiedEntry, problem: &str, reason: &str) {
        let model = &entry.declaration.model;
        let (name, values) = (&model.name, model.describe(&entry.codes));
        let of = model.describe_problem(&entry.dims);
        let origin = match entry.origin.selected() {
            None => format!("tuned for {of}"),
            Some(selected) => format!("for {of} {selected}"),
        };
        self.plan.left_out.push(format!(
            "{name} ({values}; {origin}) on {problem}: {reason}"
        ));
    }
}
