//! Built programs: each once in a context, however many problems, queues and threads use it.

use super::options::build_options;
use super::tunable::Tunable;
use crate::error::{Error, Result};
use crate::opencl::RawProgram;
use crate::queue::Queue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A program under construction or built; a failure is remembered too.
type Slot = Arc<OnceLock<Result<Arc<RawProgram>>>>;

/// The programs of a context, by tunable and compile options.
#[derive(Debug, Default)]
pub(super) struct Programs(Mutex<HashMap<(usize, String), Slot>>);

impl Programs {
    /// The program of a configuration. The first caller builds it; others that ask meanwhile wait.
    pub(super) fn get(
        &self,
        tunable: &'static Tunable,
        queue: &Queue,
        codes: &[i64],
        dims: &[i64],
    ) -> Result<Arc<RawProgram>> {
        let model = tunable.model();
        let options = build_options(model, queue.device(), codes, dims)?;
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (tunable.address(), options.clone());
            slots.entry(key).or_default().clone()
        };
        // Outside the lock, so that other kernels build meanwhile.
        slot.get_or_init(|| {
            let device = queue.device().raw();
            RawProgram::build(queue.context().raw(), device, &model.source, &options)
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
