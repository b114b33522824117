//! Built kernels: a configuration, from source or from a binary that another process made of it,
//! and the reference.

use super::outcome::{Measurement, Outcome};
use super::timing::median;
use crate::context::Context;
use crate::error::Error;
use crate::kernel::{build_options, check_fit, set_local_memory};
use crate::opencl::{BuildFailure, RawKernel, RawProgram};
use cltune_core::declaration::Declaration;
use cltune_core::expr::Env;
use cltune_core::model::{Argument, ArgumentKind, Geometry, Rejection};
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
    pub(super) kernel: RawKernel,
    pub(super) geometry: Geometry,
    /// The time that building took.
    pub(super) seconds: f64,
}

impl BuiltConfiguration {
    /// The outcome of being right, with the times of launches.
    pub(super) fn timed(&self, samples_us: Vec<f64>) -> Outcome {
        Outcome::Ok(Measurement {
            time_us: median(&samples_us).unwrap_or(f64::NAN),
            samples_us,
            build_seconds: self.seconds,
        })
    }
}

impl<'a> BuildTarget<'a> {
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
        let geometry = model
            .geometry(codes, self.dims, limits)
            .map_err(|rejection| rejected(&rejection))?;
        let options = build_options(model, &model.source, device, codes, self.dims)
            .map_err(|error| launch_failed(&error))?;
        let begin = Instant::now();
        let built = binary.and_then(|binary| self.load_binary(binary, &options));
        let (program, kernel) = match built {
            Some(built) => built,
            None => self.build_source(&options)?,
        };
        let seconds = begin.elapsed().as_secs_f64();
        set_local_memory(&kernel, model, &self.env(codes))
            .map_err(|error| launch_failed(&error))?;
        check_fit(&kernel, device, &geometry).map_err(|lacks| Outcome::LaunchFailed {
            error: lacks.to_string(),
        })?;
        Ok(BuiltConfiguration {
            program,
            kernel,
            geometry,
            seconds,
        })
    }

    /// The values that formulas are evaluated with.
    pub(super) fn env(&self, codes: &'a [i64]) -> Env<'a> {
        Env {
            params: codes,
            dims: self.dims,
            device: &self.context.device().info().limits,
        }
    }

    fn build_source(&self, options: &str) -> Result<(RawProgram, RawKernel), Outcome> {
        let (context, device) = (self.context.raw(), self.context.device().raw());
        let source = &self.declaration.model.source;
        let program = RawProgram::build(context, device, source, options)
            .map_err(|failure| build_failed(&failure))?;
        let name = &self.declaration.model.kernel;
        let kernel = RawKernel::new(&program, name).map_err(|status| Outcome::LaunchFailed {
            error: format!("clCreateKernel `{name}` failed: {status}"),
        })?;
        Ok((program, kernel))
    }

    /// `None` where the driver does not accept its binary, for whatever reason: then there is the
    /// source.
    fn load_binary(&self, binary: &[u8], options: &str) -> Option<(RawProgram, RawKernel)> {
        let (context, device) = (self.context.raw(), self.context.device().raw());
        let program = RawProgram::from_binary(context, device, binary, options).ok()?;
        let kernel = RawKernel::new(&program, &self.declaration.model.kernel).ok()?;
        Some((program, kernel))
    }
}

/// A kernel that computes the reference.
#[derive(Debug)]
pub(super) struct ReferenceLaunch {
    pub(super) name: String,
    pub(super) kernel: RawKernel,
    pub(super) geometry: Geometry,
    /// Whether it takes the local arguments of the declaration.
    pub(super) takes_local: bool,
    /// The number of terms that each result accumulates, if that is declared.
    pub(super) accumulates: Option<u64>,
}

impl ReferenceLaunch {
    /// The kernel's position of a declared argument.
    pub(super) fn position(&self, arguments: &[Argument], declared: usize) -> u32 {
        let before = arguments[..declared].iter();
        before
            .filter(|argument| self.takes_local || !is_local(argument))
            .count() as u32
    }
}

pub(super) fn is_local(argument: &Argument) -> bool {
    matches!(argument.kind, ArgumentKind::Local { .. })
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
