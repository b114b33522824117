//! Runs of bytes in host memory or in a buffer: the part of a slice that a device gets, or the places of
//! its results.

use super::Status;
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
    pub(crate) fn check(&self, len: usize) -> Result<(), Status> {
        let fits = self.rows == 0 || self.end().is_some_and(|end| end <= len);
        if fits && (self.rows <= 1 || self.width <= self.pitch) {
            Ok(())
        } else {
            Err(Status(cl3::error_codes::CL_INVALID_VALUE))
        }
    }

    /// Whether there is no byte.
    pub(crate) fn is_empty(&self) -> bool {
        self.width == 0 || self.rows == 0
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.width.saturating_mul(self.rows)
    }

    /// Where the byte is that has this position when the gaps between runs are left out.
    pub(crate) fn at(&self, packed: usize) -> usize {
        match self.width {
            0 => self.first,
            width => self.first + packed / width * self.pitch + packed % width,
        }
    }

    /// From the first to the last of these bytes, gaps included.
    pub(crate) fn extent(&self, packed: &Range<usize>) -> Range<usize> {
        match packed.end.checked_sub(1) {
            Some(last) if last >= packed.start => self.at(packed.start)..self.at(last) + 1,
            _ => self.first..self.first,
        }
    }

    /// The bytes run by run.
    pub(crate) fn by_run(&self, packed: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let width = self.width.max(1);
        let mut next = packed.start;
        std::iter::from_fn(move || {
            let begin = next;
            next = packed.end.min((begin / width + 1).saturating_mul(width));
            (begin < packed.end).then_some(begin..next)
        })
    }

    /// Cuts the bytes into packets whose extent is at most so long: parts of a run, or whole runs.
    pub(crate) fn packets(&self, most: usize) -> Vec<Range<usize>> {
        let (len, most) = (self.len(), most.max(1));
        let has_gaps = self.rows > 1 && self.pitch != self.width;
        let cut = |bytes: Range<usize>, step: usize| {
            let end = bytes.end;
            bytes
                .step_by(step)
                .map(move |begin| begin..begin.saturating_add(step).min(end))
        };
        if !has_gaps {
            return cut(0..len, most).collect();
        }
        match most / self.pitch.max(1) {
            0 => cut(0..len, self.width.max(1))
                .flat_map(|run| cut(run, most))
                .collect(),
            runs => cut(0..len, self.width.max(1) * runs).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Runs = Runs {
        first: 3,
        width: 4,
        rows: 5,
        pitch: 10,
    };

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

    #[test]
    fn packets_have_every_byte_once_and_no_more_than_fits() {
        let one_run = Runs { rows: 1, ..COLUMNS };
        let no_gaps = Runs {
            pitch: 4,
            ..COLUMNS
        };
        for (runs, most) in [COLUMNS, one_run, no_gaps]
            .into_iter()
            .flat_map(|runs| (1..60).map(move |most| (runs, most)))
        {
            let mut next = 0;
            for packet in runs.packets(most) {
                assert_eq!(packet.start, next);
                assert!(!packet.is_empty());
                assert!(
                    runs.extent(&packet).len() <= most,
                    "{runs:?} {most} {packet:?}"
                );
                next = packet.end;
            }
            assert_eq!(next, runs.len(), "{runs:?} {most}");
        }
        let nothing = Runs {
            width: 0,
            ..COLUMNS
        };
        assert!(nothing.packets(8).is_empty());
    }

    #[test]
    fn bytes_are_found_run_by_run() {
        let parts: Vec<_> = COLUMNS.by_run(2..13).collect();
        assert_eq!(parts, [2..4, 4..8, 8..12, 12..13]);
        let places: Vec<usize> = parts.iter().map(|part| COLUMNS.at(part.start)).collect();
        assert_eq!(places, [5, 13, 23, 33]);
        assert_eq!(COLUMNS.extent(&(2..13)), 5..34);
        assert!(COLUMNS.extent(&(0..0)).is_empty());
    }
}
