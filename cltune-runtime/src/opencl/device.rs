//! Platforms and devices.

use super::{Status, number, text};
use cl3::device::{self, cl_device_id};
use cl3::platform::{self, cl_platform_id};
use cltune_core::device::{DeviceField, DeviceInfo, DeviceLimits, DeviceType};
use std::sync::{Mutex, PoisonError};

/// A device of a platform. Root devices live as long as the process, so nothing is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawDevice {
    pub(super) id: cl_device_id,
    pub(super) platform: cl_platform_id,
}

// SAFETY: device and platform ids are opaque handles that OpenCL allows to be used from any
// thread (OpenCL 3.0 API specification, appendix A.2); root devices are never freed.
unsafe impl Send for RawDevice {}
// SAFETY: as above.
unsafe impl Sync for RawDevice {}

/// Every device of every platform, in the loader's order. A platform that fails to list its
/// devices does not hide the others; its error is returned only when nothing else is found.
pub(crate) fn all_devices() -> Result<Vec<RawDevice>, Status> {
    // PoCL initialises its devices on the first query and tells threads that ask meanwhile that
    // there are none (seen with 3.1).
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    let mut failure = None;
    for platform in platform::get_platform_ids().map_err(Status)? {
        match device::get_device_ids(platform, device::CL_DEVICE_TYPE_ALL) {
            Ok(ids) => found.extend(ids.into_iter().map(|id| RawDevice { id, platform })),
            Err(code) => failure = Some(Status(code)),
        }
    }
    match failure {
        Some(status) if found.is_empty() => Err(status),
        _ => Ok(found),
    }
}

/// `CL_DEVICE_HOST_UNIFIED_MEMORY`; false where the driver does not tell.
pub(crate) fn is_host_unified(device: RawDevice) -> bool {
    let answer = device::get_device_data(device.id, device::CL_DEVICE_HOST_UNIFIED_MEMORY);
    answer.is_ok_and(|bytes| number(&bytes) != 0)
}

/// `CL_DEVICE_PCI_DOMAIN_ID_NV`, which cl3 does not have.
#[cfg(feature = "energy")]
const PCI_DOMAIN_ID_NV: device::cl_device_info = 0x400A;

/// The place of a device on the PCI bus, as `0000:3b:00.0`: of `cl_khr_pci_bus_info`, or of
/// `cl_nv_device_attribute_query`; `None` where the driver does not tell.
#[cfg(feature = "energy")]
pub(crate) fn pci_address(device: RawDevice) -> Option<String> {
    let data = |param| device::get_device_data(device.id, param).ok();
    if let Some(bytes) = data(device::CL_DEVICE_PCI_BUS_INFO_KHR)
        && let [domain, bus, device, function] =
            bytes.chunks_exact(4).map(number).collect::<Vec<_>>()[..]
    {
        return Some(format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}"));
    }
    let bus = number(&data(device::CL_DEVICE_PCI_BUS_ID_NV)?);
    // The device's number and its function, as the PCI specification packs them.
    let slot = number(&data(device::CL_DEVICE_PCI_SLOT_ID_NV)?);
    let domain = data(PCI_DOMAIN_ID_NV).map_or(0, |bytes| number(&bytes));
    let (device, function) = (slot >> 3, slot & 7);
    Some(format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}"))
}

/// `CL_PLATFORM_NAME`.
pub(crate) fn platform_name(device: RawDevice) -> String {
    platform::get_platform_data(device.platform, platform::CL_PLATFORM_NAME)
        .map(|bytes| text(&bytes))
        .unwrap_or_default()
}

/// The name of a device: the driver's, to which a processor on Intel's runtime has the bits of its
/// vectors added. There each EPYC is an "AMD EPYC", with vectors of 512 bits or of 256, and what is
/// fast with the one can be slow with the other. PoCL's names have the instructions and llvmpipe's
/// the bits.
fn name(platform: &str, device_type: DeviceType, name: String, vector_width: i64) -> String {
    if platform == "Intel(R) OpenCL" && device_type == DeviceType::Cpu && vector_width > 0 {
        format!("{name} ({} bits)", vector_width.saturating_mul(32))
    } else {
        name
    }
}

/// Everything cltune wants to know of a device. What the driver does not answer is empty or 0.
pub(crate) fn describe(raw: RawDevice) -> DeviceInfo {
    let data = |param| device::get_device_data(raw.id, param).unwrap_or_default();
    let word = |param| text(&data(param));
    let count = |param| i64::try_from(number(&data(param))).unwrap_or(i64::MAX);
    let kind = number(&data(device::CL_DEVICE_TYPE));
    let device_type = if kind & device::CL_DEVICE_TYPE_GPU != 0 {
        DeviceType::Gpu
    } else if kind & device::CL_DEVICE_TYPE_ACCELERATOR != 0 {
        DeviceType::Accelerator
    } else if kind & device::CL_DEVICE_TYPE_CPU != 0 {
        DeviceType::Cpu
    } else {
        DeviceType::Other
    };
    let item_sizes: Vec<i64> = data(device::CL_DEVICE_MAX_WORK_ITEM_SIZES)
        .chunks(size_of::<usize>())
        .map(|bytes| i64::try_from(number(bytes)).unwrap_or(i64::MAX))
        .collect();
    let item_size = |dimension: usize| item_sizes.get(dimension).copied().unwrap_or(1);
    let extensions = word(device::CL_DEVICE_EXTENSIONS);
    let has = |name: &str| extensions.split_whitespace().any(|word| word == name);
    let platform = platform_name(raw);
    let vector_width = count(device::CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    let driver_name = word(device::CL_DEVICE_NAME);
    DeviceInfo {
        name: name(&platform, device_type, driver_name, vector_width),
        platform,
        vendor: word(device::CL_DEVICE_VENDOR),
        device_type,
        driver: word(device::CL_DRIVER_VERSION),
        version: word(device::CL_DEVICE_VERSION),
        limits: DeviceLimits::from_fn(|field| match field {
            DeviceField::ComputeUnits => count(device::CL_DEVICE_MAX_COMPUTE_UNITS),
            DeviceField::MaxWorkGroupSize => count(device::CL_DEVICE_MAX_WORK_GROUP_SIZE),
            DeviceField::MaxWorkItemSizeX => item_size(0),
            DeviceField::MaxWorkItemSizeY => item_size(1),
            DeviceField::MaxWorkItemSizeZ => item_size(2),
            DeviceField::LocalMemSize => count(device::CL_DEVICE_LOCAL_MEM_SIZE),
            DeviceField::GlobalMemSize => count(device::CL_DEVICE_GLOBAL_MEM_SIZE),
            DeviceField::MaxMemAllocSize => count(device::CL_DEVICE_MAX_MEM_ALLOC_SIZE),
            DeviceField::MaxConstantBufferSize => count(device::CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE),
            DeviceField::GlobalMemCacheSize => count(device::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
            DeviceField::GlobalMemCachelineSize => {
                count(device::CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE)
            }
            DeviceField::MemBaseAddrAlign => count(device::CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8,
            DeviceField::MaxClockFrequency => count(device::CL_DEVICE_MAX_CLOCK_FREQUENCY),
            DeviceField::PreferredVectorWidthFloat => {
                count(device::CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT)
            }
            DeviceField::NativeVectorWidthFloat => vector_width,
            DeviceField::Fp64 => {
                let has_config = count(device::CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
                i64::from(has("cl_khr_fp64") || has_config)
            }
            DeviceField::Fp16 => i64::from(has("cl_khr_fp16")),
            DeviceField::ImageSupport => i64::from(count(device::CL_DEVICE_IMAGE_SUPPORT) != 0),
            DeviceField::Image3dWrites => i64::from(has("cl_khr_3d_image_writes")),
            DeviceField::Image2dMaxWidth => count(device::CL_DEVICE_IMAGE2D_MAX_WIDTH),
            DeviceField::Image2dMaxHeight => count(device::CL_DEVICE_IMAGE2D_MAX_HEIGHT),
            DeviceField::Image3dMaxWidth => count(device::CL_DEVICE_IMAGE3D_MAX_WIDTH),
            DeviceField::Image3dMaxHeight => count(device::CL_DEVICE_IMAGE3D_MAX_HEIGHT),
            DeviceField::Image3dMaxDepth => count(device::CL_DEVICE_IMAGE3D_MAX_DEPTH),
            DeviceField::ImageMaxArraySize => count(device::CL_DEVICE_IMAGE_MAX_ARRAY_SIZE),
            DeviceField::MaxReadImageArgs => count(device::CL_DEVICE_MAX_READ_IMAGE_ARGS),
            DeviceField::MaxWriteImageArgs => count(device::CL_DEVICE_MAX_WRITE_IMAGE_ARGS),
            DeviceField::MaxReadWriteImageArgs => {
                count(device::CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS)
            }
            DeviceField::MaxConstantArgs => count(device::CL_DEVICE_MAX_CONSTANT_ARGS),
            DeviceField::DedicatedLocalMem => {
                i64::from(count(device::CL_DEVICE_LOCAL_MEM_TYPE) == 1)
            }
            DeviceField::NvComputeCapability => {
                if has("cl_nv_device_attribute_query") {
                    count(device::CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) * 10
                        + count(device::CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV)
                } else {
                    0
                }
            }
            DeviceField::IsCpu => i64::from(device_type == DeviceType::Cpu),
            DeviceField::IsGpu => i64::from(device_type == DeviceType::Gpu),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_on_intels_runtime_have_their_vectors_in_their_names() {
        let named = |platform, device_type, width| {
            name(platform, device_type, "AMD EPYC".to_owned(), width)
        };
        let (intel, cpu) = ("Intel(R) OpenCL", DeviceType::Cpu);
        assert_eq!(named(intel, cpu, 8), "AMD EPYC (256 bits)");
        assert_eq!(named(intel, cpu, 16), "AMD EPYC (512 bits)");
        // What the driver does not tell is not made up.
        assert_eq!(named(intel, cpu, 0), "AMD EPYC");
        assert_eq!(named(intel, DeviceType::Gpu, 8), "AMD EPYC");
        assert_eq!(named("Portable Computing Language", cpu, 8), "AMD EPYC");
    }
}
