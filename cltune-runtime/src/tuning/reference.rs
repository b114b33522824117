//! The reference: it computes the results that configurations are compared with.

use super::buffers::Round;
use super::build::ReferenceLaunch;
use super::measurer::Measurer;
use super::options::Step;
use super::prepare_error::PrepareError;
use super::signature;
use crate::error::Error;
use crate::image::check_formats;
use crate::kernel::PreparedCommands;
use crate::opencl::{RawKernel, RawProgram};
use cltune_core::declaration::Reference;
use cltune_core::model::{ArgumentKind, Command, Commands, Given, Launch, Memory};
use std::fmt;

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
        self.queue.finish().map_err(failed)?;
        self.step(Step::Kernel);
        self.launch(&reference.commands, round, None)
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
        let limits = &self.context.device().info().limits;
        let commands = model.commands(&self.default, &self.dims, limits);
        let failed = |kernel: &str, error: &dyn fmt::Display| PrepareError::Reference {
            kernel: kernel.to_string(),
            error: error.to_string(),
        };
        let commands = commands.map_err(|rejection| failed(&self.name(), &rejection))?;
        let device = self.context.device();
        check_formats(self.context.raw(), device, model, &commands.images)?;
        self.check_signatures(&own, &commands)?;
        let (name, program, commands) = match &self.declaration.reference {
            Reference::Default => (self.name(), own, commands),
            Reference::Kernel(reference) => {
                let name = reference.kernel.clone();
                let program = match &reference.source {
                    Some(source) => self.reference_program(source, Some(&name))?,
                    None => own,
                };
                let kernel = find_kernel(&program, &name)?;
                signature::check(&name, &signature::passed(model), &kernel)?;
                let geometry = reference.geometry(&self.env(&self.default));
                let passed = 0..model.arguments.len();
                let launch = Launch {
                    kernel: name.clone().into(),
                    geometry: geometry.map_err(|error| failed(&name, &error))?,
                    arguments: passed
                        .map(|position| Given::Passed(position as u16))
                        .collect(),
                };
                let mut images = commands.images;
                // What a parameter places is a buffer for the reference.
                images.retain(|(position, _)| {
                    let argument = &model.arguments[*position];
                    let kind = &argument.kind;
                    matches!(
                        kind,
                        ArgumentKind::Buffer {
                            memory: Memory::Image(_),
                            ..
                        }
                    )
                });
                let commands = Commands {
                    list: vec![Command::Launch(launch)],
                    scratch: Vec::new(),
                    images,
                };
                (name, program, commands)
            }
        };
        let commands = PreparedCommands::new(&program, commands, self.context.device());
        Ok(ReferenceLaunch {
            commands: commands.map_err(|error| failed(&name, &error))?,
            name,
            accumulates,
        })
    }

    /// Compares each stage of the default configuration with its kernel's signature.
    fn check_signatures(
        &self,
        program: &RawProgram,
        commands: &Commands,
    ) -> Result<(), PrepareError> {
        let model = &self.declaration.model;
        for stage in model.stages() {
            let Ok(name) = model.kernel_name(stage, &self.default) else {
                continue;
            };
            let is_launched = |command: &Command| matches!(command, Command::Launch(launch) if launch.kernel == name);
            // What the default leaves out may be there for other values only.
            if !commands.list.iter().any(is_launched) {
                continue;
            }
            let kernel = find_kernel(program, &name)?;
            let arguments = stage.arguments.iter();
            let declared =
                arguments.map(|argument| signature::declared(model, argument, &self.default));
            signature::check(&name, &declared.collect::<Vec<_>>(), &kernel)?;
        }
        Ok(())
    }

    /// The kernel of a single launch; the tunable's name for a group.
    fn name(&self) -> String {
        let model = &self.declaration.model;
        let single = model.single_stage().map(|stage| &stage.kernel);
        single.unwrap_or(&model.name).to_string()
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
                    kernel: self.name(),
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
