//! Displacing of what the device's caches hold, by reading other memory on the device.
//!
//! A kernel reads, and not the host: on a CPU each core has caches of its own, which only that core
//! fills. It reads, and does not write: modified lines would be written back during the launch that
//! is timed, which would pay for them. Each byte was written once before, since systems map memory
//! that nobody wrote to one page of zeros, which fills no cache.

use super::prepare_error::PrepareError;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawKernel, RawProgram};
use crate::queue::Queue;
use cltune_core::device::{DeviceInfo, DeviceType};
use cltune_core::model::Geometry;

/// The memory that is read is larger than the caches by this factor. Reading as much as a cache
/// holds leaves some of what was there: caches choose what goes by approximations of its age.
const FACTOR: i64 = 2;
/// A CPU's caches are taken for at least so large for each compute unit, bytes: drivers report one
/// of the last-level caches where there are several (PoCL: that of the first core), and caches of
/// up to 16 MiB for two units exist (AMD's with stacked memory).
const LEAST_PER_CPU_UNIT: i64 = 8 << 20;
/// Those of other devices are taken for at least so large, bytes: what is beyond the L2 cache is
/// not reported (AMD's Infinity Cache, the last-level cache that an integrated GPU shares).
const LEAST: i64 = 128 << 20;
/// No more than so much is read, bytes: 128 units of a CPU have half of it as caches.
const MOST: i64 = 2 << 30;
/// No more than this part of the device's memory is taken.
const PART_OF_MEMORY: i64 = 4;
/// At most so many work-items of a work-group.
const ITEMS: i64 = 256;
/// Each work-item reads so many words of 16 bytes. A device of many units gets enough work-groups
/// for all of them.
const EACH: usize = 16;

/// Each work-item adds its words up. No sum is written but one that nobody expects, which compilers
/// do not know.
const SOURCE: &str = "
__kernel void displace(__global const uint4* data, __global uint* sum) {
    const size_t items = get_local_size(0);
    __global const uint4* mine = data + get_group_id(0) * items * EACH + get_local_id(0);
    uint4 all = 0;
    for (uint i = 0; i < EACH; i++) {
        all += mine[i * items];
    }
    const uint total = all.x + all.y + all.z + all.w;
    if (total == 0x5eed1e55u) {
        *sum = total;
    }
}
";

/// What reads other memory on the device.
#[derive(Debug)]
pub(super) struct Displacer {
    kernel: RawKernel,
    geometry: Geometry,
    // The kernel's arguments.
    _data: RawBuffer,
    _sum: RawBuffer,
}

impl Displacer {
    /// Allocates the memory, and writes it once.
    ///
    /// # Errors
    /// The device has too little memory, or does not build or run the kernel.
    pub(super) fn new(queue: &Queue) -> Result<Self, PrepareError> {
        let (context, device) = (queue.context(), queue.context().device());
        let info = device.info();
        let bytes = bytes(info)?;
        let items = info.limits.max_work_group_size.clamp(1, ITEMS) as usize;
        let group = items * EACH * size_of::<[u32; 4]>();
        let groups = (bytes / group).max(1);
        let options = format!("-DEACH={EACH}");
        let program = RawProgram::build(context.raw(), device.raw(), SOURCE, &options);
        let program = program.map_err(|failure| PrepareError::Displacing {
            reason: format!("{}\n{}", failure.status, failure.log),
        })?;
        let refused = |status| PrepareError::Displacing {
            reason: format!("{} bytes: {status}", groups * group),
        };
        let data = RawBuffer::new(context.raw(), groups * group).map_err(refused)?;
        let sum = RawBuffer::new(context.raw(), size_of::<u32>()).map_err(refused)?;
        let filled = queue.raw().fill(&data, &[1], 0, groups * group);
        filled.map_err(refused)?;
        queue.finish()?;
        let kernel = RawKernel::new(&program, "displace");
        let kernel = kernel.map_err(Error::call("clCreateKernel"))?;
        kernel
            .set_buffer(0, &data)
            .and_then(|()| kernel.set_buffer(1, &sum))
            .map_err(Error::call("clSetKernelArg"))?;
        Ok(Self {
            kernel,
            geometry: Geometry {
                work_dim: 1,
                global: [groups * items, 1, 1],
                local: Some([items, 1, 1]),
                offset: None,
            },
            _data: data,
            _sum: sum,
        })
    }

    /// Displaces what the caches hold, and waits until that is done.
    pub(super) fn displace(&self, queue: &Queue) -> Result<()> {
        queue
            .raw()
            .launch(&self.kernel, &self.geometry)
            .map_err(Error::call("clEnqueueNDRangeKernel"))?;
        queue.finish()
    }
}

/// How many bytes are read.
///
/// # Errors
/// The device's memory is too small for it.
fn bytes(info: &DeviceInfo) -> Result<usize, PrepareError> {
    let limits = &info.limits;
    let least = match info.device_type {
        DeviceType::Cpu => LEAST_PER_CPU_UNIT.saturating_mul(limits.compute_units.max(1)),
        _ => LEAST,
    };
    let reported = limits.global_mem_cache_size;
    let wanted = reported.max(least).saturating_mul(FACTOR).min(MOST);
    let most = limits
        .max_mem_alloc_size
        .min(limits.global_mem_size / PART_OF_MEMORY);
    // What drivers report is at least one of the caches: less memory than that displaces nothing
    // for sure.
    if most < reported || most <= 0 {
        return Err(PrepareError::Displacing {
            reason: format!(
                "the device's cache has {reported} bytes, and no more than {most} bytes of its memory can be used \
                 for it"
            ),
        });
    }
    Ok(usize::try_from(wanted.min(most)).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::device::{DeviceField, DeviceLimits};

    fn device(device_type: DeviceType, limits: [(DeviceField, i64); 4]) -> DeviceInfo {
        let limits = limits.into_iter();
        DeviceInfo {
            platform: String::new(),
            name: String::new(),
            vendor: String::new(),
            device_type,
            driver: String::new(),
            version: String::new(),
            limits: limits.fold(DeviceLimits::NONE, |limits, (field, value)| {
                limits.with(field, value)
            }),
        }
    }

    #[test]
    fn more_is_read_than_any_cache_holds_and_no_more_than_the_memory_allows() {
        const MIB: i64 = 1 << 20;
        let of = |device_type, cache: i64, units: i64, memory: i64, most: i64| {
            let info = device(
                device_type,
                [
                    (DeviceField::GlobalMemCacheSize, cache * MIB),
                    (DeviceField::ComputeUnits, units),
                    (DeviceField::GlobalMemSize, memory * MIB),
                    (DeviceField::MaxMemAllocSize, most * MIB),
                ],
            );
            bytes(&info).map(|bytes| bytes as i64 / MIB).ok()
        };
        let (cpu, gpu) = (DeviceType::Cpu, DeviceType::Gpu);
        assert_eq!(of(cpu, 32, 2, 8192, 4096), Some(64));
        // One of 16 last-level caches is reported, or nothing at all.
        assert_eq!(of(cpu, 32, 64, 65_536, 16_384), Some(1024));
        assert_eq!(of(cpu, 0, 64, 65_536, 16_384), Some(1024));
        assert_eq!(of(cpu, 32, 512, 65_536, 16_384), Some(2048));
        assert_eq!(of(gpu, 60, 132, 141_000, 35_000), Some(256));
        assert_eq!(of(gpu, 300, 304, 192_000, 48_000), Some(600));
        // Little memory.
        assert_eq!(of(gpu, 1, 4, 512, 512), Some(128));
        assert_eq!(of(gpu, 1, 4, 512, 64), Some(64));
        assert_eq!(of(gpu, 32, 4, 64, 64), None);
        assert_eq!(of(gpu, 0, 4, 0, 0), None);
    }
}
