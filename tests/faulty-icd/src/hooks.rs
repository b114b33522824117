//! The functions put into the driver's table: each lets the due faults happen, then calls the real
//! one.

use crate::driver::Driver;
use crate::effect::{aftermath, strike};
use crate::fault::{Effect, parse};
use crate::objects::{self, Kind};
use crate::occasion::{Handle, Occasions};
use crate::real::Real;
use opencl_sys::{
    CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_EXTENSIONS, CL_DEVICE_LOCAL_MEM_SIZE,
    CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_NAME, CL_DEVICE_TYPE, CL_KERNEL_LOCAL_MEM_SIZE,
    CL_KERNEL_WORK_GROUP_SIZE, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START, CL_SUCCESS,
    cl_bool, cl_buffer_create_type, cl_command_queue, cl_command_queue_properties, cl_context,
    cl_context_properties, cl_device_id, cl_device_info, cl_device_type, cl_event, cl_event_info,
    cl_int, cl_kernel, cl_kernel_work_group_info, cl_map_flags, cl_mem, cl_mem_flags,
    cl_platform_id, cl_profiling_info, cl_program, cl_uint,
};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

/// What the hooks need.
struct State {
    real: Real,
    occasions: Occasions,
}

static STATE: OnceLock<State> = OnceLock::new();

/// Puts the hooks into the driver's table.
pub(crate) fn install(driver: &Driver) -> Result<(), String> {
    let faults = parse(&std::env::var("CLTUNE_FAULT").unwrap_or_default())?;
    objects::install();
    let table = driver.table()?;
    // SAFETY: `table` makes it writable, and the loader has no object of the driver before it has
    // this function's result.
    let real = unsafe { Real::exchange(table) };
    let occasions = Occasions::new(faults);
    let installed = STATE.set(State { real, occasions });
    installed.map_err(|_| "the hooks are installed already".to_owned())
}

/// For a hook: only a table that `install` has finished with leads to one.
fn state() -> &'static State {
    STATE.get_or_init(|| std::process::abort())
}

/// Lets the faults happen that are due at a call: of a program or kernel, or of the last launch.
/// All of them are returned, for those of its result; or else the code that it has to return at
/// once.
fn before(call: &'static str, of: Option<Handle>) -> Result<Vec<&'static Effect>, cl_int> {
    let occasions = &state().occasions;
    let due = occasions.due(call, of);
    let mut refusal = None;
    for effect in &due {
        refusal = refusal.or(strike(effect));
    }
    match refusal.or_else(|| aftermath(occasions.marks())) {
        Some(code) => Err(code),
        None => Ok(due),
    }
}

/// Calls the real function, whose place in the table the hook has taken.
macro_rules! real {
    ($name:ident($($argument:expr),*)) => {
        match state().real.$name {
            // SAFETY: the arguments are those of the hook's caller, who promised what the
            // specification asks for.
            Some(real) => unsafe { real($($argument),*) },
            None => std::process::abort(),
        }
    };
}

/// Hooks that add nothing to the faults of `before` but counts. Those that return an object have a
/// place for the error code as their last argument, commands one for their event.
macro_rules! plain_hooks {
    ($($name:ident as $hook:ident of $of:expr => ($($argument:ident: $type:ty),*)
       $(-> $object:ty, $code:ident, $kind:ident)? $(, then $event:ident)?;)*) => {
        $(plain_hooks!(@one $name, $hook, $of, ($($argument: $type),*)
          $(-> $object, $code, $kind)? $(, then $event)?);)*
    };
    (@one $name:ident, $hook:ident, $of:expr, ($($argument:ident: $type:ty),*),
     then $event:ident) => {
        pub(crate) unsafe extern "C" fn $hook(
            $($argument: $type,)*
            $event: *mut cl_event,
        ) -> cl_int {
            match before(stringify!($name), $of) {
                Ok(_) => with_event(real!($name($($argument,)* $event)), $event),
                Err(code) => code,
            }
        }
    };
    (@one $name:ident, $hook:ident, $of:expr, ($($argument:ident: $type:ty),*)) => {
        pub(crate) unsafe extern "C" fn $hook($($argument: $type),*) -> cl_int {
            match before(stringify!($name), $of) {
                Ok(_) => real!($name($($argument),*)),
                Err(code) => code,
            }
        }
    };
    (@one $name:ident, $hook:ident, $of:expr, ($($argument:ident: $type:ty),*)
     -> $object:ty, $code:ident, $kind:ident) => {
        pub(crate) unsafe extern "C" fn $hook(
            $($argument: $type,)*
            $code: *mut cl_int,
        ) -> $object {
            match before(stringify!($name), $of) {
                Ok(_) => with_object(real!($name($($argument,)* $code)), Kind::$kind),
                // SAFETY: the specification allows null or a place for a code.
                Err(error) => unsafe { no_object(error, $code) },
            }
        }
    };
}

/// The result of a function that makes no object.
///
/// # Safety
/// The pointer is null, or may be written to.
unsafe fn no_object<T>(error: cl_int, code: *mut cl_int) -> *mut T {
    if !code.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *code = error };
    }
    ptr::null_mut()
}

/// Counts the event of a command that was enqueued, where the caller asked for it.
fn with_event(code: cl_int, event: *mut cl_event) -> cl_int {
    if code == CL_SUCCESS && !event.is_null() {
        objects::made(Kind::Event);
    }
    code
}

/// Counts an object that was made.
fn with_object<T>(object: *mut T, kind: Kind) -> *mut T {
    if !object.is_null() {
        objects::made(kind);
    }
    object
}

/// Hooks that count references.
macro_rules! counting_hooks {
    ($($name:ident as $hook:ident of $ty:ty => $count:ident($kind:ident);)*) => {
        $(pub(crate) unsafe extern "C" fn $hook(object: $ty) -> cl_int {
            let code = real!($name(object));
            if code == CL_SUCCESS {
                objects::$count(Kind::$kind);
            }
            code
        })*
    };
}

counting_hooks! {
    clRetainMemObject as retain_mem_object of cl_mem => retained(Buffer);
    clReleaseMemObject as release_mem_object of cl_mem => released(Buffer);
    clRetainContext as retain_context of cl_context => retained(Context);
    clReleaseContext as release_context of cl_context => released(Context);
    clRetainEvent as retain_event of cl_event => retained(Event);
    clReleaseEvent as release_event of cl_event => released(Event);
    clRetainKernel as retain_kernel of cl_kernel => retained(Kernel);
    clReleaseKernel as release_kernel of cl_kernel => released(Kernel);
    clRetainProgram as retain_program of cl_program => retained(Program);
    clReleaseProgram as release_program of cl_program => released(Program);
    clRetainCommandQueue as retain_command_queue of cl_command_queue => retained(Queue);
    clReleaseCommandQueue as release_command_queue of cl_command_queue => released(Queue);
}

type ContextNotify = unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void);
type ProgramNotify = unsafe extern "C" fn(cl_program, *mut c_void);

plain_hooks! {
    clGetDeviceIDs as get_device_ids of None => (
        platform: cl_platform_id, kind: cl_device_type, entries: cl_uint,
        devices: *mut cl_device_id, count: *mut cl_uint
    );
    clCreateBuffer as create_buffer of None => (
        context: cl_context, flags: cl_mem_flags, size: usize, host: *mut c_void
    ) -> cl_mem, code, Buffer;
    clCreateSubBuffer as create_sub_buffer of None => (
        buffer: cl_mem, flags: cl_mem_flags, kind: cl_buffer_create_type, info: *const c_void
    ) -> cl_mem, code, Buffer;
    clCreateCommandQueue as create_command_queue of None => (
        context: cl_context, device: cl_device_id, properties: cl_command_queue_properties
    ) -> cl_command_queue, code, Queue;
    clCreateProgramWithSource as create_program_with_source of None => (
        context: cl_context, count: cl_uint, texts: *mut *const c_char, lengths: *const usize
    ) -> cl_program, code, Program;
    clCreateProgramWithBinary as create_program_with_binary of None => (
        context: cl_context, count: cl_uint, devices: *const cl_device_id, lengths: *const usize,
        binaries: *mut *const u8, statuses: *mut cl_int
    ) -> cl_program, code, Program;
    clEnqueueWriteBuffer as enqueue_write_buffer of None => (
        queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, offset: usize, size: usize,
        source: *const c_void, waits: cl_uint, wait_list: *const cl_event
    ), then event;
    clEnqueueWriteBufferRect as enqueue_write_buffer_rect of None => (
        queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, buffer_origin: *const usize,
        host_origin: *const usize, region: *const usize, buffer_row: usize, buffer_slice: usize,
        host_row: usize, host_slice: usize, source: *const c_void, waits: cl_uint,
        wait_list: *const cl_event
    ), then event;
    clEnqueueReadBufferRect as enqueue_read_buffer_rect of None => (
        queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, buffer_origin: *const usize,
        host_origin: *const usize, region: *const usize, buffer_row: usize, buffer_slice: usize,
        host_row: usize, host_slice: usize, target: *mut c_void, waits: cl_uint,
        wait_list: *const cl_event
    ), then event;
    clEnqueueFillBuffer as enqueue_fill_buffer of None => (
        queue: cl_command_queue, buffer: cl_mem, pattern: *const c_void, pattern_size: usize,
        offset: usize, size: usize, waits: cl_uint, wait_list: *const cl_event
    ), then event;
    clEnqueueUnmapMemObject as enqueue_unmap_mem_object of None => (
        queue: cl_command_queue, buffer: cl_mem, mapped: *mut c_void, waits: cl_uint,
        wait_list: *const cl_event
    ), then event;
    clEnqueueMarkerWithWaitList as enqueue_marker_with_wait_list of None => (
        queue: cl_command_queue, waits: cl_uint, wait_list: *const cl_event
    ), then event;
    clEnqueueBarrierWithWaitList as enqueue_barrier_with_wait_list of None => (
        queue: cl_command_queue, waits: cl_uint, wait_list: *const cl_event
    ), then event;
    clEnqueueCopyBuffer as enqueue_copy_buffer of None => (
        queue: cl_command_queue, source: cl_mem, target: cl_mem, source_offset: usize,
        target_offset: usize, size: usize, waits: cl_uint, wait_list: *const cl_event
    ), then event;
    clGetEventInfo as get_event_info of None => (
        event: cl_event, query: cl_event_info, size: usize, value: *mut c_void, needed: *mut usize
    );
    clWaitForEvents as wait_for_events of None => (count: cl_uint, events: *const cl_event);
    clFinish as finish of None => (queue: cl_command_queue);
}

/// Remembers which device is used.
pub(crate) unsafe extern "C" fn create_context(
    properties: *const cl_context_properties,
    count: cl_uint,
    devices: *const cl_device_id,
    notify: Option<ContextNotify>,
    data: *mut c_void,
    code: *mut cl_int,
) -> cl_context {
    if count > 0 && !devices.is_null() {
        // SAFETY: the specification asks for `count` devices there.
        state().occasions.used(&unsafe { name(*devices) });
    }
    match before("clCreateContext", None) {
        Ok(_) => with_object(
            real!(clCreateContext(
                properties, count, devices, notify, data, code
            )),
            Kind::Context,
        ),
        // SAFETY: the specification allows null or a place for a code.
        Err(error) => unsafe { no_object(error, code) },
    }
}

/// The name of a device; empty where it has none.
///
/// # Safety
/// The device is one of the driver's.
unsafe fn name(device: cl_device_id) -> String {
    let mut bytes = [0_u8; 256];
    let (size, value) = (bytes.len(), bytes.as_mut_ptr().cast());
    let code = real!(clGetDeviceInfo(
        device,
        CL_DEVICE_NAME,
        size,
        value,
        ptr::null_mut()
    ));
    let text = CStr::from_bytes_until_nul(&bytes).ok();
    let text = text.filter(|_| code == CL_SUCCESS);
    text.map_or_else(String::new, |text| text.to_string_lossy().into_owned())
}

/// Remembers what a program is built with.
pub(crate) unsafe extern "C" fn build_program(
    program: cl_program,
    count: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    notify: Option<ProgramNotify>,
    data: *mut c_void,
) -> cl_int {
    let text = if options.is_null() {
        "".into()
    } else {
        // SAFETY: the specification asks for a C string.
        unsafe { CStr::from_ptr(options) }.to_string_lossy()
    };
    state().occasions.built(program.addr(), &text);
    match before("clBuildProgram", Some(program.addr())) {
        Ok(_) => real!(clBuildProgram(
            program, count, devices, options, notify, data
        )),
        Err(code) => code,
    }
}

/// Remembers which program a kernel is of.
pub(crate) unsafe extern "C" fn create_kernel(
    program: cl_program,
    name: *const c_char,
    code: *mut cl_int,
) -> cl_kernel {
    if let Err(error) = before("clCreateKernel", Some(program.addr())) {
        // SAFETY: the specification allows null or a place for a code.
        return unsafe { no_object(error, code) };
    }
    let kernel = with_object(real!(clCreateKernel(program, name, code)), Kind::Kernel);
    state().occasions.created(kernel.addr(), program.addr());
    kernel
}

/// Remembers which kernel is launched.
pub(crate) unsafe extern "C" fn enqueue_nd_range_kernel(
    queue: cl_command_queue,
    kernel: cl_kernel,
    dimensions: cl_uint,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    waits: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    state().occasions.launched(kernel.addr());
    match before("clEnqueueNDRangeKernel", Some(kernel.addr())) {
        Ok(_) => with_event(
            real!(clEnqueueNDRangeKernel(
                queue, kernel, dimensions, offset, global, local, waits, wait_list, event
            )),
            event,
        ),
        Err(code) => code,
    }
}

/// Corrupts what is read.
pub(crate) unsafe extern "C" fn enqueue_read_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    target: *mut c_void,
    waits: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let due = match before("clEnqueueReadBuffer", None) {
        Ok(due) => due,
        Err(code) => return code,
    };
    let code = real!(clEnqueueReadBuffer(
        queue, buffer, blocking, offset, size, target, waits, wait_list, event
    ));
    let code = with_event(code, event);
    if due.contains(&&Effect::Corrupt) && code == CL_SUCCESS && size > 0 {
        // SAFETY: the caller has room for `size` bytes there. The first and the last may be around
        // what the caller is after.
        unsafe { *target.cast::<u8>().add(size / 2) ^= 1 };
    }
    code
}

/// Counts the event of a mapped buffer.
pub(crate) unsafe extern "C" fn enqueue_map_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
    waits: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
    code: *mut cl_int,
) -> *mut c_void {
    match before("clEnqueueMapBuffer", None) {
        Ok(_) => {
            let mapped = real!(clEnqueueMapBuffer(
                queue, buffer, blocking, flags, offset, size, waits, wait_list, event, code
            ));
            if !mapped.is_null() {
                with_event(CL_SUCCESS, event);
            }
            mapped
        }
        // SAFETY: the specification allows null or a place for a code.
        Err(error) => unsafe { no_object(error, code) },
    }
}

/// Lies about the kind and limits of devices.
pub(crate) unsafe extern "C" fn get_device_info(
    device: cl_device_id,
    name: cl_device_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    let code = real!(clGetDeviceInfo(device, name, size, value, size_ret));
    let query = match name {
        CL_DEVICE_TYPE => "CL_DEVICE_TYPE",
        CL_DEVICE_EXTENSIONS => "CL_DEVICE_EXTENSIONS",
        CL_DEVICE_DOUBLE_FP_CONFIG => "CL_DEVICE_DOUBLE_FP_CONFIG",
        CL_DEVICE_LOCAL_MEM_SIZE => "CL_DEVICE_LOCAL_MEM_SIZE",
        CL_DEVICE_MAX_WORK_GROUP_SIZE => "CL_DEVICE_MAX_WORK_GROUP_SIZE",
        _ => return code,
    };
    // SAFETY: the answer's place is the caller's.
    unsafe { lie(query, None, size, value) };
    code
}

/// Lies about limits of kernels.
pub(crate) unsafe extern "C" fn get_kernel_work_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_work_group_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    let code = real!(clGetKernelWorkGroupInfo(
        kernel, device, name, size, value, size_ret
    ));
    let query = match name {
        CL_KERNEL_WORK_GROUP_SIZE => "CL_KERNEL_WORK_GROUP_SIZE",
        CL_KERNEL_LOCAL_MEM_SIZE => "CL_KERNEL_LOCAL_MEM_SIZE",
        _ => return code,
    };
    // SAFETY: the answer's place is the caller's.
    unsafe { lie(query, Some(kernel.addr()), size, value) };
    code
}

/// Lies about the times of commands.
pub(crate) unsafe extern "C" fn get_event_profiling_info(
    event: cl_event,
    name: cl_profiling_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    let code = real!(clGetEventProfilingInfo(event, name, size, value, size_ret));
    let query = match name {
        CL_PROFILING_COMMAND_START => "CL_PROFILING_COMMAND_START",
        CL_PROFILING_COMMAND_END => "CL_PROFILING_COMMAND_END",
        _ => return code,
    };
    // SAFETY: the answer's place is the caller's.
    unsafe { lie(query, None, size, value) };
    code
}

/// Replaces the answer to a query.
///
/// # Safety
/// `value` is null, or `size` bytes may be written there.
unsafe fn lie(query: &'static str, of: Option<Handle>, size: usize, value: *mut c_void) {
    let due = state().occasions.due(query, of);
    if value.is_null() {
        return;
    }
    for effect in due {
        match effect {
            Effect::Answer(answer) => {
                let bytes = answer.to_ne_bytes();
                // SAFETY: the caller's promise; both sides have this many bytes.
                unsafe {
                    ptr::copy_nonoverlapping(bytes.as_ptr(), value.cast(), size.min(bytes.len()));
                }
            }
            Effect::Hide(word) => {
                // SAFETY: the caller's promise; the driver has written its answer there.
                let text = unsafe { std::slice::from_raw_parts_mut(value.cast::<u8>(), size) };
                hide(text, word.as_bytes());
            }
            _ => {}
        }
    }
}

/// Puts spaces in the places of a word.
fn hide(text: &mut [u8], word: &[u8]) {
    let words = text.split_mut(|byte| *byte == b' ' || *byte == 0);
    for found in words.filter(|found| found == &word) {
        found.fill(b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::hide;

    #[test]
    fn a_word_is_hidden_and_no_part_of_another() {
        let mut text = *b"cl_khr_fp64 cl_khr_fp64_more cl_khr_fp64\0";
        hide(&mut text, b"cl_khr_fp64");
        assert_eq!(&text, b"            cl_khr_fp64_more            \0");
    }
}
