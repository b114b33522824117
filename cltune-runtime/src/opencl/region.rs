//! Runs of bytes in host memory: what a device gets of a slice, and where its results go.

use super::Status;
use std::marker::PhantomData;
use std::ops::Range;

/// `rows` runs of `width` bytes, each `pitch` bytes after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Runs {
    /// The first byte.
    pub(crate) first: usize,
    pub(crate) width: usize,
    pub(crate) rows: usize,
    pub(crate) pitch: usize,
}

impl Runs {
    /// The position after the last byte; `None` where it overflows.
    fn end(&self) -> Option<usize> {
        let before = self.rows.checked_sub(1)?.checked_mul(self.pitch)?;
        self.first.checked_add(before)?.checked_add(self.width)
    }

    /// Whether all are bytes of a slice, and none twice.
    pub(super) fn check(&self, len: usize) -> Result<(), Status> {
        let fits = self.rows == 0 || self.end().is_some_and(|end| end <= len);
        if fits && (self.rows <= 1 || self.width <= self.pitch) {
            Ok(())
        } else {
            Err(Status(cl3::error_codes::CL_INVALID_VALUE))
        }
    }
}

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
    /// Divides the rows of a slice by columns: a region for each range of bytes of a row. `None` when
    /// the rows are not in the slice, or when ranges overlap, are not in ascending order or reach
    /// beyond a row.
    pub(crate) fn columns(
        slice: &'a mut [u8],
        rows: usize,
        pitch: usize,
        ranges: &[Range<usize>],
    ) -> Option<Vec<Self>> {
        if rows.checked_mul(pitch)? > slice.len() {
            return None;
        }
        let mut free = 0;
        for range in ranges {
            if range.start < free || range.end < range.start || range.end > pitch {
                return None;
            }
            free = range.end;
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

    /// The bytes, where they are one run.
    pub(super) fn single_row(&mut self) -> Option<&mut [u8]> {
        let Runs {
            first, width, rows, ..
        } = self.runs;
        // SAFETY: `columns` has shown that the run is in the slice, which is borrowed exclusively
        // for the regions, and that no other region has a byte of it.
        (rows == 1).then(|| unsafe { std::slice::from_raw_parts_mut(self.start.add(first), width) })
    }

    /// The runs, relative to [`Region::pointer`].
    pub(super) fn runs(&self) -> Runs {
        self.runs
    }

    /// The beginning of the slice, of which only the runs may be written.
    pub(super) fn pointer(&mut self) -> *mut u8 {
        self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_never_share_a_byte() {
        let mut bytes = [0_u8; 24];
        let good: [Range<usize>; 3] = [0..2, 3..5, 5..8];
        let regions = Region::columns(&mut bytes, 3, 8, &good).unwrap();
        assert_eq!(regions.len(), 3);
        for bad in [[0..3, 2..5], [3..5, 0..2], [0..2, 5..9]] {
            assert!(Region::columns(&mut bytes, 3, 8, &bad).is_none(), "{bad:?}");
        }
        assert!(Region::rows(&mut bytes, 4, 8).is_none());
        assert!(Region::rows(&mut bytes, usize::MAX, 8).is_none());
        assert!(Region::rows(&mut bytes, 3, 8).is_some());
    }

    #[test]
    fn runs_stay_inside_a_slice() {
        let runs = |first, width, rows, pitch| Runs {
            first,
            width,
            rows,
            pitch,
        };
        for good in [
            runs(0, 24, 1, 0),
            runs(2, 4, 3, 8),
            runs(4, 4, 3, 8),
            runs(0, 0, 0, 8),
        ] {
            assert!(good.check(24).is_ok(), "{good:?}");
        }
        for bad in [
            runs(1, 24, 1, 0),
            runs(5, 4, 3, 8),
            runs(0, 9, 2, 8),
            runs(0, 8, usize::MAX, 8),
        ] {
            assert!(bad.check(24).is_err(), "{bad:?}");
        }
    }
}
