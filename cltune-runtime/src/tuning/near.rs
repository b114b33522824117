//! Comparison of results with the reference's on the device: reading them back and comparing on the
//! host takes several times as long as most kernels do, the more so while other processes build
//! there.

use super::guarded::Guarded;
use super::tolerance::Allowed;
use super::verify::Expected;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawKernel, RawProgram};
use crate::queue::Queue;
use cltune_core::model::{Geometry, ScalarType};
use std::cell::OnceCell;
use std::ops::Range;

/// Work-items of a work-group.
const ITEMS: usize = 64;
/// At most so many work-groups, which share the elements.
const GROUPS: usize = 1024;
/// Each work-item has about so many elements, where there are enough.
const EACH: usize = 16;

/// Sums the squares of differences of elements that are near enough, in double precision as the
/// host does, one sum for each work-group; infinite where an element is not near. The same bits are
/// near, not numbers among them.
const SOURCE: &str = "
#ifndef cl_khr_fp64
#error no double precision
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void near(__global const BITS* expected, __global const BITS* found, const ulong begin,
                   const ulong end, const double absolute, const double relative, __global double* sums) {
    __local double shared[ITEMS];
    double sum = 0;
    for (ulong i = begin + get_global_id(0); i < end; i += get_global_size(0)) {
        if (expected[i] == found[i]) {
            continue;
        }
        const double a = LOAD(expected, i), b = LOAD(found, i);
        const double difference = fabs(b - a);
        const int is_near = difference <= absolute + relative * fabs(a) && difference <= DBL_MAX;
        sum += is_near ? difference * difference : a == b ? 0.0 : (double)INFINITY;
    }
    const uint me = get_local_id(0);
    shared[me] = sum;
    for (uint half_of = ITEMS / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < half_of) {
            shared[me] += shared[me + half_of];
        }
    }
    if (me == 0) {
        sums[get_group_id(0)] = shared[0];
    }
}
";

/// The kernels that compare elements on the device, for each type.
#[derive(Debug, Default)]
pub(super) struct Nears {
    /// Built when they are first needed; `None` where the device does not build them.
    of_types: [OnceCell<Option<Near>>; 4],
}

impl Nears {
    /// `None` for integers, which must be the same, and where [`Near::new`] is.
    pub(super) fn of(&self, context: &Context, element: ScalarType) -> Option<&Near> {
        let types = [
            ScalarType::F16,
            ScalarType::BF16,
            ScalarType::F32,
            ScalarType::F64,
        ];
        let pairs = types.iter().zip(&self.of_types);
        let (_, near) = pairs.into_iter().find(|(of, _)| **of == element)?;
        near.get_or_init(|| Near::new(context, element)).as_ref()
    }
}

/// Compares elements of one type on the device.
#[derive(Debug)]
pub(super) struct Near {
    kernel: RawKernel,
    sums: RawBuffer,
}

impl Near {
    /// `None` where the device has no double precision, or does not build it: then results are read
    /// back.
    fn new(context: &Context, element: ScalarType) -> Option<Self> {
        // `vload_half` needs no extension.
        let (bits, load) = match element {
            ScalarType::F16 => ("ushort", "vload_half(i,(__global const half*)(p))"),
            ScalarType::BF16 => ("ushort", "as_float((uint)(p)[i] << 16)"),
            ScalarType::F32 => ("uint", "as_float((p)[i])"),
            ScalarType::F64 => ("ulong", "as_double((p)[i])"),
            _ => return None,
        };
        let options = format!("-DITEMS={ITEMS} -DBITS={bits}");
        let source = format!("#define LOAD(p, i) {load}\n{SOURCE}");
        let device = context.device().raw();
        let program = RawProgram::build(context.raw(), device, &source, &options).ok()?;
        Some(Self {
            kernel: RawKernel::new(&program, "near").ok()?,
            sums: RawBuffer::new(context.raw(), GROUPS * size_of::<f64>()).ok()?,
        })
    }

    /// Whether a result is certainly right; `expected` holds the reference's, the same as
    /// `reference`.
    pub(super) fn is_right(
        &self,
        queue: &Queue,
        found: &Guarded,
        expected: &RawBuffer,
        reference: &Expected,
    ) -> Result<bool> {
        let compared = reference.compared();
        let squares = self.squares(queue, (expected, found), compared, reference.allowed())?;
        Ok(squares.is_some_and(|squares| reference.is_within_norm(squares, compared.len())))
    }

    /// The sum of the squares of the differences of these elements; `None` where one is farther
    /// from what is expected than allowed.
    fn squares(
        &self,
        queue: &Queue,
        (expected, found): (&RawBuffer, &Guarded),
        elements: &Range<usize>,
        allowed: &Allowed,
    ) -> Result<Option<f64>> {
        let groups = elements.len().div_ceil(ITEMS * EACH).clamp(1, GROUPS);
        let (abs, rel) = allowed.bounds();
        let [begin, end] = [elements.start, elements.end].map(|at| (at as u64).to_ne_bytes());
        self.kernel
            .set_buffer(0, expected)
            .and_then(|()| self.kernel.set_buffer(1, found.region()))
            .and_then(|()| self.kernel.set_scalar(2, &begin))
            .and_then(|()| self.kernel.set_scalar(3, &end))
            .and_then(|()| self.kernel.set_scalar(4, &abs.to_ne_bytes()))
            .and_then(|()| self.kernel.set_scalar(5, &rel.to_ne_bytes()))
            .and_then(|()| self.kernel.set_buffer(6, &self.sums))
            .map_err(Error::call("clSetKernelArg"))?;
        let geometry = Geometry {
            work_dim: 1,
            global: [groups * ITEMS, 1, 1],
            local: Some([ITEMS, 1, 1]),
            offset: None,
        };
        let raw = queue.raw();
        raw.launch(&self.kernel, &geometry)
            .map_err(Error::call("clEnqueueNDRangeKernel"))?;
        let mut sums = vec![0; groups * size_of::<f64>()];
        raw.read(&self.sums, 0, &mut sums)
            .map_err(Error::call("clEnqueueReadBuffer"))?;
        let (sums, _) = sums.as_chunks::<{ size_of::<f64>() }>();
        let sum: f64 = sums.iter().map(|sum| f64::from_ne_bytes(*sum)).sum();
        Ok(sum.is_finite().then_some(sum))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tuning_near.rs"]
mod tests;
