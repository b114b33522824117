//! Kernels: arguments and what the compiler says of them.

#[cfg(feature = "tuning")]
use super::text;
use super::{RawBuffer, RawDevice, RawImage, RawProgram, Status, number};
use cl3::kernel::{self, cl_kernel};
use cl3::memory::cl_mem;
use std::ffi::CString;

/// A kernel object. OpenCL forbids setting arguments of one object from two threads, so it is
/// `Send` but not `Sync`.
#[derive(Debug)]
pub(crate) struct RawKernel(pub(super) cl_kernel);

// SAFETY: a kernel may be used from another thread as long as only one uses it at a time
// (OpenCL 3.0 API specification, clSetKernelArg), which `!Sync` ensures.
unsafe impl Send for RawKernel {}

/// The answer of `clGetKernelArgInfo` for an argument.
#[cfg(feature = "tuning")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArgInfo {
    /// As in the source, for example `float4*`.
    pub(crate) type_name: String,
    /// The argument's name in the source.
    pub(crate) name: String,
    /// `global`, `local`, `constant` or `private`.
    pub(crate) address: &'static str,
}

/// The needs of a compiled kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelNeeds {
    /// `CL_KERNEL_WORK_GROUP_SIZE`: the largest work-group, in work-items; `None` where the driver
    /// does not tell.
    pub(crate) work_group: Option<usize>,
    /// `CL_KERNEL_LOCAL_MEM_SIZE`, bytes, with the local arguments set so far; 0 where the driver
    /// does not tell.
    pub(crate) local_mem: u64,
    /// `CL_KERNEL_PRIVATE_MEM_SIZE`, bytes per work-item; 0 where the driver does not tell.
    pub(crate) private_mem: u64,
}

impl RawKernel {
    pub(crate) fn new(program: &RawProgram, name: &str) -> Result<Self, Status> {
        let name = CString::new(name).map_err(|_| Status(kernel_name_status()))?;
        kernel::create_kernel(program.0, &name)
            .map(Self)
            .map_err(Status)
    }

    /// Passes a scalar: `bytes` in the device's byte order.
    pub(crate) fn set_scalar(&self, index: u32, bytes: &[u8]) -> Result<(), Status> {
        // SAFETY: the pointer is valid for the given size during the call; OpenCL copies the
        // bytes and refuses a size that differs from the argument's.
        unsafe { kernel::set_kernel_arg(self.0, index, bytes.len(), bytes.as_ptr().cast()) }
            .map_err(Status)
    }

    /// Passes a buffer.
    pub(crate) fn set_buffer(&self, index: u32, buffer: &RawBuffer) -> Result<(), Status> {
        // SAFETY: the buffer is alive.
        unsafe { self.set_memory(index, buffer.mem) }
    }

    /// Passes an image.
    pub(crate) fn set_image(&self, index: u32, image: &RawImage) -> Result<(), Status> {
        // SAFETY: the image is alive.
        unsafe { self.set_memory(index, image.mem) }
    }

    /// # Safety
    /// The memory object is alive.
    unsafe fn set_memory(&self, index: u32, memory: cl_mem) -> Result<(), Status> {
        // SAFETY: the pointer to the handle is valid during the call, and the caller promises that
        // the handle is alive. Whoever passes it keeps it alive until the launch is enqueued, which
        // then holds it.
        unsafe {
            let handle = (&raw const memory).cast();
            kernel::set_kernel_arg(self.0, index, size_of_val(&memory), handle)
        }
        .map_err(Status)
    }

    /// Passes `bytes` bytes of local memory.
    pub(crate) fn set_local(&self, index: u32, bytes: usize) -> Result<(), Status> {
        // SAFETY: for a local argument OpenCL takes a size and a null pointer.
        unsafe { kernel::set_kernel_arg(self.0, index, bytes, std::ptr::null()) }.map_err(Status)
    }

    /// The number of arguments in the source.
    pub(crate) fn arg_count(&self) -> Result<u32, Status> {
        kernel::get_kernel_data(self.0, kernel::CL_KERNEL_NUM_ARGS)
            .map(|bytes| number(&bytes) as u32)
            .map_err(Status)
    }

    /// The declaration of an argument in the source; `None` where the driver keeps no such
    /// information.
    #[cfg(feature = "tuning")]
    pub(crate) fn arg_info(&self, index: u32) -> Option<ArgInfo> {
        let data = |param| kernel::get_kernel_arg_data(self.0, index, param).ok();
        let address = number(&data(kernel::CL_KERNEL_ARG_ADDRESS_QUALIFIER)?) as u32;
        Some(ArgInfo {
            type_name: text(&data(kernel::CL_KERNEL_ARG_TYPE_NAME)?),
            name: data(kernel::CL_KERNEL_ARG_NAME)
                .map(|bytes| text(&bytes))
                .unwrap_or_default(),
            address: match address {
                kernel::CL_KERNEL_ARG_ADDRESS_GLOBAL => "global",
                kernel::CL_KERNEL_ARG_ADDRESS_LOCAL => "local",
                kernel::CL_KERNEL_ARG_ADDRESS_CONSTANT => "constant",
                _ => "private",
            },
        })
    }

    /// The needs of the compiled kernel on a device.
    pub(crate) fn needs(&self, device: RawDevice) -> KernelNeeds {
        let value = |param| {
            kernel::get_kernel_work_group_data(self.0, device.id, param)
                .map_or(0, |bytes| number(&bytes))
        };
        let work_group = usize::try_from(value(kernel::CL_KERNEL_WORK_GROUP_SIZE)).ok();
        KernelNeeds {
            work_group: work_group.filter(|limit| *limit > 0),
            local_mem: value(kernel::CL_KERNEL_LOCAL_MEM_SIZE),
            private_mem: value(kernel::CL_KERNEL_PRIVATE_MEM_SIZE),
        }
    }
}

const fn kernel_name_status() -> i32 {
    cl3::error_codes::CL_INVALID_KERNEL_NAME
}

impl Drop for RawKernel {
    fn drop(&mut self) {
        // SAFETY: the handle was created by this value and is released once.
        let _ = unsafe { kernel::release_kernel(self.0) };
    }
}
