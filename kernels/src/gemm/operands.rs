//! Operands in the order in which kernels read them.
//!
//! Most kernels read a line for each of the k summands: then the functions here take B, or the
//! transpose of A, a matrix of k rows. One reads lines of k: for it they take A, or the transpose
//! of B.

use super::error::GemmError;
use super::kernels::panels::{HIGHEST, PANEL_M, PANEL_N, WIDEST};
use super::real::{Operand, Real};
use crate::matrix::Matrix;
use cltune::{Buffer, Queue};

/// How an operand is divided into panels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panels {
    /// The width of one.
    width: i32,
    /// The widest tile that is read: there are zeros for that much.
    tile: i32,
}

/// Those of the transpose of A. The height of tiles is any even number, so that a tile can begin at
/// any panel.
pub(super) const PANELS_OF_A: Panels = Panels {
    width: PANEL_M,
    tile: HIGHEST,
};
/// Those of B.
pub(super) const PANELS_OF_B: Panels = Panels {
    width: PANEL_N,
    tile: WIDEST,
};

impl Panels {
    /// How many columns there are with what is filled up.
    const fn padded(self, columns: i32) -> i32 {
        let last_tile = columns + self.tile - 1;
        (last_tile + self.width - 1) / self.width * self.width
    }
}

/// The bytes that a kernel copies at once; lines begin at multiples of them.
const ALIGNMENT: usize = 16;

/// The operand as it lies, where kernels can read that.
pub(super) fn ready<'a, T: Real>(matrix: &Matrix<'a, T>) -> Option<Operand<'a, T::Real>> {
    let shape = matrix.shape;
    let aligned = |elements: usize| (elements * size_of::<T::Real>()).is_multiple_of(ALIGNMENT);
    let buffer = T::as_stored(matrix.buffer)?;
    (shape.by_rows && aligned(shape.leading) && aligned(shape.offset)).then(|| Operand {
        buffer,
        offset: whole(shape.offset),
        leading: whole(shape.leading),
    })
}

/// The operand in lines that begin at multiples of 16 bytes: as it lies or, if need be, copied to
/// `place`.
pub(super) fn in_lines<'a, T: Real>(
    queue: &Queue,
    matrix: &Matrix<'a, T>,
    place: &'a mut Option<Buffer<T::Real>>,
) -> Result<Operand<'a, T::Real>, GemmError> {
    if let Some(operand) = ready(matrix) {
        return Ok(operand);
    }
    let width = matrix
        .shape
        .columns
        .next_multiple_of(ALIGNMENT / size_of::<T::Real>());
    let width = i32::try_from(width).map_err(|_| GemmError::TooLarge {
        name: "A or B",
        number: width,
    })?;
    Ok(Operand {
        buffer: copy(queue, matrix, width, width, place)?,
        offset: 0,
        leading: width,
    })
}

/// The operand in panels, copied to `place`.
pub(super) fn in_panels<'a, T: Real>(
    queue: &Queue,
    matrix: &Matrix<'_, T>,
    panels: Panels,
    place: &'a mut Option<Buffer<T::Real>>,
) -> Result<&'a Buffer<T::Real>, GemmError> {
    let padded = panels.padded(whole(matrix.shape.columns));
    copy(queue, matrix, padded, panels.width, place)
}

/// Copies an operand to panels of a width, `padded` columns in all.
fn copy<'a, T: Real>(
    queue: &Queue,
    matrix: &Matrix<'_, T>,
    padded: i32,
    width: i32,
    place: &'a mut Option<Buffer<T::Real>>,
) -> Result<&'a Buffer<T::Real>, GemmError> {
    let shape = matrix.shape;
    let len = shape.rows * usize::try_from(padded).unwrap_or(0);
    let fits =
        |buffer: &Buffer<T::Real>| buffer.len() >= len && buffer.context() == queue.context();
    let to = match place.take().filter(fits) {
        Some(buffer) => place.insert(buffer),
        None => place.insert(Buffer::new(queue.context(), len)?),
    };
    let from = Operand {
        buffer: matrix.buffer,
        offset: whole(shape.offset),
        leading: whole(shape.leading),
    };
    let sizes = (whole(shape.columns), whole(shape.rows), padded, width);
    T::pack(queue, sizes, shape.by_rows, from, to)?;
    Ok(to)
}

/// A size of a matrix that was checked to be less than 2^31.
pub(super) fn whole(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
