//! Runs of bytes in host memory or in a buffer: the part of a slice that a device gets, or the
//! places of its results.

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
#[path = "../../tests/unit/opencl_runs.rs"]
mod tests;
