//! The real driver: its library, its platforms, its table of functions.

use dlopen2::raw::Library;
use opencl_sys::cl_icd::_cl_icd_dispatch as Table;
use opencl_sys::{
    CL_INVALID_PLATFORM, CL_SUCCESS, cl_int, cl_platform_id, cl_platform_info, cl_uint,
};
use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::ptr;

type GetFunction = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type GetPlatforms = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;

/// The real driver, which stays loaded.
pub(crate) struct Driver {
    get_function: GetFunction,
    get_platforms: GetPlatforms,
}

impl Driver {
    /// Loads the library that `CLTUNE_REAL_ICD` names.
    pub(crate) fn load() -> Result<Self, String> {
        const VARIABLE: &str = "CLTUNE_REAL_ICD";
        let path = std::env::var_os(VARIABLE).ok_or(format!("{VARIABLE} is not set"))?;
        let library =
            Library::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        // SAFETY: cl_khr_icd demands this function of every driver, with this signature.
        let get_function: GetFunction = unsafe { library.symbol("clGetExtensionFunctionAddress") }
            .map_err(|error| format!("{} is no driver: {error}", path.display()))?;
        // Functions of it are called until the process ends.
        std::mem::forget(library);
        let name = c"clIcdGetPlatformIDsKHR";
        // SAFETY: a C string is what the function takes.
        let get_platforms = unsafe { get_function(name.as_ptr()) };
        if get_platforms.is_null() {
            return Err(format!(
                "{} has no {}",
                path.display(),
                name.to_string_lossy()
            ));
        }
        Ok(Self {
            get_function,
            // SAFETY: cl_khr_icd says that the function of this name has this signature.
            get_platforms: unsafe {
                std::mem::transmute::<*mut c_void, GetPlatforms>(get_platforms)
            },
        })
    }

    /// The function of this name.
    ///
    /// # Safety
    /// `name` is a C string.
    pub(crate) unsafe fn function(&self, name: *const c_char) -> *mut c_void {
        // SAFETY: the caller's promise.
        let ours = match unsafe { CStr::from_ptr(name) }.to_bytes() {
            b"clIcdGetPlatformIDsKHR" => crate::clIcdGetPlatformIDsKHR as *mut c_void,
            b"clGetPlatformInfo" => crate::clGetPlatformInfo as *mut c_void,
            b"clGetExtensionFunctionAddress" => crate::clGetExtensionFunctionAddress as *mut c_void,
            _ => ptr::null_mut(),
        };
        if ours.is_null() {
            // SAFETY: the caller's promise.
            unsafe { (self.get_function)(name) }
        } else {
            ours
        }
    }

    /// The platforms.
    ///
    /// # Safety
    /// As the specification of `clGetPlatformIDs` has it.
    pub(crate) unsafe fn platforms(
        &self,
        entries: cl_uint,
        platforms: *mut cl_platform_id,
        count: *mut cl_uint,
    ) -> cl_int {
        // SAFETY: the caller's promise is passed on.
        unsafe { (self.get_platforms)(entries, platforms, count) }
    }

    /// The table of the first platform and of all objects made from it, ready to be written to.
    pub(crate) fn table(&self) -> Result<*mut Table, String> {
        let mut platform: cl_platform_id = ptr::null_mut();
        // SAFETY: there is room for the one platform that is asked for, and none for the count.
        let code = unsafe { self.platforms(1, &raw mut platform, ptr::null_mut()) };
        if code != CL_SUCCESS || platform.is_null() {
            return Err(format!("the real driver has no platform: {code}"));
        }
        // SAFETY: the platform is one of this driver's.
        let table = unsafe { table_of(platform) };
        make_writable(table)?;
        Ok(table)
    }
}

/// A platform's property.
///
/// # Safety
/// As the specification of `clGetPlatformInfo` has it; the platform is one of a [`Driver`]'s.
pub(crate) unsafe fn platform_info(
    platform: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    // SAFETY: the caller's promise.
    match unsafe { (*table_of(platform)).clGetPlatformInfo } {
        // SAFETY: the caller's promise is passed on.
        Some(info) => unsafe { info(platform, name, size, value, size_ret) },
        None => CL_INVALID_PLATFORM,
    }
}

/// # Safety
/// The platform belongs to a driver with `cl_khr_icd`: its objects begin with a pointer to a table.
unsafe fn table_of(platform: cl_platform_id) -> *mut Table {
    // SAFETY: the caller's promise.
    unsafe { *platform.cast::<*mut Table>() }
}

/// Tables may be constants of the driver.
fn make_writable(table: *mut Table) -> Result<(), String> {
    // SAFETY: plain numbers go in and come out.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let page = usize::try_from(page).map_err(|_| "pages have no size".to_owned())?;
    let first = table.addr() / page * page;
    // A driver's table may be shorter than the newest; that of OpenCL 1.2 has what is exchanged.
    let last = (table.addr() + offset_of!(Table, clEnqueueBarrierWithWaitList)) / page * page;
    // SAFETY: these are the pages that hold the table; that more of the driver's data becomes
    // writable takes nothing from it.
    let code = unsafe {
        libc::mprotect(
            table.cast::<u8>().wrapping_sub(table.addr() - first).cast(),
            last + page - first,
            libc::PROT_READ | libc::PROT_WRITE,
        )
    };
    match code {
        0 => Ok(()),
        _ => Err(format!(
            "the driver's table cannot be written to: {}",
            std::io::Error::last_os_error()
        )),
    }
}
