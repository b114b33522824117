//! OpenCL's error codes, by name and with what to do about them.

use cl3::error_codes as codes;
use std::fmt;

/// A code of no header.
const NVIDIA_ILLEGAL_ACCESS: i32 = -9999;

/// An OpenCL error code, never `CL_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub i32);

impl Status {
    /// No command was enqueued.
    pub(crate) const NO_COMMAND: Self = Self(codes::CL_INVALID_VALUE);

    /// The code's name in the OpenCL headers, for example `CL_OUT_OF_RESOURCES`.
    pub fn name(self) -> &'static str {
        codes::error_text(self.0)
    }

    /// The remedy for a user, where there is one.
    pub fn advice(self) -> Option<&'static str> {
        Some(match self.0 {
            codes::DLOPEN_RUNTIME_LOAD_FAILED => {
                "no OpenCL library was found: install an OpenCL ICD loader \
                 (Debian and Ubuntu: ocl-icd-libopencl1) and a driver for your device \
                 (for the CPU: pocl-opencl-icd), or point OPENCL_DYLIB_PATH at libOpenCL.so.1"
            }
            codes::DLOPEN_FUNCTION_NOT_AVAILABLE => {
                "the OpenCL library is too old to have this function: update the ICD loader"
            }
            codes::CL_PLATFORM_NOT_FOUND_KHR => {
                "the OpenCL library found no driver: install one for your device (for the CPU: \
                 pocl-opencl-icd) and check the .icd files in /etc/OpenCL/vendors, \
                 OCL_ICD_VENDORS and OCL_ICD_FILENAMES"
            }
            codes::CL_DEVICE_NOT_FOUND => "the driver reports no device",
            codes::CL_OUT_OF_RESOURCES => {
                "the kernel needs more registers or local memory than the device has, or an \
                 earlier kernel accessed memory out of bounds"
            }
            NVIDIA_ILLEGAL_ACCESS => {
                "NVIDIA's driver returns this when a kernel accessed memory out of bounds, or ran into \
                 a trap"
            }
            codes::CL_OUT_OF_HOST_MEMORY => "the machine is out of memory",
            codes::CL_MEM_OBJECT_ALLOCATION_FAILURE => "the device is out of memory",
            codes::CL_INVALID_WORK_GROUP_SIZE => {
                "the local size does not divide the global size, or is larger than this kernel \
                 may use on this device"
            }
            codes::CL_INVALID_WORK_ITEM_SIZE => {
                "a dimension of the local size is larger than the device allows"
            }
            codes::CL_INVALID_GLOBAL_WORK_SIZE => "the global size is zero or too large",
            codes::CL_INVALID_KERNEL_NAME => {
                "the program has no kernel of this name: check `kernel = \"…\"` in the attribute"
            }
            codes::CL_INVALID_KERNEL_ARGS => "an argument of the kernel was not set",
            codes::CL_INVALID_ARG_SIZE => {
                "the size of an argument differs from the kernel's signature"
            }
            codes::CL_INVALID_ARG_INDEX => "the kernel has fewer arguments than were passed",
            codes::CL_INVALID_BUILD_OPTIONS => {
                "the driver refused a compile option: check `options(…)` in the attribute"
            }
            codes::CL_INVALID_BUFFER_SIZE => {
                "the buffer is empty or larger than the device's largest allocation"
            }
            codes::CL_INVALID_CONTEXT => {
                "queue, buffers and kernel belong to different contexts: create them from one"
            }
            codes::CL_DEVICE_NOT_AVAILABLE => {
                "the device exists but cannot be used now: it is disabled, exclusively used by \
                 another process, or has failed"
            }
            codes::CL_COMPILER_NOT_AVAILABLE => {
                "the driver has no OpenCL C compiler: install its full package"
            }
            codes::CL_PROFILING_INFO_NOT_AVAILABLE => {
                "times are only known for queues made by Queue::with_profiling, or with \
                 CL_QUEUE_PROFILING_ENABLE"
            }
            _ => return None,
        })
    }

    /// Whether a smaller problem may succeed.
    pub(crate) fn is_of_size(self) -> bool {
        matches!(
            self.0,
            codes::CL_MEM_OBJECT_ALLOCATION_FAILURE
                | codes::CL_INVALID_BUFFER_SIZE
                | codes::CL_OUT_OF_HOST_MEMORY
        )
    }

    /// Whether a device, whose memory may be the host's, may have had too little. Drivers that
    /// allocate when memory is first used say so then.
    pub(crate) fn is_of_memory(self) -> bool {
        matches!(
            self.0,
            codes::CL_MEM_OBJECT_ALLOCATION_FAILURE
                | codes::CL_OUT_OF_RESOURCES
                | codes::CL_OUT_OF_HOST_MEMORY
        )
    }

    /// Whether a program does not build because of its text.
    pub(crate) fn is_of_source(self) -> bool {
        matches!(
            self.0,
            codes::CL_BUILD_PROGRAM_FAILURE | codes::CL_INVALID_BUILD_OPTIONS
        )
    }

    /// Whether a launch with another configuration of the same kernel may succeed.
    pub(crate) fn is_of_configuration(self) -> bool {
        matches!(
            self.0,
            codes::CL_OUT_OF_RESOURCES
                | codes::CL_INVALID_WORK_GROUP_SIZE
                | codes::CL_INVALID_WORK_ITEM_SIZE
                | codes::CL_INVALID_GLOBAL_WORK_SIZE
                | codes::CL_INVALID_KERNEL_DEFINITION
        )
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)?;
        match self.advice() {
            Some(advice) => write!(f, ": {advice}"),
            None => Ok(()),
        }
    }
}
