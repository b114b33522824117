//! Built programs: each once in a context, however many problems, queues and threads use it, and once
//! for all runs of this user's programs where the driver gives binaries.

use super::options::build_options;
use super::tunable::Tunable;
use super::workshop::Workshop;
use crate::cache::{KeptProgram, ProgramId, Store};
use crate::error::{Error, Result};
use crate::opencl::{BuildFailure, RawProgram};
use cltune_core::device::DeviceInfo;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A program, and how long it takes to build it: now, or from source in an earlier run, whichever is longer.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) program: RawProgram,
    pub(super) took: Duration,
}

/// A program under construction or built; a failure is remembered too.
type Slot = Arc<OnceLock<Result<Arc<Built>>>>;

/// The programs of a context, by tunable and compile options.
#[derive(Debug, Default)]
pub(super) struct Programs(Mutex<HashMap<(usize, String), Slot>>);

impl Programs {
    /// The program of a configuration. The first caller builds it; others that ask meanwhile wait.
    pub(super) fn get(
        &self,
        tunable: &'static Tunable,
        workshop: &Workshop,
        codes: &[i64],
        dims: &[i64],
    ) -> Result<Arc<Built>> {
        let model = tunable.model();
        let options = build_options(model, &model.source, workshop.device(), codes, dims)?;
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (tunable.address(), options.clone());
            slots.entry(key).or_default().clone()
        };
        // Outside the lock, so that other kernels build meanwhile.
        slot.get_or_init(|| {
            built(workshop, &model.source, &options)
                .map(Arc::new)
                .map_err(|failure| Error::Build {
                    kernel: model.name.to_string(),
                    options: options.clone(),
                    status: failure.status,
                    log: failure.log,
                })
        })
        .clone()
    }

    /// Forgets all. Kernels that were made of a program keep it alive.
    pub(super) fn clear(&self) {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.clear();
    }
}

/// From the binary that an earlier run kept, where the driver accepts it, else from source.
fn built(workshop: &Workshop, source: &str, options: &str) -> Result<Built, BuildFailure> {
    let (device, store) = (workshop.device(), Store::of_user());
    let begin = Instant::now();
    let from_source = || RawProgram::build(workshop.raw(), device.raw(), source, options);
    // How long building takes is of use to tuning alone.
    let keeps_time_alone = has_cache(device.info());
    if !store.keeps_programs() || (keeps_time_alone && !cfg!(feature = "tuning")) {
        let program = from_source()?;
        let took = begin.elapsed();
        return Ok(Built { program, took });
    }
    let id = ProgramId::new(device.info(), source, options);
    let kept = store.program(&id);
    let known = kept.as_ref().map_or(Duration::ZERO, |kept| kept.took);
    if let Some(binary) = kept.and_then(|kept| kept.binary) {
        match RawProgram::from_binary(workshop.raw(), device.raw(), &binary, options) {
            Ok(program) => {
                let took = known.max(begin.elapsed());
                return Ok(Built { program, took });
            }
            Err(_) => store.forget_program(&id),
        }
    }
    let program = from_source()?;
    let took = begin.elapsed();
    let binary = (!keeps_time_alone).then(|| program.binary()).flatten();
    // A driver that has the program in its own cache does not tell how long building takes.
    if binary.is_some() || took > known {
        store.keep_program(&id, &KeptProgram { took, binary });
    }
    let took = known.max(took);
    Ok(Built { program, took })
}

/// Whether the driver has a cache of its own that does better. PoCL compiles kernels for the work-group
/// of each launch and keeps those; a binary holds only what it began with, and making one takes as long
/// as building (docs/run-time.md has figures).
fn has_cache(info: &DeviceInfo) -> bool {
    let is_off = || std::env::var_os("POCL_KERNEL_CACHE").is_some_and(|value| value == "0");
    info.platform == "Portable Computing Language" && !is_off()
}
