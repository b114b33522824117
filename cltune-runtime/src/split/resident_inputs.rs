//! Resident inputs: buffers on a device with bytes of pinned memory that have not changed since
//! they were sent, and the contents by which they are found.

use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::Result;
use crate::opencl::{Runs, version_of};
use crate::reclaim::{self, Reclaim};
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Inputs that a share does not need are kept in at most this part of the memory of a device that
/// has its own, and in the other part of the host's.
const KEPT: [i64; 2] = [4, 16];

/// A buffer with stale contents is kept for their successor for so many shares.
const STALE: u64 = 16;

/// A buffer whose contents are known.
#[derive(Debug)]
struct ResidentInput {
    contents: Contents,
    buffer: Arc<Buffer<u8>>,
    /// The last share that used it.
    last_used: u64,
}

/// Those whose contents have arrived. Other modules may free them where memory is short.
#[derive(Debug, Default)]
struct Arrived(Mutex<Vec<ResidentInput>>);

/// The inputs that are kept on a device.
#[derive(Debug)]
pub(super) struct ResidentInputs {
    arrived: Arc<Arrived>,
    /// Those that the share under way fills.
    filling: Vec<ResidentInput>,
    /// The number of the share under way.
    now: u64,
}

/// A buffer to be filled.
#[derive(Debug)]
pub(super) struct Vacant {
    pub(super) buffer: Arc<Buffer<u8>>,
    /// Bytes that are on the device already.
    pub(super) copies: Vec<Copy>,
    /// Bytes that are not; `None` for all of them.
    pub(super) missing: Option<Vec<Range<usize>>>,
}

/// Bytes to copy from one buffer to another.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) source: Arc<Buffer<u8>>,
    pub(super) from: usize,
    pub(super) target: Arc<Buffer<u8>>,
    pub(super) at: usize,
    pub(super) len: usize,
}

impl Arrived {
    fn lock(&self) -> MutexGuard<'_, Vec<ResidentInput>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reclaim for Arrived {
    fn free_stale(&self) {
        self.lock()
            .retain(|resident| resident.contents.is_current());
    }

    /// A buffer that a call under way uses is freed with that call.
    fn free_all(&self) -> bool {
        let mut arrived = self.lock();
        let was_any = !arrived.is_empty();
        arrived.clear();
        was_any
    }
}

impl Default for ResidentInputs {
    fn default() -> Self {
        let arrived = Arc::new(Arrived::default());
        reclaim::register(Arc::downgrade(&arrived));
        Self {
            arrived,
            filling: Vec::new(),
            now: 0,
        }
    }
}

impl ResidentInputs {
    /// Begins a share. Buffers that the last one did not report as [filled](Self::filled) are
    /// forgotten.
    pub(super) fn begin(&mut self) {
        self.filling.clear();
        self.now += 1;
    }

    /// A buffer that has exactly these contents, or has them when the share's uploads have ended.
    pub(super) fn find(&mut self, contents: &Contents) -> Option<Arc<Buffer<u8>>> {
        let mut arrived = self.arrived.lock();
        let mut all = arrived.iter_mut().chain(&mut self.filling);
        let found = all.find(|resident| resident.contents == *contents)?;
        found.last_used = self.now;
        Some(Arc::clone(&found.buffer))
    }

    /// A buffer for such contents. Those that the share has [found](Self::find) already stay.
    pub(super) fn make(&mut self, context: &Context, contents: Contents) -> Result<Vacant> {
        let mut arrived = self.arrived.lock();
        let (sources, cover) = cover(&mut arrived, &contents, self.now);
        let recycled = recycled(&mut arrived, contents.len(), self.now, most(context));
        drop(arrived);
        let buffer = match recycled {
            Some(buffer) => buffer,
            None => Arc::new(self.make_room(|| with_slack(context, contents.len()))?),
        };
        self.filling.push(ResidentInput {
            contents,
            buffer: Arc::clone(&buffer),
            last_used: self.now,
        });
        let Some((wanted, cover)) = cover else {
            return Ok(Vacant {
                buffer,
                copies: Vec::new(),
                missing: None,
            });
        };
        let copy = |(index, range): (usize, Range<usize>)| {
            let (source, run): &(Arc<Buffer<u8>>, Range<usize>) = &sources[index];
            Copy {
                source: Arc::clone(source),
                from: range.start - run.start,
                target: Arc::clone(&buffer),
                at: range.start - wanted.start,
                len: range.len(),
            }
        };
        let copies = cover.present.into_iter().map(copy).collect();
        let in_buffer = |range: Range<usize>| range.start - wanted.start..range.end - wanted.start;
        let missing = cover.missing.into_iter().map(in_buffer).collect();
        Ok(Vacant {
            copies,
            missing: Some(missing),
            buffer,
        })
    }

    /// Reports that all uploads of the share have ended.
    pub(super) fn filled(&mut self) {
        let mut arrived = self.arrived.lock();
        arrived.append(&mut self.filling);
        let is_kept = |resident: &ResidentInput| {
            resident.last_used + STALE > self.now || resident.contents.is_current()
        };
        arrived.retain(is_kept);
    }

    /// Allocates. Where memory is short, kept inputs are freed: first those of the device that the
    /// share does not need, then those of all devices.
    pub(super) fn make_room<T>(&self, mut allocate: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            let error = match allocate() {
                Err(error) if error.is_of_memory() => error,
                other => return other,
            };
            let is_room = oldest(&mut self.arrived.lock(), self.now).is_some();
            if !is_room && !reclaim::free_all() {
                return Err(error);
            }
        }
    }

    /// Frees all, when a share has ended; whether there was any.
    pub(super) fn give_up(&mut self) -> bool {
        self.filling.clear();
        self.arrived.free_all()
    }

    /// The number of bytes of these addresses, of memory with this content version, on the device.
    pub(super) fn count(&self, version: NonZeroU64, addresses: &Range<usize>) -> usize {
        let arrived = self.arrived.lock();
        let of_one = |resident: &ResidentInput| resident.contents.count(version, addresses);
        arrived.iter().map(of_one).sum()
    }
}

/// The buffers with bytes of the same memory, and how bytes without gaps are put together from
/// them.
#[expect(clippy::type_complexity, reason = "two things that go together once")]
fn cover(
    arrived: &mut [ResidentInput],
    contents: &Contents,
    now: u64,
) -> (
    Vec<(Arc<Buffer<u8>>, Range<usize>)>,
    Option<(Range<usize>, Cover)>,
) {
    let Some(wanted) = contents.run() else {
        return (Vec::new(), None);
    };
    let runs = arrived
        .iter()
        .map(|resident| resident.contents.run_beside(contents));
    // None is left out, so that the positions are those in `arrived`.
    let runs: Vec<Range<usize>> = runs.map(Option::unwrap_or_default).collect();
    let cover = Cover::new(wanted.clone(), &runs);
    for (index, _) in &cover.present {
        arrived[*index].last_used = now;
    }
    let buffers = arrived.iter().map(|resident| Arc::clone(&resident.buffer));
    (buffers.zip(runs).collect(), Some((wanted, cover)))
}

/// Bytes that may be kept beside those that a share needs.
fn most(context: &Context) -> usize {
    let device = context.device();
    let part = KEPT[usize::from(device.shares_host_memory())];
    usize::try_from(device.info().limits.global_mem_size / part).unwrap_or(0)
}

/// The smallest buffer of a suitable size whose contents are stale, or the oldest where there are
/// too many.
fn recycled(
    arrived: &mut Vec<ResidentInput>,
    len: usize,
    now: u64,
    most: usize,
) -> Option<Arc<Buffer<u8>>> {
    let fits = |resident: &ResidentInput| {
        let size = resident.buffer.len();
        size >= len && size / 2 <= len
    };
    let is_stale = |resident: &ResidentInput| !resident.contents.is_current();
    let suits = |(_, resident): &(usize, &ResidentInput)| is_stale(resident) && fits(resident);
    let suitable = arrived.iter().enumerate().filter(suits);
    if let Some((index, _)) = suitable.min_by_key(|(_, resident)| resident.buffer.len()) {
        return Some(arrived.swap_remove(index).buffer);
    }
    arrived.retain(|resident| !is_stale(resident));
    let unneeded = |arrived: &[ResidentInput]| -> usize {
        let unneeded = arrived.iter().filter(|resident| resident.last_used != now);
        unneeded.map(|resident| resident.buffer.len()).sum()
    };
    while unneeded(arrived) > most {
        let oldest = oldest(arrived, now)?;
        if fits(&oldest) {
            return Some(oldest.buffer);
        }
    }
    None
}

/// Takes out the input that has not been needed for the longest time.
fn oldest(arrived: &mut Vec<ResidentInput>, now: u64) -> Option<ResidentInput> {
    let unneeded = arrived
        .iter()
        .enumerate()
        .filter(|(_, resident)| resident.last_used != now);
    let (index, _) = unneeded.min_by_key(|(_, resident)| resident.last_used)?;
    Some(arrived.swap_remove(index))
}

/// A buffer that is also large enough for shares that grow a little while the split is corrected.
pub(super) fn with_slack(context: &Context, bytes: usize) -> Result<Buffer<u8>> {
    let made = Buffer::allocate(context, bytes.saturating_add(bytes / 16));
    made.or_else(|_| Buffer::allocate(context, bytes))
}

/// Bytes of pinned memory, packed one run after the other, as they were when it had this content
/// version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    version: NonZeroU64,
    /// Addresses of the memory.
    runs: Runs,
}

/// A run of bytes, put together from present and missing ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cover {
    /// The number of a present range, and the part of it that is taken.
    present: Vec<(usize, Range<usize>)>,
    missing: Vec<Range<usize>>,
}

impl Contents {
    /// Runs of a slice in the pinned memory that has this version.
    pub(super) fn new(version: NonZeroU64, source: &[u8], runs: Runs) -> Self {
        let first = source.as_ptr().addr() + runs.first;
        let has_gaps = runs.rows > 1 && runs.pitch != runs.width;
        let runs = if has_gaps {
            Runs { first, ..runs }
        } else {
            // The same bytes are equal, however their runs were given.
            let len = runs.len();
            Runs {
                first,
                width: len,
                rows: 1,
                pitch: len,
            }
        };
        Self { version, runs }
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether the memory still holds them.
    pub(super) fn is_current(&self) -> bool {
        version_of(&self.runs.extent(&(0..self.len()))) == Some(self.version)
    }

    /// The number of bytes among them that are of these addresses, of memory with this version.
    pub(super) fn count(&self, version: NonZeroU64, addresses: &Range<usize>) -> usize {
        if version != self.version {
            return 0;
        }
        let run = |row: usize| {
            let first = self.runs.first + row * self.runs.pitch;
            common(&(first..first + self.runs.width), addresses).len()
        };
        (0..self.runs.rows).map(run).sum()
    }

    /// The addresses of bytes without gaps.
    pub(super) fn run(&self) -> Option<Range<usize>> {
        let Runs { first, width, .. } = self.runs;
        (self.runs.rows == 1).then_some(first..first + width)
    }

    /// The addresses of bytes without gaps, where they are of the same memory as others.
    pub(super) fn run_beside(&self, other: &Self) -> Option<Range<usize>> {
        self.run().filter(|_| self.version == other.version)
    }
}

/// The addresses that two ranges have in common.
fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

impl Cover {
    /// Covers the wanted bytes: every byte once, and no present byte is missing.
    fn new(wanted: Range<usize>, present: &[Range<usize>]) -> Self {
        let mut cover = Self::default();
        let mut next = wanted.start;
        while next < wanted.end {
            let has_next = |(_, range): &(usize, &Range<usize>)| range.contains(&next);
            let has_next = present.iter().enumerate().filter(has_next);
            let end = if let Some((index, range)) = has_next.max_by_key(|(_, range)| range.end) {
                let end = range.end.min(wanted.end);
                cover.present.push((index, next..end));
                end
            } else {
                let later = present.iter().filter(|range| !range.is_empty());
                let later = later.map(|range| range.start).filter(|start| *start > next);
                let end = later.min().unwrap_or(wanted.end).min(wanted.end);
                cover.missing.push(next..end);
                end
            };
            next = end;
        }
        cover
    }
}

#[cfg(test)]
#[path = "../../tests/unit/split_resident_inputs.rs"]
mod tests;
