//! Files of other tuners for the report, as kernels, problems and devices.

use super::read::{ReadError, read};
use crate::history::{Kernel, OnDevice, Problem};
use crate::session::{Recorded, Session};
use cltune_core::measure::Measure;
use cltune_core::model::Model;
use cltune_core::parameter::Parameter;
use cltune_core::{List, Text};
use cltune_formats::declaration::{Declaration, Reference, Tolerance};
use cltune_search::recorded::{About, Measurements, Position, RecordedResult, Values};
use std::path::PathBuf;

/// Files about one kernel: the same name, parameters and dimensions.
struct Group {
    kernel: String,
    parameters: Vec<String>,
    dimensions: Vec<String>,
    files: Vec<Measurements>,
}

/// Reads files and puts those about the same kernel together.
///
/// # Errors
/// Where a file cannot be read, or has no results.
pub(crate) fn import(paths: &[PathBuf]) -> Result<Vec<Kernel>, ReadError> {
    let mut groups: Vec<Group> = Vec::new();
    for path in paths {
        let file = read(path)?;
        if file.results.is_empty() {
            return Err(file.error(Position::File, "the file has no results").into());
        }
        let problem = file.about.problem.iter();
        let group = Group {
            kernel: file.about.kernel.clone().unwrap_or_else(|| file.name()),
            parameters: file.parameters.clone(),
            dimensions: problem.map(|(name, _)| name.clone()).collect(),
            files: Vec::new(),
        };
        let known = groups
            .iter_mut()
            .find(|known| known.is_about_that_of(&group));
        match known {
            Some(known) => known.files.push(file),
            None => groups.push(Group {
                files: vec![file],
                ..group
            }),
        }
    }
    Ok(groups.into_iter().map(Group::kernel).collect())
}

impl Group {
    fn is_about_that_of(&self, other: &Self) -> bool {
        self.kernel == other.kernel
            && self.parameters == other.parameters
            && self.dimensions == other.dimensions
    }

    fn kernel(self) -> Kernel {
        let names = self.parameters.iter().enumerate();
        let parameters = names.map(|(column, name)| {
            let results = self.files.iter().flat_map(|file| &file.results);
            let values = Values::of(results.map(|result| &*result.values[column]));
            (name.clone(), values)
        });
        let (names, values): (Vec<String>, Vec<Values>) = parameters.unzip();
        let mut problems: Vec<Problem> = Vec::new();
        let mut sources = Vec::new();
        for file in &self.files {
            sources.push(file.path.display().to_string());
            let dims: Vec<i64> = file.about.problem.iter().map(|(_, size)| *size).collect();
            let at = problems.iter().position(|problem| problem.dims == dims);
            let at = at.unwrap_or_else(|| {
                problems.push(Problem {
                    dims,
                    devices: Vec::new(),
                });
                problems.len() - 1
            });
            add(file, &values, &mut problems[at].devices);
        }
        problems.sort_by(|a, b| a.dims.cmp(&b.dims));
        for problem in &mut problems {
            let name = |on: &OnDevice| (on.platform.clone(), on.device.clone());
            problem.devices.sort_by_key(name);
        }
        let parameters = names.into_iter().zip(values);
        let parameters = parameters.map(|(name, values)| Parameter {
            name: name.into(),
            domain: values.domain,
        });
        let parameters = parameters.collect();
        Kernel {
            declaration: declaration(self.kernel, parameters, self.dimensions, sources.join(", ")),
            problems,
        }
    }
}

/// Adds a file's results to those of its device.
fn add(file: &Measurements, parameters: &[Values], devices: &mut Vec<OnDevice>) {
    let About {
        platform,
        device,
        driver,
        ..
    } = &file.about;
    let platform = platform.clone().unwrap_or_default();
    // A file that does not say is likely to be called after its device.
    let device = device.clone().unwrap_or_else(|| file.name());
    let same = |on: &OnDevice| on.platform == platform && on.device == device;
    let at = devices.iter().position(same).unwrap_or_else(|| {
        devices.push(OnDevice {
            platform,
            device,
            ..OnDevice::default()
        });
        devices.len() - 1
    });
    let on = &mut devices[at];
    let session = on.sessions.len();
    on.sessions.push(Session {
        driver: driver.clone().unwrap_or_default(),
        ..Session::default()
    });
    let results = file.results.iter();
    on.results
        .extend(results.map(|result| recorded(result, parameters, session)));
}

fn recorded(result: &RecordedResult, parameters: &[Values], session: usize) -> Recorded {
    let values = parameters.iter().zip(&result.values);
    Recorded {
        // The domains are those of these very results.
        codes: values
            .map(|(parameter, text)| parameter.code(text).unwrap_or_default())
            .collect(),
        time_us: result.time_ms.map(|ms| ms * 1e3),
        status: result.status.clone(),
        detail: result.detail.clone(),
        samples_us: result.samples_ms.iter().map(|ms| ms * 1e3).collect(),
        stages: Vec::new(),
        conversion_us: None,
        energy: None,
        build_seconds: result.build_ms.map(|ms| ms / 1e3),
        killed: false,
        session,
    }
}

/// The declaration of a kernel of another tuner, as far as the report needs it.
fn declaration(
    kernel: String,
    parameters: Vec<Parameter>,
    dimensions: Vec<String>,
    source_file: String,
) -> Declaration {
    let dimensions = dimensions.into_iter().map(Text::from);
    Declaration {
        model: Model {
            name: kernel.into(),
            fingerprint: "".into(),
            source: "".into(),
            options: List::default(),
            parameters: parameters.into(),
            dimensions: dimensions.collect::<Vec<_>>().into(),
            constraints: List::default(),
            defines: List::default(),
            arguments: List::default(),
            scratch: List::default(),
            steps: List::default(),
            default: None,
            template: None,
        },
        package: String::new(),
        version: String::new(),
        source_file,
        lockfile_seen: String::new(),
        files: Vec::new(),
        problems: Vec::new(),
        tune_if: None,
        prepare: None,
        reference: Reference::Default,
        tolerance: Tolerance::default(),
        draws: None,
        fills: Vec::new(),
        compared: Vec::new(),
        bytes: None,
        flops: None,
        even_work: false,
        measure: Measure::WARM,
    }
}
