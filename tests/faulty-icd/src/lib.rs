//! An OpenCL driver for tests, loaded by the ordinary loader: it forwards everything to a real
//! driver and crashes, hangs, leaks, lies or refuses on command.
//!
//! The real driver's objects stay what they are. All of them point to the driver's table of
//! functions (`cl_khr_icd`, section «ICD Loader Library»), and this driver puts its own functions
//! into that table.
//!
//! `CLTUNE_REAL_ICD` is the real driver's library. `CLTUNE_FAULT` is what goes wrong, in that
//! order, separated by `;`:
//!
//! ```text
//! EFFECT@CALL          always
//! EFFECT@CALL:A=3      for kernels built with -DA=3
//! EFFECT@CALL#2        at the second call in this process
//! EFFECT@CALL/basic    in processes that made a context for a device whose name begins so
//! EFFECT@CALL:A=3#2    at the second one for such kernels
//! ```
//!
//! Calls without a kernel (`clEnqueueReadBuffer`, `clWaitForEvents`, `clFinish`) belong to the
//! kernel that was launched last.
//!
//! | effect | what happens |
//! |---|---|
//! | `segv`, `abort`, `exit=3` | the process ends |
//! | `kill-parent` | the process ends, and the one that started it |
//! | `killed=PATH` | the process ends by SIGKILL, unless the file is there, which is made then |
//! | `hang`, `sleep=0.5` | for ever; seconds |
//! | `error=-5` | the call returns this code |
//! | `unusable` | this call and all later ones of the process return `CL_OUT_OF_RESOURCES` |
//! | `lost=PATH` | the file is made; where it lies, all calls in every process return `CL_DEVICE_NOT_AVAILABLE` |
//! | `corrupt` | a bit in the middle of what was read is flipped (`clEnqueueReadBuffer`) |
//! | `print=TEXT` | on standard output, without an end of line |
//! | `leak=1000000` | bytes of the address space |
//! | `spend=500 FOLDER` | the counter of energy in that folder, as powercap has them, advances by so many microjoules |
//! | `answer=64` | to a query, whose name stands for the call: `CL_DEVICE_LOCAL_MEM_SIZE`, `CL_PROFILING_COMMAND_END` |
//! | `hide=cl_khr_fp64` | the word is left out of the answer to a query for text: `CL_DEVICE_EXTENSIONS` |
//!
//! Where `CLTUNE_OBJECTS` names a file, a process writes into it when it ends, for each kind of
//! objects, its name, how many were made, and how many references nobody released; and how many
//! files are open. Images, and commands with images, are not counted.
//!
//! | file | owns |
//! |---|---|
//! | `fault` | what `CLTUNE_FAULT` says |
//! | `occasion` | which fault is due |
//! | `effect` | what it does |
//! | `hooks` | the functions put into the table |
//! | `objects` | what programs hold |
//! | `real` | those that were there before |
//! | `driver` | the real driver |

#![cfg(unix)]

mod driver;
mod effect;
mod fault;
mod hooks;
mod objects;
mod occasion;
mod real;

use driver::Driver;
use opencl_sys::{CL_PLATFORM_NOT_FOUND_KHR, cl_int, cl_platform_id, cl_platform_info, cl_uint};
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

/// The real driver with faults; `None`, after saying why, where it cannot be had.
fn driver() -> Option<&'static Driver> {
    static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
    DRIVER
        .get_or_init(|| {
            let driver = Driver::load().and_then(|driver| {
                hooks::install(&driver)?;
                Ok(driver)
            });
            driver
                .inspect_err(|error| eprintln!("faulty-icd: {error}"))
                .ok()
        })
        .as_ref()
}

/// How a loader finds the functions of a driver.
///
/// # Safety
/// `name` is a C string, as the specification of `clGetExtensionFunctionAddress` has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    match driver() {
        // SAFETY: the caller's promise is passed on.
        Some(driver) => unsafe { driver.function(name) },
        None => std::ptr::null_mut(),
    }
}

/// How a loader finds the platforms of a driver.
///
/// # Safety
/// As the specification of `cl_khr_icd` has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    entries: cl_uint,
    platforms: *mut cl_platform_id,
    count: *mut cl_uint,
) -> cl_int {
    match driver() {
        // SAFETY: the caller's promise is passed on.
        Some(driver) => unsafe { driver.platforms(entries, platforms, count) },
        None => CL_PLATFORM_NOT_FOUND_KHR,
    }
}

/// How a loader asks for a platform's name before it uses the table.
///
/// # Safety
/// As the specification of `clGetPlatformInfo` has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    // SAFETY: the caller's promise is passed on; a platform is a driver's, which was loaded for it.
    unsafe { driver::platform_info(platform, name, size, value, size_ret) }
}
