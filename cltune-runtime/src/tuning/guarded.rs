//! A buffer between memory that shows accesses out of bounds.

use super::elements::surroundings;
use super::outcome::WrongKind;
use super::watch::Span;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{Protected, RawBuffer};
use crate::queue::Queue;
use cltune_core::device::DeviceLimits;
use cltune_core::model::ScalarType;
use std::sync::Arc;

/// The least size of a guard zone, bytes.
const LEAST_ZONE: usize = 16 << 10;
/// The size where the device looks at them itself, bytes, and at most which part of its memory.
/// NVIDIA's driver puts small buffers into pages of 2 MiB beside each other: with zones of that
/// size everything in reach is nobody's.
const LARGE_ZONE: (usize, usize) = (2 << 20, 1024);

/// The memory around buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// Nothing, for tools that watch every access themselves and would take anything for the
    /// buffer's.
    Nothing,
    /// Guard zones that the host looks at.
    Zones,
    /// Large guard zones, which the device looks at.
    LargeZones,
    /// Pages that nobody may touch, of a device that computes in the host's memory.
    Pages,
}

/// A buffer; what lies around it is filled with the pattern of an element, which is not a number
/// where there is such a thing, so that who reads it shows that in his results.
#[derive(Debug)]
pub(super) struct Guarded {
    region: RawBuffer,
    bytes: usize,
    element: ScalarType,
    around: Around,
}

#[derive(Debug)]
enum Around {
    /// The region is one of a larger buffer: that, and the sizes of the zones.
    Zones {
        whole: RawBuffer,
        before: usize,
        after: usize,
    },
    /// The region is in this memory, so many bytes from its begin.
    Pages { memory: Arc<Protected>, at: usize },
}

impl Guarded {
    /// Places for a buffer of so many bytes, of which one at a time is used; zero bytes are
    /// allocated as one. There are two where one of them ends where forbidden pages begin, and the
    /// other begins where such pages end.
    pub(super) fn places(
        context: &Context,
        queue: &Queue,
        bytes: usize,
        element: ScalarType,
        surroundings: Surroundings,
    ) -> Result<Vec<Self>> {
        let limits = &context.device().info().limits;
        if surroundings == Surroundings::Pages
            && let Some(places) = Self::in_pages(context, bytes, element)
        {
            places
                .iter()
                .try_for_each(|place| place.restore_guards(queue))?;
            return Ok(places);
        }
        let zone = match surroundings {
            Surroundings::Nothing => 0,
            Surroundings::Zones | Surroundings::Pages => LEAST_ZONE,
            Surroundings::LargeZones => large_zone(limits),
        };
        let in_zones = |zone: usize| {
            let guarded = Self::in_zones(context, bytes, element, zone)?;
            guarded.restore_guards(queue)?;
            // Drivers that allocate late say only now that they cannot.
            queue.finish()?;
            Ok(guarded)
        };
        let guarded = in_zones(zone).or_else(|error| {
            // The buffer matters more than how far one sees around it.
            if zone > LEAST_ZONE {
                in_zones(LEAST_ZONE)
            } else {
                Err(error)
            }
        })?;
        Ok(vec![guarded])
    }

    /// Between zones of so many bytes, or a little more.
    fn in_zones(context: &Context, bytes: usize, element: ScalarType, zone: usize) -> Result<Self> {
        let (before, after) = if zone > 0 {
            let zone = zone.next_multiple_of(alignment(context));
            // Filling works in elements of up to 8 bytes.
            (zone, zone + (8 - bytes % 8) % 8)
        } else {
            (0, usize::from(bytes == 0))
        };
        let size = bytes.checked_add(before + after).ok_or(Error::TooLarge {
            len: bytes,
            size: 1,
        })?;
        let whole = RawBuffer::new(context.raw(), size)
            .map_err(Error::call(format!("clCreateBuffer of {size} bytes")))?;
        let region = whole
            .region(before, bytes.max(1))
            .map_err(Error::call("clCreateSubBuffer"))?;
        Ok(Self {
            region,
            bytes,
            element,
            around: Around::Zones {
                whole,
                before,
                after,
            },
        })
    }

    /// Between forbidden pages: at the end of what is between them, and at its begin. `None` where
    /// the system has no such pages, or the driver does not take them.
    fn in_pages(context: &Context, bytes: usize, element: ScalarType) -> Option<Vec<Self>> {
        let largest = context.device().info().limits.max_mem_alloc_size;
        let size = bytes.max(1);
        // What is too large is left to the driver to refuse.
        if largest > 0 && i64::try_from(size).ok()? > largest {
            return None;
        }
        let memory = Protected::new(size)?;
        // As buffers of the driver's own are, which kernels may rely on.
        let at_end = (memory.len() - size) & !(alignment(context) - 1);
        let mut places = vec![at_end, 0];
        places.dedup();
        let places = places.into_iter().map(|at| {
            Some(Self {
                region: memory.buffer(context.raw(), at..at + size).ok()?,
                bytes,
                element,
                around: Around::Pages {
                    memory: Arc::clone(&memory),
                    at,
                },
            })
        });
        places.collect()
    }

    /// The region that the kernel gets.
    pub(super) fn region(&self) -> &RawBuffer {
        &self.region
    }

    /// The region's size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The guard zones before and after the region; none between forbidden pages.
    pub(super) fn zones(&self) -> Vec<Span<'_>> {
        let Around::Zones {
            whole,
            before,
            after,
        } = &self.around
        else {
            return Vec::new();
        };
        let span = |(begin, bytes)| Span {
            buffer: whole,
            begin,
            bytes,
        };
        let zones = [(0, *before), (before + self.bytes, *after)];
        zones
            .into_iter()
            .filter(|(_, bytes)| *bytes > 0)
            .map(span)
            .collect()
    }

    /// The buffer that the region is a part of, and where.
    fn place(&self) -> (&RawBuffer, usize) {
        match &self.around {
            Around::Zones { whole, before, .. } => (whole, *before),
            Around::Pages { .. } => (&self.region, 0),
        }
    }

    /// Reads the region into memory of its size.
    pub(super) fn read(&self, queue: &Queue, target: &mut [u8]) -> Result<()> {
        let (buffer, offset) = self.place();
        let bytes = self.bytes.min(target.len());
        read_at(queue, buffer, offset, &mut target[..bytes])
    }

    /// Reads the region into memory that is used again and again: fresh memory costs as much as the
    /// transfer. What is read is its beginning.
    pub(super) fn read_into<'a>(
        &self,
        queue: &Queue,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        if scratch.len() < self.bytes {
            scratch.resize(self.bytes, 0);
        }
        let target = &mut scratch[..self.bytes];
        self.read(queue, target)?;
        Ok(target)
    }

    /// Fills the region with a repeated element.
    pub(super) fn fill(&self, queue: &Queue, element: &[u8]) -> Result<()> {
        // OpenCL repeats nothing else.
        if !element.len().is_power_of_two() || element.len() > 16 {
            let elements = self.bytes.div_ceil(element.len().max(1));
            return self.write(queue, &element.repeat(elements));
        }
        let (buffer, offset) = self.place();
        fill_at(queue, buffer, element, offset, self.bytes)
    }

    /// Writes to the region.
    pub(super) fn write(&self, queue: &Queue, source: &[u8]) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let (buffer, offset) = self.place();
        queue
            .raw()
            .write(buffer, offset, &source[..self.bytes.min(source.len())])
            .map_err(Error::call("clEnqueueWriteBuffer"))
    }

    /// Copies another buffer's beginning into the region, on the device.
    pub(super) fn copy_from(&self, queue: &Queue, source: &RawBuffer) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let (buffer, offset) = self.place();
        queue
            .raw()
            .copy(source, 0, buffer, offset, self.bytes)
            .map(drop)
            .map_err(Error::call("clEnqueueCopyBuffer"))
    }

    /// A buffer with the region's contents; `None` where the device has no memory for it.
    pub(super) fn duplicate(&self, queue: &Queue) -> Option<RawBuffer> {
        let copy = RawBuffer::new(queue.context().raw(), self.bytes.max(1)).ok()?;
        let (buffer, offset) = self.place();
        let copied = queue.raw().copy(buffer, offset, &copy, 0, self.bytes);
        // Drivers that allocate late say only now that they cannot.
        copied.ok()?.wait().ok()?;
        Some(copy)
    }

    /// Whether the host's memory has what was read of the region; `false` between zones. Where the
    /// driver computes elsewhere it has not.
    pub(super) fn is_in_host_memory(&self, queue: &Queue, read: &[u8]) -> Result<bool> {
        match &self.around {
            Around::Zones { .. } => Ok(false),
            Around::Pages { memory, at } => memory
                .has(queue.raw(), *at, read)
                .map_err(Error::call("clFinish")),
        }
    }

    /// The access outside of the region, the nearest one where that is known.
    pub(super) fn damage(&self, queue: &Queue) -> Result<Option<WrongKind>> {
        let (before, after) = match &self.around {
            Around::Pages { memory, at } => {
                let end = at + self.bytes;
                if let Some(address) = memory.take_access() {
                    let offset = match address - *at as i64 {
                        before if before < 0 => before,
                        from_begin => from_begin - self.bytes as i64,
                    };
                    return Ok(Some(WrongKind::AccessOutOfBounds { offset }));
                }
                let read = |range| {
                    let read = memory.read(queue.raw(), range);
                    read.map_err(Error::call("clFinish"))
                };
                (read(0..*at)?, read(end..memory.len())?)
            }
            Around::Zones {
                whole,
                before,
                after,
            } => {
                let mut zones = (vec![0; *before], vec![0; *after]);
                read_at(queue, whole, 0, &mut zones.0)?;
                read_at(queue, whole, before + self.bytes, &mut zones.1)?;
                zones
            }
        };
        let pattern = surroundings(self.element);
        // Both begin with an element.
        let is_damaged = |around: &[u8], at: usize| around[at] != pattern[at % pattern.len()];
        let nearest = (0..before.len()).rev().find(|at| is_damaged(&before, *at));
        let offset = nearest.map(|at| at as i64 - before.len() as i64);
        let after = || (0..after.len()).find(|at| is_damaged(&after, *at));
        let offset = offset.or_else(|| after().map(|at| at as i64));
        Ok(offset.map(|offset| WrongKind::OutOfBounds { offset }))
    }

    /// Fills what lies around the region again.
    pub(super) fn restore_guards(&self, queue: &Queue) -> Result<()> {
        let pattern = surroundings(self.element);
        if let Around::Pages { memory, at } = &self.around {
            return [0..*at, at + self.bytes..memory.len()]
                .into_iter()
                .try_for_each(|range| memory.fill(queue.raw(), range, pattern))
                .map_err(Error::call("clFinish"));
        }
        self.zones()
            .into_iter()
            .try_for_each(|zone| fill_at(queue, zone.buffer, pattern, zone.begin, zone.bytes))
    }
}

/// The alignment of regions.
fn alignment(context: &Context) -> usize {
    let limits = &context.device().info().limits;
    (limits.mem_base_addr_align.max(128) as usize).next_power_of_two()
}

/// The size of guard zones that the device checks.
fn large_zone(limits: &DeviceLimits) -> usize {
    let (zone, part) = LARGE_ZONE;
    let of_memory = usize::try_from(limits.global_mem_size).unwrap_or(usize::MAX) / part;
    zone.min(of_memory).max(LEAST_ZONE)
}

fn fill_at(
    queue: &Queue,
    buffer: &RawBuffer,
    element: &[u8],
    offset: usize,
    bytes: usize,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    queue
        .raw()
        .fill(buffer, element, offset, bytes)
        .map(drop)
        .map_err(Error::call("clEnqueueFillBuffer"))
}

fn read_at(queue: &Queue, buffer: &RawBuffer, offset: usize, target: &mut [u8]) -> Result<()> {
    if target.is_empty() {
        return Ok(());
    }
    queue
        .raw()
        .read(buffer, offset, target)
        .map_err(Error::call("clEnqueueReadBuffer"))
}
