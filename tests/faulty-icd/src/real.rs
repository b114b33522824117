//! The real driver's functions whose places in the table hooks have taken.

use crate::hooks;
use opencl_sys::cl_icd::{
    _cl_icd_dispatch as Table, clBuildProgram_t, clCreateBuffer_t, clCreateCommandQueue_t,
    clCreateContext_t, clCreateKernel_t, clCreateProgramWithBinary_t, clCreateProgramWithSource_t,
    clCreateSubBuffer_t, clEnqueueBarrierWithWaitList_t, clEnqueueCopyBuffer_t,
    clEnqueueFillBuffer_t, clEnqueueMapBuffer_t, clEnqueueMarkerWithWaitList_t,
    clEnqueueNDRangeKernel_t, clEnqueueReadBuffer_t, clEnqueueReadBufferRect_t,
    clEnqueueUnmapMemObject_t, clEnqueueWriteBuffer_t, clEnqueueWriteBufferRect_t, clFinish_t,
    clGetDeviceIDs_t, clGetDeviceInfo_t, clGetEventInfo_t, clGetEventProfilingInfo_t,
    clGetKernelWorkGroupInfo_t, clReleaseCommandQueue_t, clReleaseContext_t, clReleaseEvent_t,
    clReleaseKernel_t, clReleaseMemObject_t, clReleaseProgram_t, clRetainCommandQueue_t,
    clRetainContext_t, clRetainEvent_t, clRetainKernel_t, clRetainMemObject_t, clRetainProgram_t,
    clWaitForEvents_t,
};
use std::ptr;

macro_rules! real {
    ($($name:ident: $type:ty = $hook:ident,)*) => {
        /// The real functions.
        #[expect(non_snake_case, reason = "the names are the specification's")]
        pub(crate) struct Real { $(pub(crate) $name: $type,)* }

        impl Real {
            /// Takes the real functions out of the table and puts the hooks in their places.
            ///
            /// # Safety
            /// The table can be written to, and is not in use yet.
            pub(crate) unsafe fn exchange(table: *mut Table) -> Self {
                // SAFETY: the caller's promise.
                unsafe {
                    Self { $($name: ptr::replace(&raw mut (*table).$name, Some(hooks::$hook)),)* }
                }
            }
        }
    };
}

real! {
    clGetDeviceIDs: clGetDeviceIDs_t = get_device_ids,
    clGetDeviceInfo: clGetDeviceInfo_t = get_device_info,
    clCreateContext: clCreateContext_t = create_context,
    clCreateBuffer: clCreateBuffer_t = create_buffer,
    clCreateProgramWithBinary: clCreateProgramWithBinary_t = create_program_with_binary,
    clBuildProgram: clBuildProgram_t = build_program,
    clCreateKernel: clCreateKernel_t = create_kernel,
    clGetKernelWorkGroupInfo: clGetKernelWorkGroupInfo_t = get_kernel_work_group_info,
    clEnqueueNDRangeKernel: clEnqueueNDRangeKernel_t = enqueue_nd_range_kernel,
    clEnqueueReadBuffer: clEnqueueReadBuffer_t = enqueue_read_buffer,
    clEnqueueWriteBuffer: clEnqueueWriteBuffer_t = enqueue_write_buffer,
    clEnqueueCopyBuffer: clEnqueueCopyBuffer_t = enqueue_copy_buffer,
    clGetEventInfo: clGetEventInfo_t = get_event_info,
    clGetEventProfilingInfo: clGetEventProfilingInfo_t = get_event_profiling_info,
    clWaitForEvents: clWaitForEvents_t = wait_for_events,
    clFinish: clFinish_t = finish,
    clCreateSubBuffer: clCreateSubBuffer_t = create_sub_buffer,
    clCreateCommandQueue: clCreateCommandQueue_t = create_command_queue,
    clCreateProgramWithSource: clCreateProgramWithSource_t = create_program_with_source,
    clEnqueueWriteBufferRect: clEnqueueWriteBufferRect_t = enqueue_write_buffer_rect,
    clEnqueueReadBufferRect: clEnqueueReadBufferRect_t = enqueue_read_buffer_rect,
    clEnqueueFillBuffer: clEnqueueFillBuffer_t = enqueue_fill_buffer,
    clEnqueueMapBuffer: clEnqueueMapBuffer_t = enqueue_map_buffer,
    clEnqueueUnmapMemObject: clEnqueueUnmapMemObject_t = enqueue_unmap_mem_object,
    clEnqueueMarkerWithWaitList: clEnqueueMarkerWithWaitList_t = enqueue_marker_with_wait_list,
    clEnqueueBarrierWithWaitList: clEnqueueBarrierWithWaitList_t = enqueue_barrier_with_wait_list,
    clRetainMemObject: clRetainMemObject_t = retain_mem_object,
    clReleaseMemObject: clReleaseMemObject_t = release_mem_object,
    clRetainContext: clRetainContext_t = retain_context,
    clReleaseContext: clReleaseContext_t = release_context,
    clRetainEvent: clRetainEvent_t = retain_event,
    clReleaseEvent: clReleaseEvent_t = release_event,
    clRetainKernel: clRetainKernel_t = retain_kernel,
    clReleaseKernel: clReleaseKernel_t = release_kernel,
    clRetainProgram: clRetainProgram_t = retain_program,
    clReleaseProgram: clReleaseProgram_t = release_program,
    clRetainCommandQueue: clRetainCommandQueue_t = retain_command_queue,
    clReleaseCommandQueue: clReleaseCommandQueue_t = release_command_queue,
}
