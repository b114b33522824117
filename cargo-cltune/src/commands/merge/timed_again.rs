//! The choice where machines disagree: the finalists of each are timed again in turns on this
//! machine, so that nobody's lucky timing decides.

use super::sources::Source;
use crate::artifact::Discovery;
use crate::fleet::Unit;
use crate::history::{LockfileEntry, entry};
use crate::oclgrind::{Method, SoundnessCheck, Verdict};
use crate::plan::{Job, kinds};
use crate::session::{
    Choice, Compares, Cost, Evaluation, IdleWorkers, Judge, LeftOut, MeasurementWorker, Place,
    Recorded, SessionLock, WorkerError, choose, list_devices, recall,
};
use crate::terminal::say;
use crate::units::time;
use crate::worker::DeviceRecord;
use cltune_core::device::DeviceKey;
use cltune_core::measure::{Measure, Objective};
use cltune_core::model::Model;
use cltune_core::select::default_codes;
use cltune_formats::declaration::Declaration;
use cltune_formats::fingerprint;
use cltune_formats::lockfile::{Lockfile, Measured};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The seed of the inputs.
const SEED: u64 = 0;
/// How long one configuration may take.
const LIMIT: Duration = Duration::from_mins(1);
/// Of each machine, so many of the fastest are candidates, ...
const FEW: usize = 5;
/// ... where they are within this factor of its best.
const NOISE: f64 = 1.1;

/// The class of devices and the problem that results are for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    platform: String,
    device: String,
    vendor: String,
    dims: Vec<i64>,
    /// What their times were measured with: others do not compare.
    measure: Measure,
}

impl Subject {
    fn key(&self) -> DeviceKey<'_> {
        DeviceKey {
            platform: &self.platform,
            name: &self.device,
            vendor: &self.vendor,
        }
    }
}

/// What one machine found for a unit.
struct Finding<'a> {
    source: &'a Source,
    entry: LockfileEntry,
    evaluated: u64,
    strategy: &'a str,
}

/// Times again what sources disagree on, and puts the best into `united`. Whether all of it could
/// be.
///
/// # Errors
/// There is no device.
pub(super) fn run(
    united: &mut Lockfile,
    sources: &[Source],
    discovery: &Discovery,
    out: &mut Vec<u8>,
) -> Result<bool, Box<dyn Error>> {
    let devices = kinds(list_devices()?);
    let _lock = SessionLock::acquire(&discovery.state, |holder| {
        say(format_args!(
            "Blocking: another `cargo cltune` ({holder}) is running; waiting for it"
        ));
    })?;
    let checks = Method::is_possible(None)?;
    let (mut agreed, mut all) = (0, true);
    let mut left_out = BTreeSet::new();
    for declaration in declarations(discovery) {
        for (of, findings) in findings(declaration, sources) {
            // Of times that do not compare, those of the first source are kept.
            if findings.len() < 2 || measure_of(united, declaration, &of) != Some(of.measure) {
                continue;
            }
            let mut others = findings.iter();
            if others.all(|one| one.entry.codes == findings[0].entry.codes) {
                agreed += 1;
                continue;
            }
            let again = match job(declaration, &of, &devices) {
                _ if of.measure.objective.needs_energy() => {
                    let objective = of.measure.objective;
                    Err(format!("it was chosen by {objective}, and times are compared here").into())
                }
                Some(job) => time_again(united, &job, &findings, checks, &mut left_out, out),
                None => Err("this machine has no such device".into()),
            };
            if let Err(error) = again {
                all = false;
                let problem = declaration.model.describe_problem(&of.dims);
                writeln!(
                    out,
                    "warning: {} on {} for {problem}: not timed again: {error}; the {} entry stays",
                    declaration.model.name,
                    of.device,
                    if of.measure.objective.needs_energy() {
                        "better"
                    } else {
                        "faster"
                    },
                )?;
            }
        }
    }
    for journal in &left_out {
        all = false;
        writeln!(out, "warning: {}", journal.warning())?;
    }
    if agreed > 0 {
        let plural = if agreed == 1 {
            "result is"
        } else {
            "results are"
        };
        writeln!(out, "{agreed} {plural} the same on several machines")?;
    }
    Ok(all)
}

/// What the united lockfile's entry was measured with.
fn measure_of(united: &Lockfile, declaration: &Declaration, of: &Subject) -> Option<Measure> {
    let mut devices = united.devices.iter();
    let device = devices.find(|device| device.device.key().is(of.key()))?;
    let kernel = united.kernel(&declaration.model.name)?;
    Some(kernel.entry(&device.id, &of.dims)?.measure)
}

fn declarations(discovery: &Discovery) -> impl Iterator<Item = &Declaration> {
    let packages = discovery.packages.iter();
    packages.flat_map(|package| &package.declarations)
}

/// The search that the results are of, on a device of this machine; `None` where there is none.
fn job(
    declaration: &Declaration,
    of: &Subject,
    devices: &[(DeviceRecord, Vec<DeviceRecord>)],
) -> Option<Job> {
    let (device, _) = devices
        .iter()
        .find(|(device, _)| device.key().is(of.key()))?;
    Some(Job {
        // Of an artifact, everything lies in the current folder.
        folder: PathBuf::from("."),
        declaration: Declaration {
            measure: of.measure,
            ..declaration.clone()
        },
        device: device.clone(),
        twins: Vec::new(),
        dims: of.dims.clone(),
    })
}

/// What each source has of a tunable. Contributions are for devices that are not here.
fn findings<'a>(
    declaration: &Declaration,
    sources: &'a [Source],
) -> BTreeMap<Subject, Vec<Finding<'a>>> {
    let model = &declaration.model;
    let mut found: BTreeMap<Subject, Vec<Finding>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_contribution) {
        let kernel = source.lockfile.kernel(&model.name);
        let kernel = kernel.filter(|kernel| kernel.is_current(model));
        for tuned in kernel.into_iter().flat_map(|kernel| &kernel.tuned) {
            let device = source.lockfile.device(&tuned.device);
            let (Some(device), Some(entry)) = (device, entry(model, tuned)) else {
                continue;
            };
            let key = device.device.key();
            let of = Subject {
                platform: key.platform.to_owned(),
                device: key.name.to_owned(),
                vendor: key.vendor.to_owned(),
                dims: tuned.dims().collect(),
                measure: tuned.measure,
            };
            found.entry(of).or_default().push(Finding {
                source,
                entry,
                evaluated: tuned.evaluated,
                strategy: &tuned.strategy,
            });
        }
    }
    found
}

/// Times the finalists of all findings, and replaces the entry. Journals of which something
/// is left out are added to `left_out`.
fn time_again(
    united: &mut Lockfile,
    job: &Job,
    findings: &[Finding<'_>],
    checks: bool,
    left_out: &mut BTreeSet<LeftOut>,
    out: &mut Vec<u8>,
) -> Result<(), Box<dyn Error>> {
    let model = &job.declaration.model;
    let unit = Unit::of(job);
    say(format_args!("timing again: {unit}"));
    let begin = Instant::now();
    let mut judge = Watched {
        worker: MeasurementWorker::new(job, SEED, LIMIT, None, &IdleWorkers::default())?,
        times: BTreeMap::new(),
    };
    let limits = &job.device.info().limits;
    let default = default_codes(model, &job.dims, limits).unwrap_or_default();
    let results = candidates(job, findings, &default, left_out);
    let mut check = checks.then(|| SoundnessCheck::new(job, begin.elapsed()));
    let sound = |codes: &[i64]| match check.as_mut().map(|check| check.judge(codes)) {
        Some(Verdict::Unsound(reason)) => Err(Evaluation::Unsound(reason.to_string())),
        _ => Ok(()),
    };
    let mut rejected = Vec::new();
    let reject = |codes: &[i64], evaluation: &Evaluation| {
        let reason = evaluation.status().and_then(|(_, reason)| reason);
        let reason = reason.unwrap_or_default();
        rejected.push(format!(
            "    {}: rejected here, {reason}",
            model.describe(codes)
        ));
    };
    let (judged, by) = (Some(&mut judge as &mut dyn Judge), Objective::Time);
    let choice = choose(judged, &default, by, &results, sound, reject);
    let mut times: Vec<_> = judge.times.into_iter().collect();
    times.sort_by(|a, b| a.1.total_cmp(&b.1));
    writeln!(out, "{unit}: {} results, timed again here:", findings.len())?;
    for line in rejected {
        writeln!(out, "{line}")?;
    }
    for (codes, time_us) in &times {
        print_time(codes, *time_us, findings, model, out)?;
    }
    let Some(choice) = choice else {
        writeln!(out, "  none of them works here; the faster entry stays")?;
        return Ok(());
    };
    writeln!(
        out,
        "  taken: {}, {}",
        model.describe(&choice.codes),
        reason(&choice, &times, &default)
    )?;
    let found = findings.iter().find(|one| one.entry.codes == choice.codes);
    let measured = Measured {
        dims: job.dims.clone(),
        time_us: choice.cost.time_us,
        default_us: choice.default.map(|default| default.time_us),
        evaluated: findings.iter().map(|one| one.evaluated).sum(),
        valid: findings[0].entry.valid,
        strategy: found.unwrap_or(&findings[0]).strategy.to_owned(),
        verification: Some(fingerprint::of_verification(&job.declaration)),
        measure: job.declaration.measure,
        energy_j: None,
        default_energy_j: None,
        codes: choice.codes,
    };
    united.record(model, &job.device.info(), &measured)?;
    Ok(())
}

/// The time of a finalist, and those of the machines that it was the best of.
fn print_time(
    codes: &[i64],
    time_us: f64,
    findings: &[Finding<'_>],
    model: &Model,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let found = findings.iter().filter(|one| one.entry.codes == *codes);
    let found: Vec<String> = found
        .map(|one| format!("{} had {}", one.source.name, time(one.entry.time_us)))
        .collect();
    let found = if found.is_empty() {
        String::new()
    } else {
        format!("  ({})", found.join(", "))
    };
    let time = time(time_us);
    writeln!(out, "    {time}  {}{found}", model.describe(codes))
}

/// Why a configuration was chosen.
fn reason(choice: &Choice, times: &[(Vec<i64>, f64)], default: &[i64]) -> &'static str {
    match times.first() {
        Some((fastest, _)) if *fastest == choice.codes => "the fastest",
        _ if choice.codes == default => "the default, within 1 % of the fastest",
        _ => "within 1 % of the fastest, which needs more of the device",
    }
}

/// The configurations that may be the best, with times that compare: those of a machine as parts of
/// its own best. Journals of which something is left out are added to `left_out`.
fn candidates(
    job: &Job,
    findings: &[Finding<'_>],
    default: &[i64],
    left_out: &mut BTreeSet<LeftOut>,
) -> Vec<(Vec<i64>, Cost)> {
    let mut parts: BTreeMap<Vec<i64>, f64> = BTreeMap::new();
    let mut add = |codes: &[i64], part: f64| {
        let known = parts.entry(codes.to_vec()).or_insert(part);
        *known = known.min(part);
    };
    let place = Place::of(job);
    for finding in findings {
        let entry = &finding.entry;
        add(&entry.codes, 1.0);
        if let Some(default_us) = entry.default_us {
            add(default, default_us / entry.time_us);
        }
        let Some(state) = &finding.source.state else {
            continue;
        };
        for recalled in recall(state, &job.declaration, left_out) {
            if !recalled.place.is(&place) {
                continue;
            }
            for (codes, part) in fastest(&recalled.results) {
                add(&codes, part);
            }
        }
    }
    let base = findings.iter().map(|one| one.entry.time_us);
    let base = base.reduce(f64::min).unwrap_or(1.0);
    let candidates = parts.into_iter();
    candidates
        .map(|(codes, part)| (codes, Cost::of_time(base * part)))
        .collect()
}

/// The fastest of a journal, as parts of its best.
fn fastest(results: &[Recorded]) -> Vec<(Vec<i64>, f64)> {
    // A configuration that was measured again counts with its last result.
    let last: BTreeMap<_, _> = results.iter().map(|of| (&of.codes, of.time_us)).collect();
    let working = last
        .into_iter()
        .filter_map(|(codes, time)| Some((codes, time?)));
    let mut working: Vec<_> = working.collect();
    working.sort_by(|a, b| a.1.total_cmp(&b.1));
    let best = working.first().map_or(1.0, |(_, time)| *time);
    let near = working.into_iter().take(FEW);
    let near = near.map(|(codes, time)| (codes.clone(), time / best));
    near.take_while(|(_, part)| *part <= NOISE).collect()
}

/// A judge whose times are kept.
struct Watched {
    worker: MeasurementWorker,
    times: BTreeMap<Vec<i64>, f64>,
}

impl Judge for Watched {
    fn verify(&mut self, codes: &[i64]) -> Result<Option<Evaluation>, WorkerError> {
        Judge::verify(&mut self.worker, codes)
    }

    fn compare(&mut self, codes: &[Vec<i64>]) -> Result<Compares, WorkerError> {
        let compares = Judge::compare(&mut self.worker, codes)?;
        // Times of different rounds do not compare.
        self.times.clear();
        for (codes, compared) in codes.iter().zip(&compares) {
            if let Ok(compared) = compared {
                self.times.insert(codes.clone(), compared.time_us);
            }
        }
        Ok(compares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(code: i64, time_us: Option<f64>) -> Recorded {
        Recorded {
            codes: vec![code],
            time_us,
            ..Recorded::default()
        }
    }

    #[test]
    fn the_fastest_of_a_journal_are_parts_of_its_best() {
        let mut results: Vec<Recorded> = (0..9)
            .map(|code| result(code, Some(100.0 + code as f64)))
            .collect();
        // Wrong after all; and slower, when it was measured again.
        results.push(result(0, None));
        results.push(result(2, Some(150.0)));
        results.push(result(20, Some(200.0)));
        let codes: Vec<i64> = fastest(&results)
            .iter()
            .map(|(codes, _)| codes[0])
            .collect();
        assert_eq!(codes, [1, 3, 4, 5, 6]);
        let two = [
            result(1, Some(50.0)),
            result(2, Some(54.0)),
            result(3, Some(56.0)),
        ];
        assert_eq!(fastest(&two), [(vec![1], 1.0), (vec![2], 1.08)]);
        assert!(fastest(&[result(1, None)]).is_empty());
    }

    #[test]
    fn the_reason_says_whether_it_was_the_fastest() {
        let choice = |code: i64| Choice {
            codes: vec![code],
            cost: Cost::of_time(1.0),
            default: None,
            repeatability: None,
            finalists: Vec::new(),
        };
        let times = [(vec![1], 1.0), (vec![2], 1.004), (vec![3], 1.005)];
        let default = [3];
        assert_eq!(reason(&choice(1), &times, &default), "the fastest");
        assert!(reason(&choice(2), &times, &default).contains("needs more of the device"));
        assert!(reason(&choice(3), &times, &default).starts_with("the default"));
    }
}
