//! Places in a caller's slice to which several devices and threads write at the same time.

use super::Runs;
use std::marker::PhantomData;
use std::ops::Range;

/// Runs of a host slice that nobody else reads or writes while this exists, so that several devices
/// can write to one slice at the same time.
#[derive(Debug)]
pub(crate) struct Region<'a> {
    start: *mut u8,
    runs: Runs,
    slice: PhantomData<&'a mut [u8]>,
}

// SAFETY: it is an exclusive borrow of its bytes, which may be used from any thread.
unsafe impl Send for Region<'_> {}

impl<'a> Region<'a> {
    /// Divides the rows of a slice by columns: a region for each range of bytes of a row. `None`
    /// when the rows are not in the slice, or when ranges overlap, are not in ascending order or
    /// reach beyond a row.
    pub(crate) fn columns(
        slice: &'a mut [u8],
        rows: usize,
        pitch: usize,
        ranges: &[Range<usize>],
    ) -> Option<Vec<Self>> {
        if rows.checked_mul(pitch)? > slice.len() || !are_apart(ranges, pitch) {
            return None;
        }
        let start = slice.as_mut_ptr();
        let region = |range: &Range<usize>| Self {
            start,
            runs: Runs {
                first: range.start,
                width: range.len(),
                rows,
                pitch,
            },
            slice: PhantomData,
        };
        Some(ranges.iter().map(region).collect())
    }

    /// All of a slice as rows of `width` bytes; `None` when these are more than the slice.
    pub(crate) fn rows(slice: &'a mut [u8], rows: usize, width: usize) -> Option<Self> {
        #[expect(clippy::single_range_in_vec_init, reason = "one range of columns")]
        Self::columns(slice, rows, width, &[0..width])?.pop()
    }

    /// The runs, relative to [`Region::pointer`].
    pub(crate) fn runs(&self) -> Runs {
        self.runs
    }

    /// The addresses from the first to the last byte of the runs.
    pub(crate) fn addresses(&self) -> Range<usize> {
        let Range { start, end } = self.runs.extent(&(0..self.runs.len()));
        self.start.addr() + start..self.start.addr() + end
    }

    /// The beginning of the slice, of which only the runs may be written.
    pub(super) fn pointer(&mut self) -> *mut u8 {
        self.start
    }
}

/// Bytes of a region, counted without the gaps between its runs.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    start: *mut u8,
    runs: Runs,
    packed: Range<usize>,
    slice: PhantomData<&'a mut [u8]>,
}

// SAFETY: it is an exclusive borrow of its bytes, which may be used from any thread.
unsafe impl Send for Place<'_> {}

impl<'a> Region<'a> {
    /// Takes a single run for rows of `pitch` bytes, and divides these by columns, as
    /// [`Region::columns`] does with a slice.
    pub(crate) fn columns_of_run(
        self,
        rows: usize,
        pitch: usize,
        ranges: &[Range<usize>],
    ) -> Option<Vec<Self>> {
        if self.runs.rows != 1 || rows.checked_mul(pitch)? > self.runs.width {
            return None;
        }
        are_apart(ranges, pitch).then(|| {
            let region = |range: &Range<usize>| Self {
                start: self.start,
                runs: Runs {
                    first: self.runs.first + range.start,
                    width: range.len(),
                    rows,
                    pitch,
                },
                slice: PhantomData,
            };
            ranges.iter().map(region).collect()
        })
    }

    /// Divides the runs among ranges of bytes, counted without the gaps. `None` when a range is not
    /// of whole runs, and where [`Region::cut`] has none.
    pub(crate) fn runs_of_runs(self, ranges: &[Range<usize>]) -> Option<Vec<Self>> {
        let Runs { width, .. } = self.runs;
        let is_whole = |at: usize| width > 0 && at.is_multiple_of(width);
        let are_whole = |range: &Range<usize>| is_whole(range.start) && is_whole(range.end);
        if !ranges.iter().all(are_whole) || !are_apart(ranges, self.runs.len()) {
            return None;
        }
        let region = |range: &Range<usize>| Self {
            start: self.start,
            runs: Runs {
                first: self.runs.at(range.start),
                rows: range.len() / width,
                ..self.runs
            },
            slice: PhantomData,
        };
        Some(ranges.iter().map(region).collect())
    }

    /// Divides the bytes, counted without the gaps between runs, so that several threads can write
    /// to them. `None` when ranges overlap, are not in ascending order or reach beyond the end.
    pub(crate) fn cut(self, ranges: &[Range<usize>]) -> Option<Vec<Place<'a>>> {
        if !are_apart(ranges, self.runs.len()) {
            return None;
        }
        let place = |range: &Range<usize>| Place {
            start: self.start,
            runs: self.runs,
            packed: range.clone(),
            slice: PhantomData,
        };
        Some(ranges.iter().map(place).collect())
    }
}

/// Whether ranges are in ascending order, have nothing in common and end before `end`.
fn are_apart(ranges: &[Range<usize>], end: usize) -> bool {
    let mut free = 0;
    ranges.iter().all(|range| {
        let is_free = range.start >= free && range.end >= range.start && range.end <= end;
        free = range.end;
        is_free
    })
}

impl Place<'_> {
    /// Writes the bytes. `extent` holds what a buffer has from the first to the last of them, where
    /// its runs are `source`; what is missing there is not written.
    pub(crate) fn write(&mut self, extent: &[u8], source: Runs) {
        let base = source.at(self.packed.start);
        for part in self.runs.by_run(self.packed.clone()) {
            let from = source.at(part.start) - base;
            let Some(bytes) = extent.get(from..from + part.len()) else {
                return;
            };
            // SAFETY: `columns` has shown that the runs are in the slice, which is borrowed
            // exclusively for the regions, and that no other region has a byte of them; where a
            // region was divided further, `columns_of_run` and `runs_of_runs` have shown the same
            // of its parts. `cut` has shown that no other place has these bytes, and that they are
            // bytes of the runs. The source is borrowed otherwise, so it does not overlap.
            unsafe {
                let target = self.start.add(self.runs.at(part.start));
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/opencl_region.rs"]
mod tests;
