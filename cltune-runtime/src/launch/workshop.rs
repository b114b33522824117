//! What building needs of a context.

use super::prepared::Prepared;
use super::programs::Programs;
use super::tunable::Tunable;
use crate::device::Device;
use crate::error::Result;
use crate::opencl::RawContext;
use std::sync::Arc;

/// A context's device, the driver's context and the programs that were built in it. A thread that builds
/// has this and not the context itself: whoever drops the context waits for such threads, which must not
/// be those who keep it alive.
#[derive(Clone, Debug)]
pub(crate) struct Workshop {
    programs: Arc<Programs>,
    core: Arc<Core>,
}

/// The driver's context.
#[derive(Debug)]
struct Core {
    raw: RawContext,
    device: Device,
}

impl Workshop {
    /// Without programs yet.
    pub(crate) fn new(raw: RawContext, device: Device) -> Self {
        Self {
            programs: Arc::default(),
            core: Arc::new(Core { raw, device }),
        }
    }

    pub(crate) fn raw(&self) -> &RawContext {
        &self.core.raw
    }

    pub(crate) fn device(&self) -> &Device {
        &self.core.device
    }

    /// A launch of a configuration, with its program, which is built where it is not there yet.
    pub(crate) fn build(
        &self,
        tunable: &'static Tunable,
        codes: &[i64],
        dims: &[i64],
    ) -> Result<Prepared> {
        let built = self.programs.get(tunable, self, codes, dims)?;
        Prepared::new(tunable, self.device(), codes, dims, &built)
    }

    /// Forgets all programs. Kernels that were made of one keep it alive.
    pub(super) fn forget_programs(&self) {
        self.programs.clear();
    }
}
