//! Whether a device has what a compiled kernel needs: more than its declaration can tell, since the
//! compiler decides about registers and the kernel may declare local memory of its own.

use crate::device::Device;
use crate::opencl::RawKernel;
use cltune_core::model::Geometry;
use std::fmt;

/// What a device lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// Local memory, bytes.
    LocalMemory { needed: u64, available: u64 },
    /// Work-items in a work-group.
    WorkGroup { work_items: usize, limit: usize },
}

/// Asks before launching, when the local memory is set: PoCL ends the process where local memory
/// does not suffice.
pub(crate) fn check_fit(
    kernel: &RawKernel,
    device: &Device,
    geometry: &Geometry,
) -> Result<(), Misfit> {
    let needs = kernel.needs(device.raw());
    let available = device.info().limits.local_mem_size.unsigned_abs();
    if needs.local_mem > available {
        return Err(Misfit::LocalMemory {
            needed: needs.local_mem,
            available,
        });
    }
    // Where the driver chooses the work-group it chooses one that fits.
    let work_items: usize = geometry.local.map_or(1, |local| local.iter().product());
    match needs.work_group {
        Some(limit) if work_items > limit => Err(Misfit::WorkGroup { work_items, limit }),
        _ => Ok(()),
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LocalMemory { needed, available } => write!(
                f,
                "the kernel needs {needed} bytes of local memory, the device has {available}"
            ),
            Self::WorkGroup { work_items, limit } => write!(
                f,
                "the work-group has {work_items} work-items; compiled for this device the kernel \
                 can have {limit}"
            ),
        }
    }
}
