//! Buffer objects.

use super::{RawContext, Status};
use cl3::memory::{self, cl_mem, cl_mem_flags};
use std::ptr;

/// A buffer object or a region of one.
#[derive(Debug)]
pub(crate) struct RawBuffer {
    pub(super) mem: cl_mem,
    pub(super) access: KernelAccess,
}

/// What kernels may do with a buffer, by the flags that it was made with; all else is undefined in
/// OpenCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelAccess {
    ReadWrite,
    ReadOnly,
    WriteOnly,
}

impl KernelAccess {
    /// That of a memory object with such flags.
    pub(super) const fn of(flags: cl_mem_flags) -> Self {
        if flags & memory::CL_MEM_READ_ONLY != 0 {
            Self::ReadOnly
        } else if flags & memory::CL_MEM_WRITE_ONLY != 0 {
            Self::WriteOnly
        } else {
            Self::ReadWrite
        }
    }
}

// SAFETY: memory objects may be used from any thread (OpenCL 3.0 API specification, appendix
// A.2); the contents are only reached through commands of queues.
unsafe impl Send for RawBuffer {}
// SAFETY: as above.
unsafe impl Sync for RawBuffer {}

impl RawBuffer {
    /// A read-write buffer of `bytes` bytes, at least 1.
    pub(crate) fn new(context: &RawContext, bytes: usize) -> Result<Self, Status> {
        // SAFETY: no host pointer is passed, so nothing must outlive the call.
        let mem = unsafe {
            memory::create_buffer(context.0, memory::CL_MEM_READ_WRITE, bytes, ptr::null_mut())
        };
        Ok(Self {
            mem: mem.map_err(Status)?,
            access: KernelAccess::ReadWrite,
        })
    }

    /// A read-write buffer of `bytes` bytes, at least 1, that are zero.
    pub(crate) fn zeros(context: &RawContext, bytes: usize) -> Result<Self, Status> {
        let mut zeros = vec![0_u8; bytes];
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_COPY_HOST_PTR;
        // SAFETY: the host pointer is that of `bytes` bytes, which are copied before the call
        // returns.
        let mem =
            unsafe { memory::create_buffer(context.0, flags, bytes, zeros.as_mut_ptr().cast()) };
        Ok(Self {
            mem: mem.map_err(Status)?,
            access: KernelAccess::ReadWrite,
        })
    }

    /// The same buffer once more.
    pub(crate) fn share(&self) -> Result<Self, Status> {
        // SAFETY: the handle is alive; the new value releases what is retained here.
        unsafe { memory::retain_mem_object(self.mem) }.map_err(Status)?;
        let Self { mem, access } = *self;
        Ok(Self { mem, access })
    }

    /// What kernels may do with it.
    pub(crate) fn access(&self) -> KernelAccess {
        self.access
    }

    /// The buffer that it is a region of, or itself, and where it begins there. The other one is
    /// alive as long as this one.
    pub(super) fn whole(&self) -> Result<(cl_mem, usize), Status> {
        let parent = memory::get_mem_object_info(self.mem, memory::CL_MEM_ASSOCIATED_MEMOBJECT);
        let parent = parent.map_err(Status)?.to_ptr() as cl_mem;
        if parent.is_null() {
            return Ok((self.mem, 0));
        }
        let start = memory::get_mem_object_info(self.mem, memory::CL_MEM_OFFSET);
        Ok((parent, start.map_err(Status)?.to_size()))
    }

    /// The region `offset..offset + bytes` as a buffer of its own. `offset` must be a multiple of
    /// the device's base address alignment. OpenCL keeps the parent alive.
    pub(crate) fn region(&self, offset: usize, bytes: usize) -> Result<Self, Status> {
        // OpenCL has no regions of regions: they are regions of the whole.
        let (whole, start) = self.whole()?;
        let region = memory::cl_buffer_region {
            origin: start + offset,
            size: bytes,
        };
        // SAFETY: the region is a valid `cl_buffer_region` for the length of the call, as
        // CL_BUFFER_CREATE_TYPE_REGION demands; OpenCL checks its bounds. `whole` is this
        // buffer, or the one that this region keeps alive.
        let mem = unsafe {
            memory::create_sub_buffer(
                whole,
                memory::CL_MEM_READ_WRITE,
                memory::CL_BUFFER_CREATE_TYPE_REGION,
                (&raw const region).cast(),
            )
        };
        Ok(Self {
            mem: mem.map_err(Status)?,
            access: self.access,
        })
    }
}

impl Drop for RawBuffer {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own and is released once. Commands that still
        // use it hold their own reference.
        let _ = unsafe { memory::release_mem_object(self.mem) };
    }
}
