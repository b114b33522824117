//! What bytes are in a buffer: of which pinned memory, and since when these have not changed.

use crate::opencl::{Runs, stamp_of};
use std::num::NonZeroU64;
use std::ops::Range;

/// Bytes of pinned memory, packed one run after the other, as they were when it had this stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    stamp: NonZeroU64,
    /// Addresses of the memory.
    runs: Runs,
}

/// A run of bytes, put together from such that are there and such that are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    /// Which of those that are there, and what of it.
    pub(super) there: Vec<(usize, Range<usize>)>,
    pub(super) missing: Vec<Range<usize>>,
}

impl Contents {
    /// Runs of a slice in the pinned memory that has this stamp.
    pub(super) fn new(stamp: NonZeroU64, source: &[u8], runs: Runs) -> Self {
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
        Self { stamp, runs }
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether the memory still holds them.
    pub(super) fn is_current(&self) -> bool {
        stamp_of(&self.runs.extent(&(0..self.len()))) == Some(self.stamp)
    }

    /// How many of them are of these addresses of the memory that has this stamp.
    pub(super) fn count(&self, stamp: NonZeroU64, addresses: &Range<usize>) -> usize {
        if stamp != self.stamp {
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
        self.run().filter(|_| self.stamp == other.stamp)
    }
}

/// The addresses that two ranges have in common.
fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

impl Cover {
    /// Puts together what is wanted: every byte once, and none is missing that is there.
    pub(super) fn new(wanted: Range<usize>, there: &[Range<usize>]) -> Self {
        let mut cover = Self::default();
        let mut next = wanted.start;
        while next < wanted.end {
            let has_next = |(_, range): &(usize, &Range<usize>)| range.contains(&next);
            let has_next = there.iter().enumerate().filter(has_next);
            let end = if let Some((index, range)) = has_next.max_by_key(|(_, range)| range.end) {
                let end = range.end.min(wanted.end);
                cover.there.push((index, next..end));
                end
            } else {
                let later = there.iter().filter(|range| !range.is_empty());
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_overlaps_is_there_and_the_rest_is_missing() {
        let cover = Cover::new(10..50, &[0..20, 30..35, 32..45, 60..70]);
        assert_eq!(cover.there, [(0, 10..20), (1, 30..35), (2, 35..45)]);
        assert_eq!(cover.missing, [20..30, 45..50]);
        assert_eq!(Cover::new(5..5, &[0..20, 3..9]), Cover::default());
    }

    #[test]
    fn bytes_are_the_same_however_their_runs_are_given() {
        let bytes = [0_u8; 64];
        let stamp = NonZeroU64::MIN;
        let contents = |first, width, rows, pitch| {
            let runs = Runs {
                first,
                width,
                rows,
                pitch,
            };
            Contents::new(stamp, &bytes, runs)
        };
        assert_eq!(contents(8, 16, 2, 16), contents(8, 32, 1, 7));
        assert_eq!(contents(8, 32, 1, 7).run().map(|run| run.len()), Some(32));
        let columns = contents(8, 4, 3, 16);
        assert_ne!(columns, contents(8, 12, 1, 12));
        assert_eq!((columns.run(), columns.len()), (None, 12));
        let base = bytes.as_ptr().addr();
        let count =
            |range: Range<usize>| columns.count(stamp, &(base + range.start..base + range.end));
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
        fn every_byte_is_there_or_missing_once(
            wanted in (0..60_usize, 0..60_usize),
            there in prop::collection::vec((0..60_usize, 0..30_usize), 0..6),
        ) {
            let wanted = wanted.0..wanted.0 + wanted.1;
            let there: Vec<_> = there.into_iter().map(|(first, len)| first..first + len).collect();
            let Cover { there: copies, missing } = Cover::new(wanted.clone(), &there);
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
}
