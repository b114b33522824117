//! Inputs that stay on a device: buffers with bytes of pinned memory that have not changed since they were sent.

use super::buffers;
use super::contents::{Contents, Cover};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::Result;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What a turn does not need is kept in at most this part of the memory of a device that has its own, and in the other
/// part of the host's.
const KEPT: [i64; 2] = [4, 16];

/// For how many turns a buffer with stale contents is kept for what replaces them.
const STALE: u64 = 16;

/// A buffer whose contents are known.
#[derive(Debug)]
struct Resident {
    contents: Contents,
    buffer: Arc<Buffer<u8>>,
    /// The last turn that used it.
    turn: u64,
}

type Shared = Mutex<Vec<Resident>>;

/// Those of a device.
#[derive(Debug)]
pub(super) struct Residents {
    /// Their contents have arrived.
    there: Arc<Shared>,
    /// Those that the turn under way fills.
    filling: Vec<Resident>,
    turn: u64,
}

/// A buffer to be filled.
#[derive(Debug)]
pub(super) struct Vacant {
    pub(super) buffer: Arc<Buffer<u8>>,
    /// What is on the device already.
    pub(super) copies: Vec<Copy>,
    /// Which of the bytes are not; `None` for all of them.
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

/// Those of all devices, to be freed with the memory whose bytes they have.
static ALL: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Frees what pinned memory does not hold any more.
pub(crate) fn free_stale() {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    for there in all.iter().filter_map(Weak::upgrade) {
        lock(&there).retain(|resident| resident.contents.is_current());
    }
}

/// Frees what is kept on all devices for later calls; whether there was any. What a call under way uses is freed with it.
pub(crate) fn free_kept() -> bool {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let mut was_any = false;
    for there in all.iter().filter_map(Weak::upgrade) {
        let mut there = lock(&there);
        was_any |= !there.is_empty();
        there.clear();
    }
    was_any
}

fn lock(there: &Shared) -> MutexGuard<'_, Vec<Resident>> {
    there.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Residents {
    fn default() -> Self {
        let there = Arc::new(Shared::default());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|there| there.strong_count() > 0);
        all.push(Arc::downgrade(&there));
        Self {
            there,
            filling: Vec::new(),
            turn: 0,
        }
    }
}

impl Residents {
    /// Begins a turn. What the last one was filling and did not say to have [filled](Self::filled) is forgotten.
    pub(super) fn begin(&mut self) {
        self.filling.clear();
        self.turn += 1;
    }

    /// A buffer that has exactly this, or has it when the turn's uploads have ended.
    pub(super) fn find(&mut self, contents: &Contents) -> Option<Arc<Buffer<u8>>> {
        let mut there = lock(&self.there);
        let mut all = there.iter_mut().chain(&mut self.filling);
        let found = all.find(|resident| resident.contents == *contents)?;
        found.turn = self.turn;
        Some(Arc::clone(&found.buffer))
    }

    /// A buffer for this. Those that the turn was found to have [already](Self::find) stay.
    pub(super) fn make(&mut self, context: &Context, contents: Contents) -> Result<Vacant> {
        let mut there = lock(&self.there);
        let (sources, cover) = cover(&mut there, &contents, self.turn);
        let recycled = recycled(&mut there, contents.len(), self.turn, most(context));
        drop(there);
        let buffer = match recycled {
            Some(buffer) => buffer,
            None => Arc::new(self.make_room(|| buffers::with_slack(context, contents.len()))?),
        };
        self.filling.push(Resident {
            contents,
            buffer: Arc::clone(&buffer),
            turn: self.turn,
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
        let copies = cover.there.into_iter().map(copy).collect();
        let in_buffer = |range: Range<usize>| range.start - wanted.start..range.end - wanted.start;
        let missing = cover.missing.into_iter().map(in_buffer).collect();
        Ok(Vacant {
            copies,
            missing: Some(missing),
            buffer,
        })
    }

    /// Says that all uploads of the turn have ended.
    pub(super) fn filled(&mut self) {
        let mut there = lock(&self.there);
        there.append(&mut self.filling);
        let is_kept = |resident: &Resident| {
            resident.turn + STALE > self.turn || resident.contents.is_current()
        };
        there.retain(is_kept);
    }

    /// Allocates, and frees for it what is kept: of the device what the turn does not need, then of all.
    pub(super) fn make_room<T>(&self, mut allocate: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            let error = match allocate() {
                Err(error) if error.is_of_memory() => error,
                other => return other,
            };
            let is_room = oldest(&mut lock(&self.there), self.turn).is_some();
            if !is_room && !free_kept() {
                return Err(error);
            }
        }
    }

    /// Frees all, when a turn has ended; whether there was any.
    pub(super) fn give_up(&mut self) -> bool {
        self.filling.clear();
        let mut there = lock(&self.there);
        let was_any = !there.is_empty();
        there.clear();
        was_any
    }

    /// How many bytes of these addresses of the memory that has this stamp are there.
    pub(super) fn count(&self, stamp: NonZeroU64, addresses: &Range<usize>) -> usize {
        let there = lock(&self.there);
        let of_one = |resident: &Resident| resident.contents.count(stamp, addresses);
        there.iter().map(of_one).sum()
    }
}

/// The buffers with bytes of the same memory, and how bytes without gaps are put together from them.
#[expect(clippy::type_complexity, reason = "two things that go together once")]
fn cover(
    there: &mut [Resident],
    contents: &Contents,
    turn: u64,
) -> (
    Vec<(Arc<Buffer<u8>>, Range<usize>)>,
    Option<(Range<usize>, Cover)>,
) {
    let Some(wanted) = contents.run() else {
        return (Vec::new(), None);
    };
    let runs = there
        .iter()
        .map(|resident| resident.contents.run_beside(contents));
    // Nothing is taken out of it, so that positions are those in `there`.
    let runs: Vec<Range<usize>> = runs.map(Option::unwrap_or_default).collect();
    let cover = Cover::new(wanted.clone(), &runs);
    for (index, _) in &cover.there {
        there[*index].turn = turn;
    }
    let buffers = there.iter().map(|resident| Arc::clone(&resident.buffer));
    (buffers.zip(runs).collect(), Some((wanted, cover)))
}

/// Bytes that may be kept beside those that a turn needs.
fn most(context: &Context) -> usize {
    let device = context.device();
    let part = KEPT[usize::from(device.shares_host_memory())];
    usize::try_from(device.info().limits.global_mem_size / part).unwrap_or(0)
}

/// The smallest buffer of a suitable size whose contents are stale, or the oldest where there are too many.
fn recycled(
    there: &mut Vec<Resident>,
    len: usize,
    turn: u64,
    most: usize,
) -> Option<Arc<Buffer<u8>>> {
    let fits = |resident: &Resident| {
        let size = resident.buffer.len();
        size >= len && size / 2 <= len
    };
    let is_stale = |resident: &Resident| !resident.contents.is_current();
    let suits = |(_, resident): &(usize, &Resident)| is_stale(resident) && fits(resident);
    let suitable = there.iter().enumerate().filter(suits);
    if let Some((index, _)) = suitable.min_by_key(|(_, resident)| resident.buffer.len()) {
        return Some(there.swap_remove(index).buffer);
    }
    there.retain(|resident| !is_stale(resident));
    let unneeded = |there: &[Resident]| -> usize {
        let unneeded = there.iter().filter(|resident| resident.turn != turn);
        unneeded.map(|resident| resident.buffer.len()).sum()
    };
    while unneeded(there) > most {
        let oldest = oldest(there, turn)?;
        if fits(&oldest) {
            return Some(oldest.buffer);
        }
    }
    None
}

/// Takes out what has not been needed for the longest time.
fn oldest(there: &mut Vec<Resident>, turn: u64) -> Option<Resident> {
    let unneeded = there
        .iter()
        .enumerate()
        .filter(|(_, resident)| resident.turn != turn);
    let (index, _) = unneeded.min_by_key(|(_, resident)| resident.turn)?;
    Some(there.swap_remove(index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::error::Error;
    use crate::opencl::Status;
    use crate::opencl::{Runs, stamp_of};
    use crate::pinned::PinnedMemory;
    use cl3::error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE;

    const BYTES: usize = 1000;

    fn context() -> Context {
        Context::new(&Device::select().unwrap()).unwrap()
    }

    fn contents(memory: &PinnedMemory<u8>, first: usize) -> Contents {
        let start = memory.as_ptr().addr();
        let stamp = stamp_of(&(start..start + memory.len())).unwrap();
        let runs = Runs {
            first,
            width: BYTES,
            rows: 1,
            pitch: BYTES,
        };
        Contents::new(stamp, memory, runs)
    }

    /// Four buffers with parts of memory that turns 1, 2, 3 and 4 used.
    fn four(context: &Context, memory: &PinnedMemory<u8>) -> Vec<Resident> {
        let one = |turn: u64| Resident {
            contents: contents(memory, BYTES * (turn as usize - 1)),
            buffer: Arc::new(Buffer::new(context, BYTES).unwrap()),
            turn,
        };
        (1..5).map(one).collect()
    }

    fn turns(there: &[Resident]) -> Vec<u64> {
        let mut turns: Vec<u64> = there.iter().map(|resident| resident.turn).collect();
        turns.sort_unstable();
        turns
    }

    #[test]
    fn too_many_make_room_in_the_order_in_which_they_were_used() {
        let context = context();
        let memory = PinnedMemory::zeros(&context, 4 * BYTES).unwrap();
        let four = || four(&context, &memory);
        let all = &mut four();
        assert!(recycled(all, BYTES, 5, 4 * BYTES).is_none());
        assert_eq!(turns(all), [1, 2, 3, 4]);
        // A buffer of the same size takes the place of the oldest.
        let oldest = Arc::clone(&all[0].buffer);
        let recycled_one = recycled(all, BYTES, 5, 4 * BYTES - 1).unwrap();
        assert!(Arc::ptr_eq(&oldest, &recycled_one));
        assert_eq!(turns(all), [2, 3, 4]);
        // One of another size does not, so as many go as are too many.
        let all = &mut four();
        assert!(recycled(all, BYTES / 4, 5, 2 * BYTES + 1).is_none());
        assert_eq!(turns(all), [3, 4]);
        // What the turn itself needs stays.
        assert!(recycled(all, BYTES, 4, 0).is_some_and(|buffer| buffer.len() == BYTES));
        assert_eq!(turns(all), [4]);
        assert!(recycled(all, BYTES, 4, 0).is_none());
        assert_eq!(turns(all), [4]);
    }

    #[test]
    fn stale_ones_are_filled_anew_or_freed() {
        let context = context();
        let mut memory = PinnedMemory::zeros(&context, 4 * BYTES).unwrap();
        let mut all = four(&context, &memory);
        memory[0] = 1;
        assert!(recycled(&mut all, BYTES, 5, usize::MAX).is_some());
        assert_eq!(all.len(), 3);
        assert!(recycled(&mut all, 2 * BYTES, 5, usize::MAX).is_none());
        assert_eq!(all.len(), 0);
    }

    #[test]
    fn they_go_with_the_memory_and_when_they_are_given_up() {
        let context = context();
        let memories = [0, 1].map(|_| PinnedMemory::zeros(&context, 4 * BYTES).unwrap());
        let mut residents = Residents::default();
        residents.begin();
        for memory in &memories {
            residents.make(&context, contents(memory, 0)).unwrap();
        }
        // Not before they are filled.
        let [first, second] = &memories;
        residents.begin();
        assert!(residents.find(&contents(first, 0)).is_none());
        for memory in &memories {
            residents.make(&context, contents(memory, 0)).unwrap();
        }
        residents.filled();
        residents.begin();
        assert!(residents.find(&contents(first, 0)).is_some());
        assert!(residents.find(&contents(first, 1)).is_none());
        let last = contents(second, 0);
        // What fails for another reason frees nothing.
        let failed = residents.make_room(|| Err::<(), _>(Error::NoDevice));
        assert!(failed.is_err());
        assert_eq!(lock(&residents.there).len(), 2);
        // The turn needs the first, and not the second.
        let short = || Error::call("clCreateBuffer")(Status(CL_MEM_OBJECT_ALLOCATION_FAILURE));
        let mut kept = Vec::new();
        let made = residents.make_room(|| {
            kept.push(lock(&residents.there).len());
            let is_enough = kept.len() > 1;
            is_enough.then_some(()).ok_or_else(short)
        });
        assert!(made.is_ok());
        assert_eq!(kept, [2, 1]);
        assert!(residents.find(&last).is_none());
        assert!(residents.find(&contents(first, 0)).is_some());
        drop(memories);
        assert_eq!(lock(&residents.there).len(), 0);
        assert!(!residents.give_up());
    }
}
