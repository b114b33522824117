//! Every result as it comes: JSON lines, so that nothing measured is ever lost.

use super::plan::Job;
use cltune_core::parameter::Value;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// The journal of one kernel, device and problem. Sessions are appended.
pub(crate) struct Journal {
    file: File,
}

/// One line.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    pub(crate) values: Vec<serde_json::Value>,
    pub(crate) status: &'a str,
    pub(crate) time_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) samples_us: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) build_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<&'a str>,
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
    /// Opens the journal and writes the session's header.
    pub(crate) fn open(
        state: &Path,
        job: &Job,
        strategy: &str,
        seed: u64,
    ) -> std::io::Result<Self> {
        let model = &job.declaration.model;
        let folder = state.join("journal");
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
        let mut journal = Self { file };
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
        self.file.write_all(text.as_bytes())
    }
}

/// A configuration's values as JSON, in the order of the parameters.
pub(crate) fn json_values(job: &Job, codes: &[i64]) -> Vec<serde_json::Value> {
    let parameters = job.declaration.model.parameters.iter().zip(codes);
    parameters
        .map(|(parameter, code)| match parameter.domain.value(*code) {
            Some(Value::Int(value)) => value.into(),
            Some(Value::Bool(value)) => value.into(),
            Some(Value::Name(name)) => name.into_owned().into(),
            None => serde_json::Value::Null,
        })
        .collect()
}
