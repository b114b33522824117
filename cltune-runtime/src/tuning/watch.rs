//! Whether a buffer is still what it was, asked on the device: reading it back and comparing there would
//! take longer than most kernels do.

use super::guarded::Guarded;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawKernel, RawProgram};
use crate::queue::Queue;
use cltune_core::model::Geometry;

/// Bytes that each work-item compares.
const STEP: usize = 64;

/// Writes to `changed` when a byte differs.
const SOURCE: &str = "
__kernel void compare(__global const uchar* a, __global const uchar* b, const ulong bytes,
                      __global uint* changed) {
    const ulong begin = get_global_id(0) * STEP;
    if (begin + STEP <= bytes) {
        uint4 difference = 0;
        for (uint i = 0; i < STEP / 16; i++) {
            difference |= vload4(i, (__global const uint*)(a + begin))
                        ^ vload4(i, (__global const uint*)(b + begin));
        }
        if (any(difference != 0)) {
            *changed = 1;
        }
    } else {
        for (ulong i = begin; i < bytes; i++) {
            if (a[i] != b[i]) {
                *changed = 1;
            }
        }
    }
}
";

/// Compares buffers on the device.
#[derive(Debug)]
pub(super) struct Watch {
    kernel: RawKernel,
    /// One number: whether something differs.
    changed: RawBuffer,
}

impl Watch {
    /// `None` where the device does not build it: then buffers are read back.
    pub(super) fn new(context: &Context) -> Option<Self> {
        let options = format!("-DSTEP={STEP}");
        let device = context.device().raw();
        let program = RawProgram::build(context.raw(), device, SOURCE, &options).ok()?;
        Some(Self {
            kernel: RawKernel::new(&program, "compare").ok()?,
            changed: RawBuffer::new(context.raw(), size_of::<u32>()).ok()?,
        })
    }

    /// Whether a buffer has the contents of another.
    pub(super) fn is_same(
        &self,
        queue: &Queue,
        buffer: &Guarded,
        other: &RawBuffer,
    ) -> Result<bool> {
        let zero = 0_u32.to_ne_bytes();
        let raw = queue.raw();
        raw.write(&self.changed, 0, &zero)
            .map_err(Error::call("clEnqueueWriteBuffer"))?;
        let bytes = (buffer.bytes() as u64).to_ne_bytes();
        self.kernel
            .set_buffer(0, buffer.region())
            .and_then(|()| self.kernel.set_buffer(1, other))
            .and_then(|()| self.kernel.set_scalar(2, &bytes))
            .and_then(|()| self.kernel.set_buffer(3, &self.changed))
            .map_err(Error::call("clSetKernelArg"))?;
        let geometry = Geometry {
            work_dim: 1,
            global: [buffer.bytes().div_ceil(STEP), 1, 1],
            local: None,
            offset: None,
        };
        raw.launch(&self.kernel, &geometry)
            .map_err(Error::call("clEnqueueNDRangeKernel"))?;
        let mut changed = zero;
        raw.read(&self.changed, 0, &mut changed)
            .map_err(Error::call("clEnqueueReadBuffer"))?;
        Ok(changed == zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn every_changed_byte_is_noticed() {
        let device = Device::select().unwrap();
        let context = Context::new(&device).unwrap();
        let queue = Queue::new(&context).unwrap();
        let watch = Watch::new(&context).unwrap();
        // Whole steps and a rest.
        let bytes = 5 * STEP + 7;
        let contents: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
        let buffer = Guarded::new(&context, &queue, bytes, true).unwrap();
        let other = RawBuffer::new(context.raw(), bytes).unwrap();
        queue.raw().write(&other, 0, &contents).unwrap();
        buffer.copy_from(&queue, &other).unwrap();
        assert!(watch.is_same(&queue, &buffer, &other).unwrap());
        for at in [0, STEP - 1, STEP, 3 * STEP + 17, bytes - 8, bytes - 1] {
            let mut changed = contents.clone();
            changed[at] ^= 1;
            queue.raw().write(&other, 0, &changed).unwrap();
            assert!(!watch.is_same(&queue, &buffer, &other).unwrap(), "{at}");
        }
    }
}
