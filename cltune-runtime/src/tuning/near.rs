//! Comparison of results with the reference's on the device: reading them back and comparing on the host
//! takes several times as long as most kernels do, the more so while other processes build there.

use super::guarded::Guarded;
use super::tolerance::Allowed;
use super::verify::Expected;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawKernel, RawProgram};
use crate::queue::Queue;
use cltune_core::model::{Geometry, ScalarType};
use std::cell::OnceCell;

/// Work-items of a work-group.
const ITEMS: usize = 64;
/// At most so many work-groups, which share the elements.
const GROUPS: usize = 1024;
/// Each work-item has about so many elements, where there are enough.
const EACH: usize = 16;

/// Sums the squares of differences of elements that are near enough, in double precision as the host
/// does, one sum for each work-group; infinite where an element is not near. The same bits are near, not
/// numbers among them.
const SOURCE: &str = "
#ifndef cl_khr_fp64
#error no double precision
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void near(__global const BITS* expected, __global const BITS* found, const ulong count,
                   const double absolute, const double relative, __global double* sums) {
    __local double shared[ITEMS];
    double sum = 0;
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
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

/// What compares elements on the device, for each type.
#[derive(Debug, Default)]
pub(super) struct Nears {
    /// Built when they are first needed; `None` where the device does not build them.
    of_types: [OnceCell<Option<Near>>; 3],
}

impl Nears {
    /// `None` for integers, which must be the same, and where [`Near::new`] is.
    pub(super) fn of(&self, context: &Context, element: ScalarType) -> Option<&Near> {
        let types = [ScalarType::F16, ScalarType::F32, ScalarType::F64];
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
    /// Bytes of an element.
    size: usize,
}

impl Near {
    /// `None` where the device has no double precision, or does not build it: then results are read back.
    fn new(context: &Context, element: ScalarType) -> Option<Self> {
        // `vload_half` needs no extension.
        let (bits, load) = match element {
            ScalarType::F16 => ("ushort", "vload_half(i,(__global const half*)(p))"),
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
            size: element.size(),
        })
    }

    /// Whether a result is certainly right; `expected` holds the reference's, the same as `reference`.
    pub(super) fn is_right(
        &self,
        queue: &Queue,
        found: &Guarded,
        expected: &RawBuffer,
        reference: &Expected,
    ) -> Result<bool> {
        let count = found.bytes() / self.size;
        let squares = self.squares(queue, (expected, found), count, reference.allowed())?;
        Ok(squares.is_some_and(|squares| reference.is_within_norm(squares, count)))
    }

    /// The sum of the squares of the differences of so many elements; `None` where one is farther from
    /// what is expected than allowed.
    fn squares(
        &self,
        queue: &Queue,
        (expected, found): (&RawBuffer, &Guarded),
        count: usize,
        allowed: &Allowed,
    ) -> Result<Option<f64>> {
        let groups = count.div_ceil(ITEMS * EACH).clamp(1, GROUPS);
        let (abs, rel) = allowed.bounds();
        self.kernel
            .set_buffer(0, expected)
            .and_then(|()| self.kernel.set_buffer(1, found.region()))
            .and_then(|()| self.kernel.set_scalar(2, &(count as u64).to_ne_bytes()))
            .and_then(|()| self.kernel.set_scalar(3, &abs.to_ne_bytes()))
            .and_then(|()| self.kernel.set_scalar(4, &rel.to_ne_bytes()))
            .and_then(|()| self.kernel.set_buffer(5, &self.sums))
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
mod tests {
    use super::super::guarded::Surroundings;
    use super::*;
    use crate::device::Device;
    use cltune_core::declaration::{ElementTolerance, NormTolerance, Tolerance};
    use half::f16;

    /// A reference's elements and a configuration's, as bytes.
    type Case<const N: usize> = (Vec<[u8; N]>, Vec<[u8; N]>);

    /// What the host and the device say of each of these results, which must be the same.
    fn passes<const N: usize>(
        element: ScalarType,
        declared: &Tolerance,
        cases: &[Case<N>],
    ) -> Vec<bool> {
        let device = Device::select().unwrap();
        let context = Context::new(&device).unwrap();
        let queue = Queue::new(&context).unwrap();
        let near = Near::new(&context, element).unwrap();
        let said = cases.iter().map(|(expected, found)| {
            let (expected, found) = (expected.as_flattened(), found.as_flattened());
            let reference = Expected::new(element, expected.to_vec(), declared, None).unwrap();
            let on_host = reference.compare(element, found, false).is_none();
            let zones = Surroundings::Zones;
            let region = Guarded::places(&context, &queue, found.len(), element, zones).unwrap();
            let region = &region[0];
            let buffers = [expected, found].map(|contents| {
                let buffer = RawBuffer::new(context.raw(), contents.len()).unwrap();
                queue.raw().write(&buffer, 0, contents).unwrap();
                buffer
            });
            region.copy_from(&queue, &buffers[1]).unwrap();
            let on_device = near
                .is_right(&queue, region, &buffers[0], &reference)
                .unwrap();
            assert_eq!(on_host, on_device, "{expected:?} {found:?}");
            on_host
        });
        said.collect()
    }

    #[test]
    fn the_device_says_what_the_host_says() {
        let declared = Tolerance {
            elements: Some(ElementTolerance {
                rel: 1e-3,
                abs: 1e-6,
            }),
            ..Tolerance::default()
        };
        // More elements than work-items, and a rest.
        let many: Vec<f32> = (0..ITEMS * GROUPS * EACH + 3).map(|i| i as f32).collect();
        let with = |at: usize, value: f32| {
            let mut changed = many.clone();
            changed[at] = value;
            (many.clone(), changed)
        };
        let infinite = f32::INFINITY;
        let cases = [
            (vec![1.0, -2.0], vec![1.000_9, -1.998_1]),
            (vec![1.0, -2.0], vec![1.001_1, -2.0]),
            (vec![0.0], vec![-0.0]),
            (vec![0.0], vec![1.1e-6]),
            (vec![infinite, -infinite], vec![infinite, -infinite]),
            (vec![infinite], vec![-infinite]),
            (vec![infinite], vec![f32::MAX]),
            (vec![1.0], vec![infinite]),
            (vec![1.0], vec![f32::NAN]),
            with(0, 0.0),
            with(many.len() - 1, 0.0),
            with(many.len() / 2, 0.0),
        ];
        let said = passes(
            ScalarType::F32,
            &declared,
            &cases.map(|(a, b)| {
                let bytes = |of: Vec<f32>| of.into_iter().map(f32::to_le_bytes).collect();
                (bytes(a), bytes(b))
            }),
        );
        let right = [0, 2, 4, 9];
        let expected: Vec<bool> = (0..said.len()).map(|case| right.contains(&case)).collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn doubles_and_halves_are_compared_as_such() {
        let tiny = 1.0 + 1e-11_f64;
        let said = passes(
            ScalarType::F64,
            &Tolerance::default(),
            &[tiny, 1.0 + 1e-9].map(|found| (vec![1_f64.to_le_bytes()], vec![found.to_le_bytes()])),
        );
        assert_eq!(said, [true, false]);
        let bytes = |value: f32| vec![f16::from_f32(value).to_le_bytes(); 3];
        let said = passes(
            ScalarType::F16,
            &Tolerance::default(),
            &[100.5, 110.0].map(|found| (bytes(100.0), bytes(found))),
        );
        assert_eq!(said, [true, false]);
    }

    #[test]
    fn a_norm_is_judged_over_all_elements() {
        let declared = Tolerance {
            norm: Some(NormTolerance::Declared(0.1)),
            ..Tolerance::default()
        };
        let ones = vec![1_f32.to_le_bytes(); 100];
        let with = |value: f32| {
            let mut found = ones.clone();
            found[7] = value.to_le_bytes();
            (ones.clone(), found)
        };
        let said = passes(ScalarType::F32, &declared, &[with(1.9), with(2.1)]);
        assert_eq!(said, [true, false], "0.9 and 1.1 of 10");
    }
}
