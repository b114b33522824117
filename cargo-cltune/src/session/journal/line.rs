//! The lines of a journal: what they hold, and the checksum by which a line that was changed is
//! recognised.

use crate::newer_version::NewerVersion;
use crate::plan::Job;
use crate::session::cost::Cost;
use crate::session::evaluation::Evaluation;
use crate::session::repeatability::Repeatability;
use cltune_core::device::DeviceType;
use cltune_core::measure::Measure;
use cltune_core::model::Model;
use cltune_core::parameter::{Fraction, Value};
use cltune_core::select::TunedDevice;
use cltune_formats::declaration::Declaration;
use cltune_formats::fingerprint;
use cltune_runtime::tuning::{Energy, IdlePower, Outcome, StageTime};
use cltune_search::Status;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The version of the format. A header without one has the first.
const VERSION: u32 = 1;
/// The size of a journal, bytes: some ten million results.
pub(super) const LARGEST: u64 = 4 << 30;

/// A line, understood.
#[derive(Debug)]
pub(super) enum Line {
    /// A session begins.
    Header(Box<Header>),
    /// A session of a newer release begins, of which nothing but this is understood.
    Newer(Newer),
    /// A configuration is about to be measured.
    Begin(Begin),
    /// One that was begun is not measured now, through no fault of its own.
    Abandoned(Abandoned),
    /// The result of one.
    Result(Box<ResultLine<Recorded>>),
    /// The session ended by itself.
    End(Box<End>),
    /// A line that no session wrote, or that has changed since. Whether a header may have been in
    /// it.
    Damaged { header: bool },
}

/// The first line of a session.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Header {
    #[serde(default = "first_version")]
    cltune_journal: u32,
    /// The release that wrote it. Journals of earlier releases do not say it.
    #[serde(default)]
    cltune: String,
    pub(super) kernel: String,
    fingerprint: String,
    /// How results are verified and timed. Empty in journals of releases that did not write it.
    #[serde(default)]
    pub(super) verification: String,
    /// What was measured, where that is not the time with warm caches.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    measure: String,
    platform: String,
    device: String,
    #[serde(flatten)]
    facts: DeviceFacts,
    #[serde(default)]
    driver: String,
    #[serde(default)]
    dimensions: Vec<String>,
    problem: Vec<i64>,
    params: Vec<String>,
    #[serde(default)]
    strategy: String,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    resumed: bool,
    /// Where energy is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idle: Option<IdlePower>,
}

/// As much of a header as every version has.
#[derive(Deserialize)]
struct AnyHeader {
    cltune_journal: u32,
    #[serde(default)]
    cltune: String,
    kernel: Option<String>,
}

/// The beginning of a session of a newer release.
#[derive(Debug)]
pub(super) struct Newer {
    version: NewerVersion,
    /// `None` where that version says it in another way.
    kernel: Option<String>,
}

/// A journal with a session of a newer release: the first such session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{}, line {line}: {version}", path.display())]
pub(crate) struct NewerJournal {
    path: PathBuf,
    /// Counted from 1.
    line: usize,
    version: NewerVersion,
}

/// The facts by which devices are recognised and compared, besides the names. Journals of earlier
/// releases have none of them.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct DeviceFacts {
    vendor: String,
    #[serde(rename = "type")]
    device_type: String,
    compute_units: i64,
    max_work_group_size: i64,
    local_mem_size: i64,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Begin {
    pub(super) begin: Vec<serde_json::Value>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Abandoned {
    pub(super) abandoned: Vec<serde_json::Value>,
}

/// A result, with the values of its configuration.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct ResultLine<R> {
    pub(super) values: Vec<serde_json::Value>,
    #[serde(flatten)]
    pub(super) recorded: R,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct End {
    #[serde(rename = "end")]
    pub(super) reason: String,
    /// The configurations that were compared in the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) finalists: Vec<Finalist>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) repeatability: Option<Repeatability>,
}

/// A configuration that was compared with others, and the time of each round in microseconds.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Finalist {
    pub(super) values: Vec<serde_json::Value>,
    pub(super) samples_us: Vec<f64>,
    /// The energy of a launch in each round, joules, where that was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) energies_j: Vec<f64>,
}

/// A configuration and its result.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Recorded {
    #[serde(skip)]
    pub(crate) codes: Vec<i64>,
    #[serde(default = "unstated")]
    pub(crate) status: Status,
    /// Microseconds; `None` where it failed.
    pub(crate) time_us: Option<f64>,
    /// The single runs, microseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) samples_us: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) build_seconds: Option<f64>,
    /// The parts of a call of a group of launches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stages: Vec<StageTime>,
    /// The time that converting buffers to images took, microseconds; it is not part of the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conversion_us: Option<f64>,
    /// The energy of a launch, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) energy: Option<Energy>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// Whether somebody else ended its worker, so that it is measured once more when the search is
    /// resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) killed: bool,
    /// The position of its session in [`Recalled::sessions`](super::Recalled::sessions).
    #[serde(skip)]
    pub(crate) session: usize,
}

/// The version of a header that has none.
fn first_version() -> u32 {
    1
}

/// The status of a line that has none.
fn unstated() -> Status {
    Status::Failed
}

/// Where and for what results were measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) device: TunedDevice,
    pub(crate) problem: Vec<i64>,
}

/// The driver of a session, and how it searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Session {
    /// `CL_DRIVER_VERSION`.
    pub(crate) driver: String,
    pub(crate) strategy: String,
    pub(crate) seed: u64,
    /// Whether it went on where the session before it had ended.
    pub(crate) resumed: bool,
    /// The device's power while nothing ran on it, where energy is measured.
    pub(crate) idle: Option<IdlePower>,
}

impl Line {
    /// Understands a line, without its newline.
    pub(super) fn of(line: &[u8]) -> Self {
        const VERSION_SIGN: &[u8] = br#""cltune_journal":"#;
        // Two signs: the damage may be in one of them, and lines may have run together.
        const SIGNS: [&[u8]; 2] = [br#""kernel":"#, br#""fingerprint":"#];
        let has = |sign: &[u8]| line.windows(sign.len()).any(|bytes| bytes == sign);
        let damaged = || Self::Damaged {
            header: SIGNS.iter().any(|sign| has(sign)),
        };
        // Before the checksum: a newer version may have another one.
        if has(VERSION_SIGN)
            && let Ok(any) = serde_json::from_slice::<AnyHeader>(line)
            && let Err(version) = NewerVersion::check(any.cltune_journal, VERSION, any.cltune)
        {
            let kernel = any.kernel;
            return Self::Newer(Newer { version, kernel });
        }
        if !is_whole(line) {
            return damaged();
        }
        let header = serde_json::from_slice(line).map(Self::Header);
        header
            .or_else(|_| serde_json::from_slice(line).map(Self::Result))
            .or_else(|_| serde_json::from_slice(line).map(Self::Begin))
            .or_else(|_| serde_json::from_slice(line).map(Self::Abandoned))
            .or_else(|_| serde_json::from_slice(line).map(Self::End))
            .unwrap_or_else(|_| damaged())
    }
}

impl Header {
    pub(super) fn new(job: &Job, session: Session) -> Self {
        let model = &job.declaration.model;
        let parameters = model.parameters.iter();
        let Place { device, problem } = Place::of(job);
        Self {
            cltune_journal: VERSION,
            cltune: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: model.name.to_string(),
            fingerprint: model.fingerprint.to_string(),
            verification: fingerprint::of_results(&job.declaration),
            measure: job
                .declaration
                .measure
                .words()
                .collect::<Vec<_>>()
                .join(" "),
            platform: device.platform.to_string(),
            device: device.name.to_string(),
            facts: DeviceFacts {
                vendor: device.vendor.to_string(),
                device_type: device.device_type.as_str().to_owned(),
                compute_units: device.compute_units,
                max_work_group_size: device.max_work_group_size,
                local_mem_size: device.local_mem_size,
            },
            driver: session.driver,
            dimensions: model.dimensions.iter().map(ToString::to_string).collect(),
            problem,
            params: parameters.map(|of| of.name.to_string()).collect(),
            strategy: session.strategy,
            seed: session.seed,
            resumed: session.resumed,
            idle: session.idle,
        }
    }

    /// Whether this session measured this very declaration, and judged and timed results as is done
    /// now; old journals do not say how they judged, and timed with warm caches.
    pub(super) fn is_of(&self, declaration: &Declaration) -> bool {
        let model = &declaration.model;
        let parameters = model.parameters.iter().map(|parameter| &*parameter.name);
        self.kernel == model.name
            && self.fingerprint == model.fingerprint
            && ((self.verification.is_empty() && declaration.measure == Measure::WARM)
                || self.verification == fingerprint::of_results(declaration))
            && self.problem.len() == model.dimensions.len()
            && parameters.eq(self.params.iter().map(String::as_str))
    }

    /// The place and the session that the header is about.
    pub(super) fn parts(self) -> (Place, Session) {
        let place = Place {
            device: TunedDevice {
                platform: self.platform.into(),
                name: self.device.into(),
                vendor: self.facts.vendor.into(),
                device_type: DeviceType::from_word(&self.facts.device_type),
                compute_units: self.facts.compute_units,
                max_work_group_size: self.facts.max_work_group_size,
                local_mem_size: self.facts.local_mem_size,
            },
            problem: self.problem,
        };
        let session = Session {
            driver: self.driver,
            strategy: self.strategy,
            seed: self.seed,
            resumed: self.resumed,
            idle: self.idle,
        };
        (place, session)
    }
}

impl Newer {
    /// Whether the session may be about this kernel.
    pub(super) fn may_be_of(&self, kernel: &str) -> bool {
        self.kernel.as_deref().is_none_or(|of| of == kernel)
    }

    /// The journal with this session on that line, counted from 1.
    pub(super) fn at(self, path: &Path, line: usize) -> NewerJournal {
        NewerJournal {
            path: path.to_owned(),
            line,
            version: self.version,
        }
    }
}

impl NewerJournal {
    /// What to say where results of other journals serve all the same.
    pub(crate) fn warning(&self) -> String {
        format!("{self}. What newer releases measured there is left out")
    }
}

impl Place {
    /// The device and problem of a job.
    pub(crate) fn of(job: &Job) -> Self {
        Self {
            device: TunedDevice::of(&job.device.info()),
            problem: job.dims.clone(),
        }
    }

    /// Whether both are the same device and problem.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.problem == other.problem && self.device.key().is(other.device.key())
    }
}

impl Recorded {
    /// What a launch costs; `None` where it failed.
    pub(crate) fn cost(&self) -> Option<Cost> {
        Some(Cost {
            time_us: self.time_us?,
            energy_j: self.energy.map(|energy| energy.joules),
        })
    }

    /// `None` of a configuration of which nothing is known.
    pub(crate) fn new(codes: &[i64], evaluation: &Evaluation) -> Option<Self> {
        let (status, detail) = evaluation.status()?;
        let measurement = match evaluation {
            Evaluation::Answered(Outcome::Ok(measurement)) => Some(measurement),
            _ => None,
        };
        let samples_us = measurement.map(|of| of.samples_us.clone());
        Some(Self {
            codes: codes.to_vec(),
            status,
            time_us: measurement.map(|of| of.time_us),
            samples_us: samples_us.unwrap_or_default(),
            build_seconds: measurement.map(|of| of.build_seconds),
            stages: measurement.map(|of| of.stages.clone()).unwrap_or_default(),
            conversion_us: measurement.and_then(|of| of.conversion_us),
            energy: measurement.and_then(|of| of.energy.as_deref().copied()),
            detail,
            killed: matches!(evaluation, Evaluation::Killed(_)),
            session: 0,
        })
    }
}

/// A configuration as its values are written; `None` where it is none of the model's.
pub(super) fn codes(values: &[serde_json::Value], model: &Model) -> Option<Vec<i64>> {
    if values.len() != model.parameters.len() {
        return None;
    }
    let parameters = model.parameters.iter().zip(values);
    let codes = parameters.map(|(parameter, value)| {
        let value = match value {
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::String(name) => Value::Name(name.clone().into()),
            number => match number.as_i64() {
                Some(integer) => Value::Int(integer),
                None => Value::Fraction(Fraction::of(number.as_f64()?)),
            },
        };
        parameter.domain.code(&value)
    });
    codes.collect()
}

/// Before the checksum of a line, in place of its closing brace.
const BEFORE: &str = r#","crc32":""#;
/// After it.
const AFTER: &str = r#""}"#;
/// The checksum's hexadecimal digits.
const DIGITS: usize = 8;

/// An object as a line: its last field is the CRC-32 of all that is before that field. The newline
/// is there.
pub(crate) fn seal(object: &impl Serialize) -> serde_json::Result<String> {
    let mut line = serde_json::to_string(object)?;
    debug_assert!(line.ends_with('}'), "{line}");
    line.pop();
    let checksum = crc32fast::hash(line.as_bytes());
    // Writing to a String cannot fail.
    let _ = writeln!(line, "{BEFORE}{checksum:08x}{AFTER}");
    Ok(line)
}

/// Whether a line, without its newline, is as it was written. One without a checksum was written by
/// another tool, and passes.
pub(crate) fn is_whole(line: &[u8]) -> bool {
    let split = line
        .len()
        .checked_sub(BEFORE.len() + DIGITS + AFTER.len())
        .map(|at| line.split_at(at));
    let Some((content, field)) = split.filter(|(_, field)| field.starts_with(BEFORE.as_bytes()))
    else {
        return true;
    };
    let digits = field[BEFORE.len()..].get(..DIGITS);
    let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
    let stated = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    stated == Some(crc32fast::hash(content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_changed_byte_is_noticed() {
        let line = seal(&json!({ "values": [64, true], "time_us": 1.25 })).unwrap();
        let line = line.trim_end().as_bytes();
        assert!(is_whole(line));
        serde_json::from_slice::<serde_json::Value>(line).unwrap();
        let field = BEFORE.len() + DIGITS + AFTER.len();
        for at in 0..line.len() - field {
            let mut changed = line.to_vec();
            changed[at] ^= 1;
            assert!(!is_whole(&changed), "{at}");
        }
    }

    #[test]
    fn a_line_of_another_tool_passes() {
        assert!(is_whole(br#"{"values":[64],"time_us":1}"#) && is_whole(b""));
    }
}
