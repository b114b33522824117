//! With `--captured`: a capture's problems and data instead of those that are tuned and declared.

use super::attempt::Purpose;
use super::entries::{Origin, VerifiedEntry};
use super::plan::{Host, Planner, VerifyError};
use crate::captured::{Captured, Inputs, OTHER_DIMENSIONS, dims, with_data};
use crate::commands::tuned::Tuned;
use crate::plan::PlanError;
use cltune_formats::declaration::Declaration;

impl Planner<'_> {
    /// Whether a program launched it.
    pub(super) fn is_captured(&self, declaration: &Declaration) -> bool {
        let name = &declaration.model.name;
        self.captured
            .iter()
            .any(|captured| *captured.kernel == **name)
    }

    /// Says of an entry whose kernel was captured, and its problem was not, that it is not run.
    pub(super) fn add_if_captured(&mut self, entry: &VerifiedEntry) {
        let model = &entry.declaration.model;
        let is_same = |captured: &&Captured| {
            *captured.kernel == *model.name && dims(model, captured).as_ref() == Some(&entry.dims)
        };
        if !self.captured.iter().any(|captured| is_same(&captured)) {
            self.plan.left_out.push(format!(
                "{} ({}; tuned for {}): the capture has other problems of it",
                model.name,
                model.describe(&entry.codes),
                model.describe_problem(&entry.dims)
            ));
        }
    }

    /// Adds what a launch would select for the problems that were captured of a tunable, with their
    /// data; that of the device itself, where several have it.
    pub(super) fn add_captured(&mut self, tunable: &Tuned, host: &Host) -> Result<(), PlanError> {
        let model = &tunable.declaration.model;
        let of_kernel = self.captured.iter();
        let of_kernel = of_kernel.filter(|captured| *captured.kernel == *model.name);
        let mut problems: Vec<(Vec<i64>, Captured)> = Vec::new();
        for captured in of_kernel {
            let Some(dims) = dims(model, captured) else {
                let reason = format!("{}: {OTHER_DIMENSIONS}", captured.subject());
                self.plan.left_out.push(reason);
                continue;
            };
            let worth = |captured: &Captured| {
                let device = &host.of;
                let is_here = device.key().is(captured.key());
                (captured.data.is_some(), is_here)
            };
            match problems.iter_mut().find(|(known, _)| *known == dims) {
                Some((_, known)) if worth(known) < worth(captured) => *known = captured.clone(),
                Some(_) => {}
                None => problems.push((dims, captured.clone())),
            }
        }
        for (dims, captured) in problems {
            let (declaration, inputs) = with_data(&tunable.declaration, &captured);
            if inputs == Inputs::OfOtherVersion {
                self.plan.left_out.push(format!(
                    "{}: its data was passed to another version of the kernel; capture it again",
                    captured.subject()
                ));
                continue;
            }
            let table = &tunable.table;
            let mut tuned = table.results.iter();
            let tuned = tuned.find(|result| {
                table.devices[usize::from(result.device)]
                    .key()
                    .is(host.of.key())
                    && *result.problem == *dims
            });
            let entry = match tuned {
                Some(result) => Some(VerifiedEntry {
                    folder: tunable.folder.clone(),
                    declaration: declaration.clone(),
                    device: host.of.clone(),
                    dims: dims.clone(),
                    codes: result.values.to_vec(),
                    origin: Origin::Tuned,
                }),
                None => self.selected(tunable, host, &dims),
            };
            let Some(entry) = entry else { continue };
            let entry = VerifiedEntry {
                declaration,
                ..entry
            };
            if inputs == Inputs::Captured {
                self.push(&entry, host, dims, Purpose::Captured);
            } else {
                self.add(&entry, host)?;
            }
            self.found_captured = true;
        }
        Ok(())
    }

    /// Says what of the capture is of no tunable here.
    ///
    /// # Errors
    /// Nothing of it can be run.
    pub(super) fn check_capture(&mut self, tunables: &[Tuned]) -> Result<(), VerifyError> {
        for captured in &self.captured {
            let mut all = tunables.iter();
            if !all.any(|tunable| *tunable.declaration.model.name == *captured.kernel) {
                self.plan.left_out.push(format!(
                    "{}: there is no such tunable in what was built, or --kernel leaves it out",
                    captured.subject()
                ));
            }
        }
        if self.found_captured {
            return Ok(());
        }
        Err(VerifyError::NothingCaptured(self.plan.left_out.clone()))
    }
}
