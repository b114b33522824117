//! Every result as it comes: JSON lines, so that nothing measured is ever lost.

mod read;

pub(crate) use read::{Place, Recalled, Recorded, recall};

use super::bench::Measured;
use super::plan::Job;
use crate::json;
use cltune_runtime::tuning::Outcome;
use serde::Serialize;
use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// The folder of all journals, in that of the session's state.
const FOLDER: &str = "journal";

/// The journal of one kernel, device and problem. Sessions are appended.
pub(crate) struct Journal {
    to: Box<dyn Write>,
}

/// One line: a configuration and what became of it.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    pub(crate) values: Vec<serde_json::Value>,
    pub(crate) status: &'static str,
    pub(crate) time_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) samples_us: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) build_seconds: Option<f64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<Cow<'a, str>>,
}

impl<'a> Line<'a> {
    pub(crate) fn new(job: &Job, codes: &[i64], measured: &'a Measured) -> Self {
        let line = Self {
            values: json::values(&job.declaration.model, codes),
            status: "ok",
            time_us: None,
            samples_us: None,
            build_seconds: None,
            detail: None,
        };
        let (status, detail): (_, Cow<'a, str>) = match measured {
            Measured::Outcome(Outcome::Ok(measurement)) => {
                return Self {
                    time_us: Some(measurement.time_us),
                    samples_us: Some(&measurement.samples_us),
                    build_seconds: Some(measurement.build_seconds),
                    ..line
                };
            }
            Measured::Outcome(Outcome::BuildFailed { log }) => ("build-failed", log.into()),
            Measured::Outcome(Outcome::LaunchFailed { error }) => ("launch-failed", error.into()),
            Measured::Outcome(Outcome::WrongResult(wrong)) => {
                ("wrong-result", wrong.to_string().into())
            }
            Measured::TimedOut(reason) => ("timed-out", reason.into()),
            Measured::Crashed(reason) => ("crashed", reason.into()),
        };
        Self {
            status,
            detail: Some(detail),
            ..line
        }
    }
}

#[derive(Serialize)]
struct Header<'a> {
    kernel: &'a str,
    fingerprint: &'a str,
    platform: &'a str,
    device: &'a str,
    driver: &'a str,
    dimensions: &'a [cltune_core::Text],
    problem: &'a [i64],
    params: Vec<&'a str>,
    strategy: &'a str,
    seed: u64,
}

impl Journal {
    /// Opens the journal's file and begins a session.
    pub(crate) fn open(
        state: &Path,
        job: &Job,
        strategy: &str,
        seed: u64,
    ) -> std::io::Result<Self> {
        let model = &job.declaration.model;
        let folder = state.join(FOLDER);
        std::fs::create_dir_all(&folder)?;
        let problem = model.dimensions.iter().zip(&job.dims);
        let problem: Vec<String> = problem
            .map(|(dimension, size)| format!("{dimension}{size}"))
            .collect();
        let problem = problem.join("-");
        let device = &job.device;
        let name: String = format!(
            "{}-{}-{}-{problem}",
            model.name, device.platform, device.name
        )
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
        let path = folder.join(format!("{name}.jsonl"));
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        Self::begin(Box::new(file), job, strategy, seed)
    }

    /// Writes the session's header.
    pub(super) fn begin(
        to: Box<dyn Write>,
        job: &Job,
        strategy: &str,
        seed: u64,
    ) -> std::io::Result<Self> {
        let model = &job.declaration.model;
        let mut journal = Self { to };
        journal.line(&Header {
            kernel: &model.name,
            fingerprint: &model.fingerprint,
            platform: &job.device.platform,
            device: &job.device.name,
            driver: &job.device.driver,
            dimensions: &model.dimensions,
            problem: &job.dims,
            params: model
                .parameters
                .iter()
                .map(|parameter| &*parameter.name)
                .collect(),
            strategy,
            seed,
        })?;
        Ok(journal)
    }

    /// Appends a line in one write.
    pub(crate) fn line(&mut self, line: &impl Serialize) -> std::io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        self.to.write_all(text.as_bytes())
    }
}
