//! The elements of an argument that belong to a share.

use super::Span;
use crate::Text;
use crate::expr::EvalError;

/// A buffer whose elements belong to positions of the divided dimension: `rows` rows, in each of
/// them `stride` elements for every position and then `halo` more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    rows: usize,
    stride: usize,
    halo: usize,
    /// The length of a row, elements.
    pitch: usize,
}

/// A part of a buffer: `rows` runs of `width` elements, the first at `first`, each `pitch` after
/// the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first element.
    pub first: usize,
    /// Elements of a run.
    pub width: usize,
    /// The number of runs.
    pub rows: usize,
    /// Elements from the beginning of a run to that of the next.
    pub pitch: usize,
}

/// A length and what is declared about its parts do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A formula has no value for this problem.
    #[error("`{formula}` has no value: {reason}")]
    NoValue {
        /// The formula.
        formula: Text,
        /// Why.
        reason: EvalError,
    },
    /// A divided dimension without positions.
    #[error("the divided dimension is {total}, so there is nothing to divide")]
    Empty {
        /// Its size.
        total: i64,
    },
    /// Elements are left over.
    #[error(
        "its {len} elements are not what parts add up to: rows = {rows}, in each a whole number of \
         elements for each of the {total} positions and halo = {halo} more"
    )]
    Uneven {
        /// The declared length, elements.
        len: i64,
        /// The declared number of rows.
        rows: i64,
        /// The declared halo, elements.
        halo: i64,
        /// The size of the divided dimension.
        total: i64,
    },
}

impl Layout {
    /// The layout of a buffer of `len` elements for `total` positions.
    ///
    /// # Errors
    /// [`LayoutError::Empty`]; [`LayoutError::Uneven`] when elements are left over or missing.
    pub fn new(len: i64, rows: i64, halo: i64, total: i64) -> Result<Self, LayoutError> {
        if total < 1 {
            return Err(LayoutError::Empty { total });
        }
        let uneven = LayoutError::Uneven {
            len,
            rows,
            halo,
            total,
        };
        if rows < 1 || halo < 0 || len < 1 || len % rows != 0 {
            return Err(uneven);
        }
        let pitch = len / rows;
        let of_positions = pitch - halo;
        if of_positions < total || of_positions % total != 0 {
            return Err(uneven);
        }
        let size = |value: i64| usize::try_from(value).map_err(|_| uneven.clone());
        Ok(Self {
            rows: size(rows)?,
            stride: size(of_positions / total)?,
            halo: size(halo)?,
            pitch: size(pitch)?,
        })
    }

    /// The number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of a row for each position.
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// The length of a row, elements.
    pub const fn pitch(&self) -> usize {
        self.pitch
    }

    /// How many elements a row has beyond those of its positions.
    pub const fn halo(&self) -> usize {
        self.halo
    }

    /// What a share needs, halo included. The span must lie in the problem.
    pub fn part(&self, span: Span) -> Part {
        let mut part = self.own_part(span);
        part.width += self.halo;
        part
    }

    /// The elements of a span's positions, without the halo.
    pub fn own_part(&self, span: Span) -> Part {
        let position = |value: i64| usize::try_from(value).unwrap_or(0);
        Part {
            first: position(span.start) * self.stride,
            width: position(span.len) * self.stride,
            rows: self.rows,
            pitch: self.pitch,
        }
    }
}

impl Part {
    /// All of so many elements.
    pub const fn all(len: usize) -> Self {
        Self {
            first: 0,
            width: len,
            rows: 1,
            pitch: len,
        }
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.width * self.rows
    }

    /// Whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of this part, given by its places when the elements of this one follow each other
    /// without gaps. `None` where it is not in runs of equal lengths and distances.
    pub fn inner(&self, of_packed: Self) -> Option<Self> {
        if of_packed.end() > self.len() {
            return None;
        }
        if self.rows == 1 {
            return Some(Self {
                first: self.first + of_packed.first,
                ..of_packed
            });
        }
        let is_whole_runs = of_packed.rows == 1
            && of_packed.first.is_multiple_of(self.width)
            && of_packed.width.is_multiple_of(self.width);
        is_whole_runs.then(|| Self {
            first: self.first + of_packed.first / self.width * self.pitch,
            rows: of_packed.width / self.width,
            ..*self
        })
    }

    /// The position after the last element.
    pub const fn end(&self) -> usize {
        if self.rows == 0 {
            self.first
        } else {
            self.first + (self.rows - 1) * self.pitch + self.width
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { start: 8, len: 4 };

    #[test]
    fn a_padded_row_has_its_halo_behind_each_part() {
        let layout = Layout::new(64 + 6, 1, 6, 64).unwrap();
        let part = layout.part(SPAN);
        assert_eq!((part.first, part.width, part.rows), (8, 10, 1));
        let last = layout.part(Span { start: 60, len: 4 });
        assert_eq!(last.end(), 70);
    }

    #[test]
    fn rows_of_a_matrix_are_one_run_and_columns_one_for_each_row() {
        let rows = Layout::new(64 * 10, 1, 0, 64).unwrap().part(SPAN);
        assert_eq!((rows.first, rows.width, rows.rows), (80, 40, 1));
        let columns = Layout::new(10 * 64, 10, 0, 64).unwrap().part(SPAN);
        assert_eq!((columns.first, columns.width), (8, 4));
        assert_eq!((columns.rows, columns.pitch), (10, 64));
        assert_eq!(columns.end(), 9 * 64 + 12);
    }

    #[test]
    fn lengths_that_do_not_fit_are_errors() {
        for (len, rows, halo, total) in [
            (65, 1, 0, 64),
            (64, 3, 0, 64),
            (64, 1, 1, 64),
            (63, 1, 0, 64),
            (64, 0, 0, 64),
            (64, 1, -1, 64),
            (64, 1, 0, 0),
            (0, 1, 0, 64),
            (64, 1, i64::MIN, 64),
        ] {
            assert!(
                Layout::new(len, rows, halo, total).is_err(),
                "{len} {rows} {halo} {total}"
            );
        }
    }
}
