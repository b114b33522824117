//! Resident inputs on a real device, and the contents by which they are found.

use super::*;
use crate::device::Device;
use crate::error::Error;
use crate::opencl::Status;
use crate::pinned::PinnedMemory;
use cl3::error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE;
use proptest::prelude::*;

const BYTES: usize = 1000;

fn context() -> Context {
    Context::new(&Device::select().unwrap()).unwrap()
}

fn contents(memory: &PinnedMemory<u8>, first: usize) -> Contents {
    let start = memory.as_ptr().addr();
    let version = version_of(&(start..start + memory.len())).unwrap();
    let runs = Runs {
        first,
        width: BYTES,
        rows: 1,
        pitch: BYTES,
    };
    Contents::new(version, memory, runs)
}

/// Four buffers with parts of memory that shares 1, 2, 3 and 4 used.
fn four(context: &Context, memory: &PinnedMemory<u8>) -> Vec<ResidentInput> {
    let one = |share: u64| ResidentInput {
        contents: contents(memory, BYTES * (share as usize - 1)),
        buffer: Arc::new(Buffer::new(context, BYTES).unwrap()),
        last_used: share,
    };
    (1..5).map(one).collect()
}

fn last_used(inputs: &[ResidentInput]) -> Vec<u64> {
    let mut shares: Vec<u64> = inputs.iter().map(|resident| resident.last_used).collect();
    shares.sort_unstable();
    shares
}

#[test]
fn too_many_make_room_in_the_order_in_which_they_were_used() {
    let context = context();
    let memory = PinnedMemory::zeros(&context, 4 * BYTES).unwrap();
    let four = || four(&context, &memory);
    let all = &mut four();
    assert!(recycled(all, BYTES, 5, 4 * BYTES).is_none());
    assert_eq!(last_used(all), [1, 2, 3, 4]);
    // A buffer of the same size takes the place of the oldest.
    let oldest = Arc::clone(&all[0].buffer);
    let recycled_one = recycled(all, BYTES, 5, 4 * BYTES - 1).unwrap();
    assert!(Arc::ptr_eq(&oldest, &recycled_one));
    assert_eq!(last_used(all), [2, 3, 4]);
    // One of another size does not, so as many go as are too many.
    let all = &mut four();
    assert!(recycled(all, BYTES / 4, 5, 2 * BYTES + 1).is_none());
    assert_eq!(last_used(all), [3, 4]);
    // What the share itself needs stays.
    assert!(recycled(all, BYTES, 4, 0).is_some_and(|buffer| buffer.len() == BYTES));
    assert_eq!(last_used(all), [4]);
    assert!(recycled(all, BYTES, 4, 0).is_none());
    assert_eq!(last_used(all), [4]);
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
    let mut residents = ResidentInputs::default();
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
    assert_eq!(residents.arrived.lock().len(), 2);
    // The share needs the first, and not the second.
    let short = || Error::call("clCreateBuffer")(Status(CL_MEM_OBJECT_ALLOCATION_FAILURE));
    let mut kept = Vec::new();
    let made = residents.make_room(|| {
        kept.push(residents.arrived.lock().len());
        let is_enough = kept.len() > 1;
        is_enough.then_some(()).ok_or_else(short)
    });
    assert!(made.is_ok());
    assert_eq!(kept, [2, 1]);
    assert!(residents.find(&last).is_none());
    assert!(residents.find(&contents(first, 0)).is_some());
    drop(memories);
    assert_eq!(residents.arrived.lock().len(), 0);
    assert!(!residents.give_up());
}

#[test]
fn overlapping_bytes_are_present_and_the_rest_is_missing() {
    let cover = Cover::new(10..50, &[0..20, 30..35, 32..45, 60..70]);
    assert_eq!(cover.present, [(0, 10..20), (1, 30..35), (2, 35..45)]);
    assert_eq!(cover.missing, [20..30, 45..50]);
    assert_eq!(Cover::new(5..5, &[0..20, 3..9]), Cover::default());
}

#[test]
fn bytes_are_the_same_however_their_runs_are_given() {
    let bytes = [0_u8; 64];
    let version = NonZeroU64::MIN;
    let contents = |first, width, rows, pitch| {
        let runs = Runs {
            first,
            width,
            rows,
            pitch,
        };
        Contents::new(version, &bytes, runs)
    };
    assert_eq!(contents(8, 16, 2, 16), contents(8, 32, 1, 7));
    assert_eq!(contents(8, 32, 1, 7).run().map(|run| run.len()), Some(32));
    let columns = contents(8, 4, 3, 16);
    assert_ne!(columns, contents(8, 12, 1, 12));
    assert_eq!((columns.run(), columns.len()), (None, 12));
    let base = bytes.as_ptr().addr();
    let count =
        |range: Range<usize>| columns.count(version, &(base + range.start..base + range.end));
    assert_eq!(
        [count(0..64), count(10..64), count(12..24), count(40..41)],
        [12, 10, 0, 1]
    );
    assert_eq!(columns.count(NonZeroU64::MAX, &(base..base + 64)), 0);
    // Of no pinned memory.
    assert!(!columns.is_current());
}

proptest! {
    #[test]
    fn every_byte_is_present_or_missing_once(
        wanted in (0..60_usize, 0..60_usize),
        there in prop::collection::vec((0..60_usize, 0..30_usize), 0..6),
    ) {
        let wanted = wanted.0..wanted.0 + wanted.1;
        let there: Vec<_> = there.into_iter().map(|(first, len)| first..first + len).collect();
        let Cover { present: copies, missing } = Cover::new(wanted.clone(), &there);
        for (index, range) in &copies {
            let source = &there[*index];
            prop_assert!(source.start <= range.start && range.end <= source.end);
        }
        for byte in missing.iter().cloned().flatten() {
            prop_assert!(there.iter().all(|range| !range.contains(&byte)));
        }
        let copied = copies.into_iter().flat_map(|(_, range)| range);
        let mut bytes: Vec<usize> = copied.chain(missing.into_iter().flatten()).collect();
        bytes.sort_unstable();
        prop_assert_eq!(bytes, wanted.collect::<Vec<_>>());
    }
}
