//! Launches that the tuner makes for itself, built: those that make inputs, and the reference's.

use super::build::BuildTarget;
use super::prepare_error::PrepareError;
use super::signature::{self, SignatureMismatch};
use crate::kernel::{PreparedCommands, build_options};
use crate::opencl::{RawKernel, RawProgram};
use cltune_core::declaration::Computation;
use cltune_core::model::{Command, Commands, Model};
use std::fmt;

/// A computation that is ready to be launched.
#[derive(Debug)]
pub(super) struct BuiltComputation {
    /// Its kernel's name; the tunable's where it has several.
    pub(super) name: String,
    pub(super) commands: PreparedCommands,
}

/// Why a computation cannot be launched.
#[derive(Debug)]
pub(super) enum Unbuilt {
    /// Its declaration does not fit a kernel.
    Signature(SignatureMismatch),
    /// For another reason.
    Failed {
        /// The kernel, or the tunable where it has several.
        name: String,
        error: String,
    },
}

impl Unbuilt {
    pub(super) fn failed(name: impl Into<String>, error: impl fmt::Display) -> Self {
        Self::Failed {
            name: name.into(),
            error: error.to_string(),
        }
    }

    /// The error of what cannot be computed then.
    pub(super) fn of(self, of: impl FnOnce(String, String) -> PrepareError) -> PrepareError {
        match self {
            Self::Signature(mismatch) => mismatch.into(),
            Self::Failed { name, error } => of(name, error),
        }
    }
}

impl BuildTarget<'_> {
    /// Builds a source with the macros of the default configuration.
    ///
    /// # Errors
    /// The driver's code and the compiler's log.
    pub(super) fn program(&self, source: &str, default: &[i64]) -> Result<RawProgram, String> {
        let model = &self.declaration.model;
        let device = self.context.device();
        let options = build_options(model, source, device, default, self.dims)
            .map_err(|error| error.to_string())?;
        let options = format!("{options} -cl-kernel-arg-info");
        let built = RawProgram::build(self.context.raw(), device.raw(), source, &options);
        built.map_err(|failure| {
            let log = format!("{}\n{}", failure.status, failure.log);
            log.trim_end().to_string()
        })
    }

    /// Builds a computation, and compares its stages with their kernels; `own` is the tunable's
    /// program.
    pub(super) fn computation(
        &self,
        computation: &Computation,
        default: &[i64],
        own: &RawProgram,
    ) -> Result<BuiltComputation, Unbuilt> {
        let limits = &self.context.device().info().limits;
        let model = computation.model(&self.declaration.model);
        let name = name(&model);
        let commands = model.commands(default, self.dims, limits);
        let commands = commands.map_err(|rejection| Unbuilt::failed(&name, rejection))?;
        let program = match &computation.source {
            Some(source) => {
                let program = self.program(source, default);
                &program.map_err(|log| Unbuilt::failed(&name, log))?
            }
            None => own,
        };
        check_signatures(program, &model, default, &commands)?;
        self.prepared(name, program, commands)
    }

    /// The commands of a program, ready to be launched.
    pub(super) fn prepared(
        &self,
        name: String,
        program: &RawProgram,
        commands: Commands,
    ) -> Result<BuiltComputation, Unbuilt> {
        let commands = PreparedCommands::new(program, commands, self.context.device());
        let commands = commands.map_err(|error| Unbuilt::failed(&name, error))?;
        Ok(BuiltComputation { name, commands })
    }
}

/// The only kernel of a model; the model's name where there are several.
pub(super) fn name(model: &Model) -> String {
    match &model.stages()[..] {
        [stage] => stage.kernel.to_string(),
        _ => model.name.to_string(),
    }
}

/// Compares each stage that is launched with its kernel's signature.
pub(super) fn check_signatures(
    program: &RawProgram,
    model: &Model,
    codes: &[i64],
    commands: &Commands,
) -> Result<(), Unbuilt> {
    for stage in model.stages() {
        let Ok(name) = model.kernel_name(stage, codes) else {
            continue;
        };
        let is_launched =
            |command: &Command| matches!(command, Command::Launch(launch) if launch.kernel == name);
        // What a condition leaves out may be there for other values only.
        if !commands.list.iter().any(is_launched) {
            continue;
        }
        let kernel = find_kernel(program, &name)?;
        let arguments = stage.arguments.iter();
        let declared = arguments.map(|argument| signature::declared(model, argument));
        signature::check(&name, &declared.collect::<Vec<_>>(), &kernel)
            .map_err(Unbuilt::Signature)?;
    }
    Ok(())
}

fn find_kernel(program: &RawProgram, name: &str) -> Result<RawKernel, Unbuilt> {
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
        Unbuilt::failed(name, format!("{status}{there}"))
    })
}
