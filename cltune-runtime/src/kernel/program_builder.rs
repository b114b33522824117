//! Built programs: each once in a context, however many problems, queues and threads use it, and
//! once for all runs of this user's programs where the driver gives binaries.

use super::layout::{check_layouts, check_names, with_layout_kernel};
use super::tunable::Tunable;
use crate::cache::{KeptProgram, ProgramId, Store};
use crate::context::ContextCore;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::opencl::{BuildFailure, RawContext, RawProgram};
use cltune_core::device::DeviceInfo;
use cltune_core::model::{Model, mentioned};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Builds programs in a context. A thread that builds has this and not the context itself: whoever
/// drops the context waits for such threads, which must not be those who keep it alive.
#[derive(Clone, Debug)]
pub(crate) struct ProgramBuilder {
    programs: Arc<Programs>,
    context: Arc<ContextCore>,
}

/// A program with the time it takes to build: now, or from source in an earlier run, whichever is
/// longer.
#[derive(Debug)]
pub(super) struct BuiltProgram {
    pub(super) program: RawProgram,
    pub(super) build_time: Duration,
}

/// A program under construction or built; a failure is remembered too.
type Slot = Arc<OnceLock<Result<Arc<BuiltProgram>>>>;

/// The programs of a context, by tunable and compile options.
#[derive(Debug, Default)]
struct Programs(Mutex<HashMap<(usize, String), Slot>>);

impl ProgramBuilder {
    /// Without programs yet.
    pub(crate) fn new(context: Arc<ContextCore>) -> Self {
        Self {
            programs: Arc::default(),
            context,
        }
    }

    pub(crate) fn device(&self) -> &Device {
        self.context.device()
    }

    pub(super) fn context(&self) -> &RawContext {
        self.context.raw()
    }

    /// The program of a configuration. The first caller builds it; others that ask meanwhile wait.
    pub(super) fn program(
        &self,
        tunable: &'static Tunable,
        codes: &[i64],
        dims: &[i64],
    ) -> Result<Arc<BuiltProgram>> {
        let model = tunable.model();
        let options = build_options(model, &model.source, self.device(), codes, dims)?;
        let slot = {
            let Programs(slots) = &*self.programs;
            let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (tunable.address(), options.clone());
            slots.entry(key).or_default().clone()
        };
        // Outside the lock, so that other kernels build meanwhile.
        slot.get_or_init(|| {
            let structs = model.structs();
            check_names(&model.name, &model.source, &structs)?;
            let built = self.build(&with_layout_kernel(&model.source, &structs), &options);
            let built = built.map_err(|failure| Error::Build {
                kernel: model.name.to_string(),
                options: options.clone(),
                status: failure.status,
                log: failure.log,
            })?;
            let (context, device) = (self.context.raw(), self.device().raw());
            check_layouts(&model.name, context, device, &built.program, &structs)?;
            Ok(Arc::new(built))
        })
        .clone()
    }

    /// Forgets all programs. Kernels that were made of one keep it alive.
    pub(crate) fn clear(&self) {
        let Programs(slots) = &*self.programs;
        slots.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// From the binary that an earlier run kept, where the driver accepts it, else from source.
    fn build(&self, source: &str, options: &str) -> Result<BuiltProgram, BuildFailure> {
        let (context, device) = (self.context.raw(), self.device());
        let store = Store::of_user();
        let begin = Instant::now();
        let from_source = || RawProgram::build(context, device.raw(), source, options);
        // The time that building takes is of use to tuning alone.
        let keeps_time_alone = has_cache(device.info());
        if !store.keeps_programs() || (keeps_time_alone && !cfg!(feature = "tuning")) {
            let program = from_source()?;
            let build_time = begin.elapsed();
            return Ok(BuiltProgram {
                program,
                build_time,
            });
        }
        let id = ProgramId::new(device.info(), source, options);
        let kept = store.program(&id);
        let earlier = kept.as_ref().map_or(Duration::ZERO, |kept| kept.build_time);
        if let Some(binary) = kept.and_then(|kept| kept.binary) {
            match RawProgram::from_binary(context, device.raw(), &binary, options) {
                Ok(program) => {
                    let build_time = earlier.max(begin.elapsed());
                    return Ok(BuiltProgram {
                        program,
                        build_time,
                    });
                }
                Err(_) => store.forget_program(&id),
            }
        }
        let program = from_source()?;
        let build_time = begin.elapsed();
        let binary = (!keeps_time_alone).then(|| program.binary()).flatten();
        // A driver that has the program in its own cache does not tell how long building takes.
        if binary.is_some() || build_time > earlier {
            store.keep_program(&id, &KeptProgram { build_time, binary });
        }
        let build_time = earlier.max(build_time);
        Ok(BuiltProgram {
            program,
            build_time,
        })
    }
}

/// Whether the driver has a cache of its own that does better. PoCL compiles kernels for the
/// work-group of each launch and keeps those; a binary holds only what it began with, and making
/// one takes as long as building (docs/run-time.md has figures).
fn has_cache(info: &DeviceInfo) -> bool {
    let is_off = || std::env::var_os("POCL_KERNEL_CACHE").is_some_and(|value| value == "0");
    info.platform == "Portable Computing Language" && !is_off()
}

/// The options that a configuration is compiled with: the declared ones, then a `-D` for every
/// parameter and extra macro that `source` can mention. Configurations that are the same program
/// thus have the same options, and the program is compiled once where drivers and we keep what was
/// built.
pub(crate) fn build_options(
    model: &Model,
    source: &str,
    device: &Device,
    codes: &[i64],
    dims: &[i64],
) -> Result<String> {
    let limits = &device.info().limits;
    let invalid = |reason| Error::InvalidConfiguration {
        kernel: model.name.to_string(),
        configuration: model.describe(codes),
        reason,
    };
    let macros = model.macros(codes, dims, limits).map_err(invalid)?;
    let mut options = model
        .compile_options(codes, dims, limits)
        .map_err(invalid)?;
    for (name, value) in mentioned(source, &options, macros) {
        // Writing to a String cannot fail.
        let _ = write!(options, " -D{name}={value}");
    }
    Ok(options.trim_start().to_string())
}
