//! The description of an OpenCL device: its identity and the limits that expressions can use.

use std::fmt;

/// What kind of device it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeviceType {
    /// `CL_DEVICE_TYPE_CPU`.
    Cpu,
    /// `CL_DEVICE_TYPE_GPU`.
    Gpu,
    /// `CL_DEVICE_TYPE_ACCELERATOR`.
    Accelerator,
    /// Anything else.
    Other,
}

impl DeviceType {
    /// The word used in the lockfile.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Accelerator => "accelerator",
            Self::Other => "other",
        }
    }

    /// The type of a lockfile's word; unknown words are [`DeviceType::Other`].
    pub fn from_word(word: &str) -> Self {
        match word {
            "cpu" => Self::Cpu,
            "gpu" => Self::Gpu,
            "accelerator" => Self::Accelerator,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An OpenCL device as the tuner and the selection rule see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// `CL_PLATFORM_NAME`, for example `NVIDIA CUDA`.
    pub platform: String,
    /// `CL_DEVICE_NAME`, trimmed; a processor on Intel's runtime has the bits of its vectors added,
    /// as in `AMD EPYC (256 bits)`.
    pub name: String,
    /// `CL_DEVICE_VENDOR`, trimmed.
    pub vendor: String,
    /// `CL_DEVICE_TYPE`.
    pub device_type: DeviceType,
    /// `CL_DRIVER_VERSION`.
    pub driver: String,
    /// `CL_DEVICE_VERSION`, for example `OpenCL 3.0 CUDA`.
    pub version: String,
    /// The limits that expressions can use.
    pub limits: DeviceLimits,
}

/// The key of a device, by which it is recognised in another session, another file or another
/// process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceKey<'a> {
    /// `CL_PLATFORM_NAME`.
    pub platform: &'a str,
    /// The name, see [`DeviceInfo::name`].
    pub name: &'a str,
    /// `CL_DEVICE_VENDOR`, trimmed; empty where a file does not say it.
    pub vendor: &'a str,
}

impl DeviceKey<'_> {
    /// Whether both are the keys of the same device. A vendor that is not known is no difference:
    /// journals of earlier versions and files of other tuners do not have it.
    pub fn is(self, other: DeviceKey<'_>) -> bool {
        let same_vendor =
            || self.vendor == other.vendor || self.vendor.is_empty() || other.vendor.is_empty();
        // The name first: it differs most often.
        self.name == other.name && self.platform == other.platform && same_vendor()
    }
}

impl DeviceInfo {
    /// The key of the device.
    pub fn key(&self) -> DeviceKey<'_> {
        DeviceKey {
            platform: &self.platform,
            name: &self.name,
            vendor: &self.vendor,
        }
    }

    /// Whether a person who writes `filter` means this device, which has the position `index` in
    /// the list of devices. Without regard to case, a filter is that index, a part of the name or
    /// the platform, or a part of each as `platform:name`.
    pub fn matches(&self, index: usize, filter: &str) -> bool {
        match filter.trim().parse::<usize>() {
            Ok(wanted) => wanted == index,
            Err(_) => name_matches(&self.platform, &self.name, filter),
        }
    }
}

/// Whether a filter that is no index, see [`DeviceInfo::matches`], means the device of this
/// platform and name.
pub fn name_matches(platform: &str, name: &str, filter: &str) -> bool {
    let filter = filter.trim().to_lowercase();
    let platform = platform.to_lowercase();
    let name = name.to_lowercase();
    let by_both = filter
        .split_once(':')
        .is_some_and(|(left, right)| platform.contains(left.trim()) && name.contains(right.trim()));
    by_both || name.contains(&filter) || platform.contains(&filter)
}

macro_rules! device_fields {
    ($( $(#[doc = $doc:literal])+ $variant:ident $name:ident ),+ $(,)?) => {
        /// A device limit that expressions can use as `device.NAME`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DeviceField {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl DeviceField {
            /// Every field, in declaration order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name used in expressions after `device.`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name)),+ }
            }

            /// The variant's identifier, for generated code.
            pub const fn variant(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant)),+ }
            }

            /// The field with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $(stringify!($name) => Some(Self::$variant),)+ _ => None }
            }
        }

        /// The limits of a device. Sizes are in bytes; flags are 0 or 1; what a device does not
        /// report is 0. Later releases add fields: make one with [`Self::from_fn`], or set
        /// fields of the default.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct DeviceLimits {
            $( $(#[doc = $doc])+ pub $name: i64, )+
        }

        impl DeviceLimits {
            /// No limit is reported.
            pub const NONE: Self = Self { $($name: 0),+ };

            /// The limits that `value` says of each field.
            pub fn from_fn(mut value: impl FnMut(DeviceField) -> i64) -> Self {
                Self { $($name: value(DeviceField::$variant)),+ }
            }

            /// The same limits but for one field.
            #[must_use]
            pub const fn with(mut self, field: DeviceField, value: i64) -> Self {
                self.set(field, value);
                self
            }

            /// The value of a field.
            pub const fn get(&self, field: DeviceField) -> i64 {
                match field { $(DeviceField::$variant => self.$name),+ }
            }

            /// Sets the value of a field.
            pub const fn set(&mut self, field: DeviceField, value: i64) {
                match field { $(DeviceField::$variant => self.$name = value),+ }
            }
        }
    };
}

device_fields! {
    /// `CL_DEVICE_MAX_COMPUTE_UNITS`.
    ComputeUnits compute_units,
    /// `CL_DEVICE_MAX_WORK_GROUP_SIZE`, work-items.
    MaxWorkGroupSize max_work_group_size,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES[0]`.
    MaxWorkItemSizeX max_work_item_size_x,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES[1]`.
    MaxWorkItemSizeY max_work_item_size_y,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES[2]`.
    MaxWorkItemSizeZ max_work_item_size_z,
    /// `CL_DEVICE_LOCAL_MEM_SIZE`, bytes.
    LocalMemSize local_mem_size,
    /// `CL_DEVICE_GLOBAL_MEM_SIZE`, bytes.
    GlobalMemSize global_mem_size,
    /// `CL_DEVICE_MAX_MEM_ALLOC_SIZE`, bytes.
    MaxMemAllocSize max_mem_alloc_size,
    /// `CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE`, bytes.
    MaxConstantBufferSize max_constant_buffer_size,
    /// `CL_DEVICE_GLOBAL_MEM_CACHE_SIZE`, bytes.
    GlobalMemCacheSize global_mem_cache_size,
    /// `CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE`, bytes.
    GlobalMemCachelineSize global_mem_cacheline_size,
    /// `CL_DEVICE_MEM_BASE_ADDR_ALIGN`, in bytes here (OpenCL reports bits).
    MemBaseAddrAlign mem_base_addr_align,
    /// `CL_DEVICE_MAX_CLOCK_FREQUENCY`, MHz.
    MaxClockFrequency max_clock_frequency,
    /// `CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT`.
    PreferredVectorWidthFloat preferred_vector_width_float,
    /// `CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT`.
    NativeVectorWidthFloat native_vector_width_float,
    /// 1 when `double` is supported.
    Fp64 fp64,
    /// 1 when `half` arithmetic (cl_khr_fp16) is supported.
    Fp16 fp16,
    /// 1 when images are supported.
    ImageSupport image_support,
    /// 1 when kernels can write 3D images (cl_khr_3d_image_writes).
    Image3dWrites image3d_writes,
    /// `CL_DEVICE_IMAGE2D_MAX_WIDTH`, pixels.
    Image2dMaxWidth image2d_max_width,
    /// `CL_DEVICE_IMAGE2D_MAX_HEIGHT`, pixels.
    Image2dMaxHeight image2d_max_height,
    /// `CL_DEVICE_IMAGE3D_MAX_WIDTH`, pixels.
    Image3dMaxWidth image3d_max_width,
    /// `CL_DEVICE_IMAGE3D_MAX_HEIGHT`, pixels.
    Image3dMaxHeight image3d_max_height,
    /// `CL_DEVICE_IMAGE3D_MAX_DEPTH`, pixels.
    Image3dMaxDepth image3d_max_depth,
    /// `CL_DEVICE_IMAGE_MAX_ARRAY_SIZE`, images.
    ImageMaxArraySize image_max_array_size,
    /// `CL_DEVICE_MAX_READ_IMAGE_ARGS`.
    MaxReadImageArgs max_read_image_args,
    /// `CL_DEVICE_MAX_WRITE_IMAGE_ARGS`.
    MaxWriteImageArgs max_write_image_args,
    /// `CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS`.
    MaxReadWriteImageArgs max_read_write_image_args,
    /// `CL_DEVICE_MAX_CONSTANT_ARGS`.
    MaxConstantArgs max_constant_args,
    /// 1 when `CL_DEVICE_LOCAL_MEM_TYPE` is `CL_LOCAL`: local memory is its own hardware.
    DedicatedLocalMem dedicated_local_mem,
    /// The compute capability of an NVIDIA GPU, ten times the major number plus the minor one (90
    /// for 9.0); 0 for other devices. Which PTX instructions inline assembly may use depends on it.
    NvComputeCapability nv_compute_capability,
    /// 1 for a CPU device.
    IsCpu is_cpu,
    /// 1 for a GPU device.
    IsGpu is_gpu,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_mean_an_index_or_parts_of_names() {
        let device = DeviceInfo {
            platform: "NVIDIA CUDA".into(),
            name: "Tesla: T4".into(),
            vendor: "NVIDIA Corporation".into(),
            device_type: DeviceType::Gpu,
            driver: String::new(),
            version: String::new(),
            limits: DeviceLimits::default(),
        };
        for filter in [
            "1",
            " 1 ",
            "tesla",
            "T4",
            "cuda",
            "Tesla: T4",
            "CUDA:tesla",
            "nvidia cuda : t4",
            ":t4",
            "NVIDIA CUDA: Tesla: T4",
        ] {
            assert!(device.matches(1, filter), "{filter}");
        }
        // A number is an index and nothing else; the vendor does not count.
        for filter in [
            "0",
            "4",
            "corporation",
            "pocl:tesla",
            "cuda:p100",
            "tesla:cuda",
        ] {
            assert!(!device.matches(1, filter), "{filter}");
        }
    }
}
