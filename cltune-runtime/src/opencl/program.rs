//! Programs.

#[cfg(feature = "tuning")]
use super::number;
use super::{RawContext, RawDevice, Status};
use cl3::program::{self, cl_program};
use std::ffi::CString;
use std::ptr;

/// A built program of one device.
#[derive(Debug)]
pub(crate) struct RawProgram(pub(super) cl_program);

// SAFETY: programs may be used from any thread (OpenCL 3.0 API specification, appendix A.2).
unsafe impl Send for RawProgram {}
// SAFETY: as above.
unsafe impl Sync for RawProgram {}

/// Why a program could not be built.
#[derive(Debug)]
pub(crate) struct BuildFailure {
    pub(crate) status: Status,
    /// The compiler's log, possibly empty.
    pub(crate) log: String,
}

impl From<Status> for BuildFailure {
    fn from(status: Status) -> Self {
        Self {
            status,
            log: String::new(),
        }
    }
}

impl RawProgram {
    /// Compiles and links OpenCL C for a device.
    pub(crate) fn build(
        context: &RawContext,
        device: RawDevice,
        source: &str,
        options: &str,
    ) -> Result<Self, BuildFailure> {
        let raw = program::create_program_with_source(context.0, &[source]).map_err(Status)?;
        Self(raw).finish_build(device, options)
    }

    /// Builds from what [`binary`](Self::binary) returned.
    pub(crate) fn from_binary(
        context: &RawContext,
        device: RawDevice,
        binary: &[u8],
        options: &str,
    ) -> Result<Self, BuildFailure> {
        // SAFETY: the device is the context's, and OpenCL copies the bytes and checks whether they
        // are a program for it.
        let raw =
            unsafe { program::create_program_with_binary(context.0, &[device.id], &[binary]) };
        Self(raw.map_err(Status)?).finish_build(device, options)
    }

    /// The binary of a program that is built for one device; `None` where the driver has none.
    pub(crate) fn binary(&self) -> Option<Vec<u8>> {
        let binaries = program::get_program_info(self.0, program::CL_PROGRAM_BINARIES).ok()?;
        let binaries: Vec<Vec<u8>> = match binaries {
            cl3::info_type::InfoType::VecVecUchar(binaries) => binaries,
            _ => return None,
        };
        binaries
            .into_iter()
            .next()
            .filter(|binary| !binary.is_empty())
    }

    fn finish_build(self, device: RawDevice, options: &str) -> Result<Self, BuildFailure> {
        // A NUL would end the options early for the driver; no compiler option contains one.
        let options = CString::new(options.replace('\0', " ")).unwrap_or_default();
        match program::build_program(self.0, &[device.id], &options, None, ptr::null_mut()) {
            Ok(()) => Ok(self),
            Err(code) => {
                let log = program::get_program_build_data(
                    self.0,
                    device.id,
                    program::CL_PROGRAM_BUILD_LOG,
                )
                .map(|bytes| {
                    String::from_utf8_lossy(&bytes)
                        .trim_matches(['\0', '\n', ' '])
                        .to_string()
                })
                .unwrap_or_default();
                Err(BuildFailure {
                    status: Status(code),
                    log,
                })
            }
        }
    }

    /// The names of the program's kernels, empty where the driver does not tell.
    #[cfg(feature = "tuning")]
    pub(crate) fn kernel_names(&self) -> Vec<String> {
        let count = program::get_program_data(self.0, program::CL_PROGRAM_NUM_KERNELS)
            .map_or(0, |bytes| number(&bytes));
        if count == 0 {
            return Vec::new();
        }
        program::get_program_data(self.0, program::CL_PROGRAM_KERNEL_NAMES)
            .map(|bytes| super::text(&bytes).split(';').map(str::to_string).collect())
            .unwrap_or_default()
    }
}

impl Drop for RawProgram {
    fn drop(&mut self) {
        // SAFETY: the handle was created by this value and is released once.
        let _ = unsafe { program::release_program(self.0) };
    }
}
