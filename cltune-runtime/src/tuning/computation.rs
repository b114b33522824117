//! Launches that the tuner makes for itself, built: those that make inputs, and the reference's.

use super::build::BuildTarget;
use super::prepare_error::PrepareError;
use super::signature::{self, SignatureMismatch};
use crate::image::check_formats;
use crate::kernel::{
    LAYOUT_KERNEL, PreparedCommands, build_options, check_names, mentions, with_layout_kernel,
};
use crate::opencl::{RawKernel, RawProgram};
use cltune_core::model::{Command, Commands, Model, StructType};
use cltune_formats::declaration::Computation;
use std::fmt;

/// A computation that is ready to be launched.
#[derive(Debug)]
pub(super) struct BuiltComputation {
    /// Its kernel's name; the tunable's where it has several.
    pub(super) name: String,
    pub(super) commands: PreparedCommands,
}

/// The launches that compute the reference.
#[derive(Debug)]
pub(super) struct ReferenceLaunch {
    pub(super) launches: BuiltComputation,
    /// The number of terms that each result accumulates, if that is declared.
    pub(super) accumulates: Option<u64>,
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
        let source = with_layout_kernel(source, &self.structs_of(source));
        let built = RawProgram::build(self.context.raw(), device.raw(), &source, &options);
        built.map_err(|failure| {
            let log = format!("{}\n{}", failure.status, failure.log);
            log.trim_end().to_string()
        })
    }

    /// Builds the tunable's source so.
    pub(super) fn own_program(&self, default: &[i64]) -> Result<RawProgram, PrepareError> {
        let model = &self.declaration.model;
        check_names(&model.name, &model.source, &model.structs())?;
        let program = self.program(&model.source, default);
        let program = program.map_err(|log| PrepareError::Build {
            kernel: name(model),
            configuration: model.describe(default),
            log,
        })?;
        self.check_layouts(&program)?;
        Ok(program)
    }

    /// The structs that a source knows: of one of its own, which may see them as numbers, all or
    /// none.
    fn structs_of(&self, source: &str) -> Vec<&'static StructType> {
        let mut structs = self.declaration.model.structs();
        if !mentions(source, &structs) {
            structs.clear();
        }
        structs
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
        let of_source;
        let program = match &computation.source {
            Some(source) => {
                let program = self.program(source, default);
                of_source = program.map_err(|log| Unbuilt::failed(&name, log))?;
                if !self.structs_of(source).is_empty() {
                    let checked = self.check_layouts(&of_source);
                    checked.map_err(|error| Unbuilt::failed(&name, error))?;
                }
                &of_source
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
        let (device, model) = (self.context.device(), &self.declaration.model);
        check_formats(self.context.raw(), device, model, &commands.images)
            .map_err(|error| Unbuilt::failed(&name, error))?;
        let commands = PreparedCommands::new(program, commands, device);
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
        let declared = arguments.map(|argument| signature::declared(model, argument, codes));
        signature::check(&name, &declared.collect::<Vec<_>>(), &kernel)
            .map_err(Unbuilt::Signature)?;
    }
    Ok(())
}

fn find_kernel(program: &RawProgram, name: &str) -> Result<RawKernel, Unbuilt> {
    RawKernel::new(program, name).map_err(|status| {
        let mut names = program.kernel_names();
        names.retain(|name| name != LAYOUT_KERNEL);
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
