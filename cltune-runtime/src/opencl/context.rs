//! Contexts.

use super::{RawDevice, Status};
use cl3::context::{self, CL_CONTEXT_PLATFORM, cl_context};
use std::ptr;

/// An OpenCL context.
#[derive(Debug)]
pub(crate) struct RawContext(pub(super) cl_context);

// SAFETY: OpenCL objects other than kernels may be used from any thread (OpenCL 3.0 API
// specification, appendix A.2).
unsafe impl Send for RawContext {}
// SAFETY: as above.
unsafe impl Sync for RawContext {}

impl RawContext {
    pub(crate) fn new(device: RawDevice) -> Result<Self, Status> {
        let properties = [CL_CONTEXT_PLATFORM, device.platform as isize, 0];
        context::create_context(
            &[device.id],
            properties.as_ptr().cast(),
            None,
            ptr::null_mut(),
        )
        .map(Self)
        .map_err(Status)
    }
}

impl Drop for RawContext {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own and is released once.
        let _ = unsafe { context::release_context(self.0) };
    }
}
