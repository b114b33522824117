//! Comparison of a compiled kernel's needs with the device. The declaration cannot tell them all:
//! the compiler decides about registers, and the kernel may declare local memory of its own.

use crate::device::Device;
use crate::opencl::{KernelNeeds, RawKernel};
use cltune_core::device::{DeviceInfo, DeviceLimits};
use cltune_core::model::Geometry;
use std::fmt;

/// A need of a kernel that a device does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// Local memory, bytes.
    LocalMemory { needed: u64, available: u64 },
    /// Work-items in a work-group.
    WorkGroup { work_items: usize, limit: usize },
    /// Private memory of the work-groups that run at a time, bytes.
    PrivateMemory { needed: u64, available: u64 },
}

/// Compares before the launch, when the local memory is set: PoCL ends the process where local
/// memory does not suffice.
pub(crate) fn check_fit(
    kernel: &RawKernel,
    device: &Device,
    geometry: &Geometry,
) -> Result<(), Misfit> {
    // Where the driver chooses the work-group it chooses one that fits.
    let work_items: usize = geometry.local.map_or(1, |local| local.iter().product());
    let needs = binding(kernel.needs(device.raw()), device.info());
    misfit(needs, &device.info().limits, work_items).map_or(Ok(()), Err)
}

/// Those of the driver's answers that are limits. NVIDIA's (580.159 on an H200) says 256 to
/// `CL_KERNEL_WORK_GROUP_SIZE` for kernels that run right, and fastest, with 1024, whether or not
/// they have `reqd_work_group_size`; and kernels run right there with 68 KiB of local memory where
/// `CL_DEVICE_LOCAL_MEM_SIZE` is 48. rusticl (Mesa 22.3 on llvmpipe) says 32 work-items for kernels
/// that run right with 256. What really does not fit they refuse at the launch.
fn binding(needs: KernelNeeds, info: &DeviceInfo) -> KernelNeeds {
    match info.platform.as_str() {
        "NVIDIA CUDA" => KernelNeeds {
            work_group: None,
            local_mem: 0,
            ..needs
        },
        "rusticl" => KernelNeeds {
            work_group: None,
            ..needs
        },
        _ => needs,
    }
}

fn misfit(needs: KernelNeeds, limits: &DeviceLimits, work_items: usize) -> Option<Misfit> {
    let available = limits.local_mem_size.unsigned_abs();
    if needs.local_mem > available {
        return Some(Misfit::LocalMemory {
            needed: needs.local_mem,
            available,
        });
    }
    if let Some(limit) = needs.work_group.filter(|limit| work_items > *limit) {
        return Some(Misfit::WorkGroup { work_items, limit });
    }
    // OpenCL has no limit for it. What registers do not hold is in global memory, for as many
    // work-groups as run at a time: one on each compute unit at least.
    let running = (work_items as u64).saturating_mul(limits.compute_units.unsigned_abs());
    let needed = needs.private_mem.saturating_mul(running);
    let available = limits.global_mem_size.unsigned_abs();
    (available > 0 && needed > available).then_some(Misfit::PrivateMemory { needed, available })
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
                 can have {limit}, unless `__attribute__((reqd_work_group_size(x, y, z)))` lets the \
                 compiler plan for more"
            ),
            Self::PrivateMemory { needed, available } => write!(
                f,
                "a work-group on each compute unit needs {needed} bytes of private memory, the \
                 device has {available} bytes of memory"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::device::DeviceField;

    #[test]
    fn each_need_is_compared_with_what_there_is() {
        let limits = DeviceLimits::NONE
            .with(DeviceField::ComputeUnits, 4)
            .with(DeviceField::LocalMemSize, 1024)
            .with(DeviceField::GlobalMemSize, 1 << 20);
        let fits = KernelNeeds {
            work_group: Some(64),
            local_mem: 1024,
            private_mem: 4096,
        };
        let check = |needs| misfit(needs, &limits, 64);
        assert_eq!(check(fits), None);
        let local_mem = 1025;
        let needed = local_mem;
        let (available, limit) = (1024, 63);
        assert_eq!(
            check(KernelNeeds { local_mem, ..fits }),
            Some(Misfit::LocalMemory { needed, available })
        );
        let work_group = Some(limit);
        let work_items = 64;
        assert_eq!(
            check(KernelNeeds { work_group, ..fits }),
            Some(Misfit::WorkGroup { work_items, limit })
        );
        let private_mem = 4097;
        let (needed, available) = (4097 * 64 * 4, 1 << 20);
        assert_eq!(
            check(KernelNeeds {
                private_mem,
                ..fits
            }),
            Some(Misfit::PrivateMemory { needed, available })
        );
        let untold = KernelNeeds {
            work_group: None,
            local_mem: 0,
            private_mem: 0,
        };
        assert_eq!(check(untold), None);
    }
}
