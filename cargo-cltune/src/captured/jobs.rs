//! The jobs of a capture, in their order, and tunables with captured data.

use super::{Captured, Data, KeptArgument};
use crate::artifact::PackageTunables;
use crate::plan::{Filters, Job, PlanError, choose_devices, kinds, tunables};
use crate::worker::DeviceRecord;
use cltune_core::model::{ArgumentKind, Model};
use cltune_formats::declaration::{Declaration, Fill};
use std::path::Path;

/// Why nothing of a capture can be tuned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CapturedError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("no launch of the capture can be tuned here: {}", .0.join("; "))]
    Nothing(Vec<String>),
}

/// The jobs of a capture in its order, and why the rest of it has none.
pub(crate) fn jobs(
    captured: &[Captured],
    packages: &[PackageTunables],
    devices: &[DeviceRecord],
    filters: &Filters,
) -> Result<(Vec<Job>, Vec<String>), CapturedError> {
    let tunables = tunables(packages, &filters.kernels)?;
    let devices = kinds(choose_devices(devices, &filters.devices)?);
    let mut jobs = Vec::new();
    let mut skipped = Vec::new();
    for captured in captured {
        match job(captured, &tunables, &devices) {
            Ok(job) => jobs.push(job),
            Err(reason) => skipped.push(format!("{}: {reason}", captured.subject())),
        }
    }
    if jobs.is_empty() {
        return Err(CapturedError::Nothing(skipped));
    }
    Ok((jobs, skipped))
}

fn job(
    captured: &Captured,
    tunables: &[(&PackageTunables, &Declaration)],
    devices: &[(DeviceRecord, Vec<DeviceRecord>)],
) -> Result<Job, &'static str> {
    let (package, declaration) = tunables
        .iter()
        .find(|(_, declaration)| *declaration.model.name == *captured.kernel)
        .ok_or("there is no such tunable in what was built, or --kernel leaves it out")?;
    let (device, twins) = devices
        .iter()
        .find(|(device, _)| device.key().is(captured.key()))
        .ok_or("the device is not here, or --device leaves it out")?;
    let dims = dims(&declaration.model, captured).ok_or(OTHER_DIMENSIONS)?;
    let (declaration, _) = with_data(declaration, captured);
    Ok(Job {
        folder: package.manifest_dir.clone(),
        declaration,
        device: device.clone(),
        twins: twins.clone(),
        dims,
    })
}

/// Why a recorded problem is none of a tunable's.
pub(crate) const OTHER_DIMENSIONS: &str = "the tunable has other problem dimensions now";

/// The fills of a tunable's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// With the captured data.
    Captured,
    /// As it is declared: nothing was captured but the problem.
    Declared,
    /// As it is declared, since what was captured was passed to another version of the kernel.
    OfOtherVersion,
}

/// A tunable whose arguments are filled with what was captured, where that fits.
pub(crate) fn with_data(declaration: &Declaration, captured: &Captured) -> (Declaration, Inputs) {
    let mut declaration = declaration.clone();
    let inputs = match &captured.data {
        None => Inputs::Declared,
        Some(data) if data.fingerprint != *declaration.model.fingerprint => Inputs::OfOtherVersion,
        Some(data) => {
            fill(&mut declaration, data);
            Inputs::Captured
        }
    };
    (declaration, inputs)
}

/// The problem in the order of a model's dimensions; `None` where it has others.
pub(crate) fn dims(model: &Model, captured: &Captured) -> Option<Vec<i64>> {
    if model.dimensions.len() != captured.problem.len() {
        return None;
    }
    let size = |name: &cltune_core::Text| captured.problem.get(&**name).copied();
    model.dimensions.iter().map(size).collect()
}

/// Lets the tuner fill arguments with what was captured, where it was.
fn fill(declaration: &mut Declaration, data: &Data) {
    let arguments = declaration.model.arguments.iter();
    for (argument, fill) in arguments.zip(&mut declaration.fills) {
        match (&argument.kind, data.arguments.get(&*argument.name)) {
            (
                ArgumentKind::Buffer { .. }
                | ArgumentKind::Scalar {
                    dimension: None, ..
                },
                Some(KeptArgument::File(path)),
            ) => {
                if let Some(path) = absolute(path) {
                    *fill = Fill::File(path);
                }
            }
            (
                ArgumentKind::Scalar {
                    dimension: None, ..
                },
                Some(KeptArgument::Value(value)),
            ) => {
                *fill = Fill::Constant(*value);
            }
            _ => {}
        }
    }
    // What was captured is not made again.
    if !declaration.fills.contains(&Fill::Prepared) {
        declaration.prepare = None;
    }
}

/// Files of declarations are relative to their package, these are not; `None` for a path that is no
/// text, which a declaration cannot hold.
fn absolute(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    path.to_str().map(str::to_owned)
}
