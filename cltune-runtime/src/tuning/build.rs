//! Built kernels: a configuration, from source or from a binary that another process made of it.

use super::outcome::{Measurement, Outcome};
use super::timing::median;
use crate::context::Context;
use crate::error::Error;
use crate::image::check_formats;
use crate::kernel::{PreparedCommands, build_options, check_layouts, with_layout_kernel};
use crate::opencl::{BuildFailure, RawProgram};
use cltune_core::model::{Commands, Rejection};
use cltune_formats::declaration::Declaration;
use std::time::Instant;

/// The context, kernel and problem that configurations are built for.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuildTarget<'a> {
    pub(super) context: &'a Context,
    pub(super) declaration: &'a Declaration,
    pub(super) dims: &'a [i64],
}

/// A configuration that is built, and fits the device.
#[derive(Debug)]
pub(super) struct BuiltConfiguration {
    pub(super) program: RawProgram,
    pub(super) commands: PreparedCommands,
    /// The time that building took.
    pub(super) seconds: f64,
    /// Whether the layouts of structs were compared.
    pub(super) has_checked_layouts: bool,
}

impl BuiltConfiguration {
    /// The outcome of being right, with the times of launches.
    pub(super) fn timed(&self, samples_us: Vec<f64>) -> Outcome {
        Outcome::Ok(Measurement {
            time_us: median(&samples_us).unwrap_or(f64::NAN),
            samples_us,
            build_seconds: self.seconds,
            stages: Vec::new(),
            conversion_us: None,
            energy: None,
        })
    }
}

impl BuildTarget<'_> {
    /// Builds a configuration; from `binary` where the driver accepts it, else from source.
    pub(super) fn build(
        &self,
        codes: &[i64],
        binary: Option<&[u8]>,
    ) -> Result<BuiltConfiguration, Outcome> {
        let (model, device) = (&self.declaration.model, self.context.device());
        let limits = &device.info().limits;
        model
            .check(codes, self.dims, limits)
            .map_err(|rejection| rejected(&rejection))?;
        let commands = model
            .commands(codes, self.dims, limits)
            .map_err(|rejection| rejected(&rejection))?;
        let options = build_options(model, &model.source, device, codes, self.dims)
            .map_err(|error| launch_failed(&error))?;
        check_formats(self.context.raw(), device, model, &commands.images)
            .map_err(|error| launch_failed(&error))?;
        let begin = Instant::now();
        let built = binary.and_then(|binary| self.load_binary(binary, &options, &commands));
        let (program, commands) = match built {
            Some(built) => built,
            None => self.build_source(&options, commands)?,
        };
        let seconds = begin.elapsed().as_secs_f64();
        Ok(BuiltConfiguration {
            program,
            commands,
            seconds,
            has_checked_layouts: false,
        })
    }

    /// Compares the layouts of structs in a built program with the host's.
    pub(super) fn check_layouts(&self, program: &RawProgram) -> Result<(), Error> {
        let model = &self.declaration.model;
        let (context, device) = (self.context.raw(), self.context.device().raw());
        check_layouts(&model.name, context, device, program, &model.structs())
    }

    fn build_source(
        &self,
        options: &str,
        commands: Commands,
    ) -> Result<(RawProgram, PreparedCommands), Outcome> {
        let device = self.context.device();
        let model = &self.declaration.model;
        let source = with_layout_kernel(&model.source, &model.structs());
        let program = RawProgram::build(self.context.raw(), device.raw(), &source, options)
            .map_err(|failure| build_failed(&failure))?;
        let commands = PreparedCommands::new(&program, commands, device).map_err(|error| {
            Outcome::LaunchFailed {
                error: error.to_string(),
            }
        })?;
        Ok((program, commands))
    }

    /// `None` where the driver does not accept its binary, for whatever reason: then there is the
    /// source.
    fn load_binary(
        &self,
        binary: &[u8],
        options: &str,
        commands: &Commands,
    ) -> Option<(RawProgram, PreparedCommands)> {
        let device = self.context.device();
        let program = RawProgram::from_binary(self.context.raw(), device.raw(), binary, options);
        let program = program.ok()?;
        let commands = PreparedCommands::new(&program, commands.clone(), device).ok()?;
        Some((program, commands))
    }
}

/// A launch that was not begun, or failed.
pub(super) fn launch_failed(error: &Error) -> Outcome {
    Outcome::LaunchFailed {
        error: error.to_string(),
    }
}

fn rejected(rejection: &Rejection) -> Outcome {
    Outcome::LaunchFailed {
        error: rejection.to_string(),
    }
}

fn build_failed(failure: &BuildFailure) -> Outcome {
    Outcome::BuildFailed {
        log: format!("{}\n{}", failure.status, failure.log)
            .trim_end()
            .to_string(),
    }
}
