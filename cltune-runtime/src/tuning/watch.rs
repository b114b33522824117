//! Checksums of device memory, computed on the device: reading the memory back and comparing on the
//! host would take longer than most kernels do.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawKernel, RawProgram};
use crate::queue::Queue;
use cltune_core::model::Geometry;
use std::cell::Cell;
use std::ops::Range;

/// At most so many work-items of a work-group, a power of two.
const ITEMS: usize = 256;
/// At most so many work-groups, which share the words.
const GROUPS: usize = 1024;
/// Each work-item has about so many words of 8 bytes, where there are enough.
const EACH: usize = 16;
/// So many spans are looked at with one answer.
const SPANS: usize = 256;

/// Each work-group adds its words up, each of them mixed with its place, and keeps the sum (turn
/// 0), or notes the turn where the sum is not what it was. A single changed word always changes the
/// sum.
const SOURCE: &str = "
ulong mixed(const ulong word, const ulong at) {
    const ulong mixed = (word ^ at * 0x9E3779B97F4A7C15UL) * 0xD6E8FEB86659FD93UL;
    return (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93UL;
}
__kernel void watch(__global const uchar* data, const ulong begin, const ulong bytes,
                    __global ulong* sums, __global uint* changed, const uint index, const uint turn) {
    __local ulong shared[ITEMS];
    __global const uchar* first = data + begin;
    // Single bytes before the first whole word, and after the last.
    const ulong head = min(bytes, (8 - (begin & 7)) & 7);
    const ulong words = (bytes - head) / 8;
    const ulong rest = bytes - words * 8;
    __global const ulong* whole = (__global const ulong*)(first + head);
    ulong sum = 0;
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) {
        sum += mixed(whole[i], i);
    }
    if (get_global_id(0) < rest) {
        const ulong i = get_global_id(0);
        sum += mixed(first[i < head ? i : i + words * 8], ~i);
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
        const uint group = get_group_id(0);
        if (turn == 0) {
            sums[group] = shared[0];
        } else if (sums[group] != shared[0]) {
            changed[index] = turn;
        }
    }
}
";

/// Adds memory up on the device.
#[derive(Debug)]
pub(super) struct Watch {
    kernel: RawKernel,
    /// Work-items of a work-group.
    items: usize,
    /// For each span, the turn in which it was found changed.
    changed: RawBuffer,
    turn: Cell<u32>,
}

/// Bytes of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<'a> {
    pub(super) buffer: &'a RawBuffer,
    pub(super) begin: usize,
    pub(super) bytes: usize,
}

impl<'a> Span<'a> {
    /// Some bytes of a buffer.
    pub(super) fn of(buffer: &'a RawBuffer, bytes: &Range<usize>) -> Self {
        Self {
            buffer,
            begin: bytes.start,
            bytes: bytes.len(),
        }
    }
}

/// The checksum of a span, on the device.
#[derive(Debug)]
pub(super) struct Checksum(RawBuffer);

impl Watch {
    /// `None` where the device does not build it: then the host keeps and compares everything.
    pub(super) fn new(context: &Context, queue: &Queue) -> Option<Self> {
        let limits = &context.device().info().limits;
        let most = usize::try_from(limits.max_work_group_size).unwrap_or(1);
        let items = ITEMS.min(1 << most.max(1).ilog2());
        let options = format!("-DITEMS={items}");
        let device = context.device().raw();
        let program = RawProgram::build(context.raw(), device, SOURCE, &options).ok()?;
        let changed = RawBuffer::new(context.raw(), SPANS * size_of::<u32>()).ok()?;
        let zeros = [0; SPANS * size_of::<u32>()];
        queue.raw().write(&changed, 0, &zeros).ok()?;
        Some(Self {
            kernel: RawKernel::new(&program, "watch").ok()?,
            items,
            changed,
            turn: Cell::new(0),
        })
    }

    /// Keeps what a span adds up to.
    pub(super) fn checksum(&self, queue: &Queue, span: Span<'_>) -> Result<Checksum> {
        let bytes = self.groups(span.bytes) * size_of::<u64>();
        let sums = RawBuffer::new(queue.context().raw(), bytes)
            .map_err(Error::call(format!("clCreateBuffer of {bytes} bytes")))?;
        let checksum = Checksum(sums);
        self.enqueue(queue, span, &checksum, 0, 0)?;
        Ok(checksum)
    }

    /// The first of these spans whose memory has changed since its checksum was made.
    pub(super) fn changed(
        &self,
        queue: &Queue,
        spans: &[(Span<'_>, &Checksum)],
    ) -> Result<Option<usize>> {
        for (chunk, spans) in spans.chunks(SPANS).enumerate() {
            // So that nobody has to write zeros before.
            let turn = self.turn.get().checked_add(1).unwrap_or(1);
            self.turn.set(turn);
            for (index, (span, checksum)) in (0..).zip(spans) {
                self.enqueue(queue, *span, checksum, index, turn)?;
            }
            let mut changed = [0; SPANS * size_of::<u32>()];
            let changed = &mut changed[..size_of::<u32>() * spans.len()];
            queue
                .raw()
                .read(&self.changed, 0, changed)
                .map_err(Error::call("clEnqueueReadBuffer"))?;
            let (turns, _) = changed.as_chunks::<{ size_of::<u32>() }>();
            let found = turns.iter().position(|of| u32::from_ne_bytes(*of) == turn);
            if let Some(index) = found {
                return Ok(Some(chunk * SPANS + index));
            }
        }
        Ok(None)
    }

    fn enqueue(
        &self,
        queue: &Queue,
        span: Span<'_>,
        checksum: &Checksum,
        index: u32,
        turn: u32,
    ) -> Result<()> {
        let [begin, bytes] = [span.begin, span.bytes].map(|of| (of as u64).to_ne_bytes());
        self.kernel
            .set_buffer(0, span.buffer)
            .and_then(|()| self.kernel.set_scalar(1, &begin))
            .and_then(|()| self.kernel.set_scalar(2, &bytes))
            .and_then(|()| self.kernel.set_buffer(3, &checksum.0))
            .and_then(|()| self.kernel.set_buffer(4, &self.changed))
            .and_then(|()| self.kernel.set_scalar(5, &index.to_ne_bytes()))
            .and_then(|()| self.kernel.set_scalar(6, &turn.to_ne_bytes()))
            .map_err(Error::call("clSetKernelArg"))?;
        let geometry = Geometry {
            work_dim: 1,
            global: [self.groups(span.bytes) * self.items, 1, 1],
            local: Some([self.items, 1, 1]),
            offset: None,
        };
        queue
            .raw()
            .launch(&self.kernel, &geometry)
            .map(drop)
            .map_err(Error::call("clEnqueueNDRangeKernel"))
    }

    /// The number of work-groups that add so many bytes up.
    fn groups(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.items * EACH * 8).clamp(1, GROUPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn every_changed_byte_is_noticed() {
        let context = Context::new(&Device::select().unwrap()).unwrap();
        let queue = Queue::new(&context).unwrap();
        let watch = Watch::new(&context, &queue).unwrap();
        // More than one round of all work-items, and a rest.
        let all = (GROUPS + 3) * ITEMS * EACH * 8 + 5;
        let contents: Vec<u8> = (0..all).map(|i| (i % 251) as u8).collect();
        let buffer = RawBuffer::new(context.raw(), all).unwrap();
        queue.raw().write(&buffer, 0, &contents).unwrap();
        // With and without whole words, and with bytes beside them on either side.
        for (begin, bytes) in [
            (0, all),
            (3, 4),
            (3, 5),
            (5, 1000),
            (8, 800),
            (16, 3),
            (7, 9),
        ] {
            let span = Span {
                buffer: &buffer,
                begin,
                bytes,
            };
            let checksum = watch.checksum(&queue, span).unwrap();
            let is_same = || {
                watch
                    .changed(&queue, &[(span, &checksum)])
                    .unwrap()
                    .is_none()
            };
            assert!(is_same());
            let end = begin + bytes;
            let inside = [begin, begin + bytes / 2, end - 1];
            let outside = [begin.wrapping_sub(1), end];
            for at in inside.into_iter().chain(outside).filter(|at| *at < all) {
                let changed = [contents[at] ^ 1];
                queue.raw().write(&buffer, at, &changed).unwrap();
                let is_inside = (begin..end).contains(&at);
                assert_eq!(is_same(), !is_inside, "{at} of {begin} and {bytes}");
                queue.raw().write(&buffer, at, &[contents[at]]).unwrap();
            }
            assert!(is_same());
        }
    }

    #[test]
    fn of_many_spans_the_first_that_changed_is_found() {
        let context = Context::new(&Device::select().unwrap()).unwrap();
        let queue = Queue::new(&context).unwrap();
        let watch = Watch::new(&context, &queue).unwrap();
        let count = SPANS + 3;
        let buffer = RawBuffer::new(context.raw(), count * 8).unwrap();
        queue.raw().write(&buffer, 0, &vec![0; count * 8]).unwrap();
        let spans = (0..count).map(|index| Span {
            buffer: &buffer,
            begin: index * 8,
            bytes: 8,
        });
        let checksums: Vec<(Span<'_>, Checksum)> = spans
            .map(|span| (span, watch.checksum(&queue, span).unwrap()))
            .collect();
        let pairs: Vec<_> = checksums
            .iter()
            .map(|(span, checksum)| (*span, checksum))
            .collect();
        assert_eq!(watch.changed(&queue, &pairs).unwrap(), None);
        for index in [count - 1, SPANS, SPANS - 1, 4] {
            queue.raw().write(&buffer, index * 8, &[1]).unwrap();
            assert_eq!(watch.changed(&queue, &pairs).unwrap(), Some(index));
        }
        assert_eq!(watch.changed(&queue, &[]).unwrap(), None);
    }
}
