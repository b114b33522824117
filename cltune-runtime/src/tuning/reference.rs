//! The reference: it computes the results that configurations are compared with.

use super::buffers::Round;
use super::build::{ReferenceLaunch, is_local};
use super::measurer::Measurer;
use super::options::Step;
use super::prepare_error::PrepareError;
use super::signature;
use crate::error::Error;
use crate::opencl::{RawKernel, RawProgram};
use cltune_core::declaration::Reference;

impl Measurer {
    /// Compares the declaration with the kernel's signature, then keeps what the reference makes of
    /// every draw.
    pub(super) fn run_reference(&mut self) -> Result<(), PrepareError> {
        self.step(Step::Host);
        let reference = self.reference()?;
        for draw in 0..self.arguments.draws {
            let round = Round::of(draw);
            self.run_on(&reference, round)?;
            let tolerance = &self.declaration.tolerance;
            self.arguments
                .keep_expected(&self.queue, round, tolerance, reference.accumulates)?;
        }
        self.reference = Some(reference);
        Ok(())
    }

    /// Lets the reference compute a draw.
    pub(super) fn run_on(
        &self,
        reference: &ReferenceLaunch,
        round: Round,
    ) -> Result<(), PrepareError> {
        let failed = |error: Error| PrepareError::Reference {
            kernel: reference.name.clone(),
            error: error.to_string(),
        };
        self.step(Step::Host);
        self.arguments.restore(&self.queue, round)?;
        let model = &self.declaration.model;
        let position = |declared| reference.position(&model.arguments, declared);
        self.arguments
            .set(&reference.kernel, round, position)
            .map_err(failed)?;
        self.queue.finish().map_err(failed)?;
        self.step(Step::Kernel);
        self.launch(&reference.kernel, &reference.geometry)
            .map_err(failed)?;
        self.step(Step::Host);
        Ok(())
    }

    /// The number of terms that each result accumulates, if that is declared.
    fn accumulates(&self) -> Result<Option<u64>, PrepareError> {
        let Some(terms) = &self.declaration.tolerance.accumulates else {
            return Ok(None);
        };
        let wrong = |reason: String| PrepareError::Accumulates {
            text: terms.text.to_string(),
            reason,
        };
        let value = terms.eval(&self.env(&self.default));
        let value = value.map_err(|reason| wrong(format!("has no value: {reason}")))?;
        let terms = u64::try_from(value).ok().filter(|terms| *terms > 0);
        terms
            .map(Some)
            .ok_or_else(|| wrong(format!("is {value}, and must be at least 1")))
    }

    fn reference(&self) -> Result<ReferenceLaunch, PrepareError> {
        let model = &self.declaration.model;
        let accumulates = self.accumulates()?;
        let own = self.reference_program(&model.source, None)?;
        let kernel = find_kernel(&own, &model.kernel)?;
        signature::check(&model.kernel, &model.arguments, &kernel)?;
        let launch = match &self.declaration.reference {
            Reference::Default => {
                self.set_local(&kernel, &self.default)?;
                ReferenceLaunch {
                    name: model.kernel.to_string(),
                    kernel,
                    geometry: self.geometry(&self.default).map_err(|rejection| {
                        PrepareError::Reference {
                            kernel: model.kernel.to_string(),
                            error: rejection.to_string(),
                        }
                    })?,
                    takes_local: true,
                    accumulates,
                }
            }
            Reference::Kernel(reference) => {
                let name = reference.kernel.clone();
                let program = match &reference.source {
                    Some(source) => self.reference_program(source, Some(&name))?,
                    None => own,
                };
                let kernel = find_kernel(&program, &name)?;
                let passed = model
                    .arguments
                    .iter()
                    .filter(|argument| !is_local(argument));
                signature::check(&name, &passed.cloned().collect::<Vec<_>>(), &kernel)?;
                ReferenceLaunch {
                    kernel,
                    geometry: reference
                        .geometry(&self.env(&self.default))
                        .map_err(|error| PrepareError::Reference {
                            kernel: name.clone(),
                            error: error.to_string(),
                        })?,
                    name,
                    takes_local: false,
                    accumulates,
                }
            }
        };
        self.fits(&launch.kernel, &launch.geometry)
            .map_err(|error| PrepareError::Reference {
                kernel: launch.name.clone(),
                error,
            })?;
        Ok(launch)
    }

    /// Builds with the default configuration's macros: the tunable's own source, or that of the
    /// reference of this name.
    fn reference_program(
        &self,
        source: &str,
        reference: Option<&str>,
    ) -> Result<RawProgram, PrepareError> {
        let options = self.build_options(source, &self.default)?;
        let options = format!("{options} -cl-kernel-arg-info");
        let device = self.context.device().raw();
        RawProgram::build(self.context.raw(), device, source, &options).map_err(|failure| {
            let log = format!("{}\n{}", failure.status, failure.log);
            let log = log.trim_end().to_string();
            match reference {
                Some(name) => PrepareError::Reference {
                    kernel: name.to_string(),
                    error: log,
                },
                None => PrepareError::Build {
                    kernel: self.declaration.model.kernel.to_string(),
                    configuration: self.declaration.model.describe(&self.default),
                    log,
                },
            }
        })
    }
}

fn find_kernel(program: &RawProgram, name: &str) -> Result<RawKernel, PrepareError> {
    RawKernel::new(program, name).map_err(|status| {
        let names = program.kernel_names();
        // PoCL calls functions of OpenCL C so, where a kernel has the name of one.
        let of_opencl = format!("_cl_{name}");
        let there = if names.contains(&of_opencl) {
            format!("; `{name}` is a function of OpenCL C itself: give the kernel another name")
        } else if names.is_empty() {
            String::new()
        } else {
            format!("; the source has: {}", names.join(", "))
        };
        PrepareError::Reference {
            kernel: name.to_string(),
            error: format!("{status}{there}"),
        }
    })
}
