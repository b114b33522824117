//! Operands in the order in which kernels read them.
//!
//! Most kernels read a line for each of the k summands: then the functions here take B, or the
//! transpose of A, a matrix of k rows. Some read lines of k: for them they take A, or the transpose
//! of B.

use super::error::GemmError;
use super::kernels::panels::{HIGHEST, PANEL_M};
use super::real::{Kernels, Lines, OfLines, Operand, Real};
use crate::matrix::Matrix;
use cltune::{Buffer, Element, Event, Queue};

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

impl Panels {
    /// Those of B.
    pub(super) fn of_b<T: Real>() -> Self {
        let (width, tile) = T::PANELS_OF_B;
        Self { width, tile }
    }

    /// How many columns there are with what is filled up.
    fn padded(self, columns: usize) -> Result<i32, GemmError> {
        let [tile, width] = [self.tile, self.width].map(|size| size.unsigned_abs() as usize);
        let padded = (columns + tile - 1).next_multiple_of(width);
        i32::try_from(padded).map_err(|_| GemmError::TooLarge {
            name: "A or B",
            number: padded,
        })
    }
}

/// The bytes that a kernel copies at once; lines begin at multiples of them.
const ALIGNMENT: usize = 16;

/// The bytes that copies' lines begin at multiples of: those that memory is read by.
const LINES_OF_COPIES: usize = 128;

/// Whether so many elements end where kernels can copy from.
fn is_aligned<T: Real>(elements: usize) -> bool {
    (elements * size_of::<T>()).is_multiple_of(ALIGNMENT)
}

/// The greatest power of two, of at most 16 bytes, of which all these numbers of elements are
/// multiples.
pub(super) fn width<T: Kernels>(numbers: &[usize]) -> i32 {
    let most = ALIGNMENT / size_of::<T>();
    let widths = numbers
        .iter()
        .map(|number| 1 << number.trailing_zeros().min(4));
    widths.fold(whole(most), i32::min)
}

/// Whether a kernel for tensor cores that reads lines of so many elements reads them faster after a
/// copy.
pub(super) fn gains_by_copy<T: Real>(elements: usize) -> bool {
    T::TENSOR_READS_ANY_LINES && !is_aligned::<T>(elements)
}

/// Whether lines begin where kernels can copy 16 bytes from.
fn has_aligned_lines<T: Real>(matrix: &Matrix<'_, T>) -> bool {
    is_aligned::<T>(matrix.shape.leading) && is_aligned::<T>(matrix.shape.offset)
}

/// The operand as it lies, where kernels for what is computed in can read that.
pub(super) fn ready<'a, T: Real>(matrix: &Matrix<'a, T>) -> Option<Operand<'a, T::Real>> {
    let shape = matrix.shape;
    let is_ready = shape.by_rows && has_aligned_lines(matrix);
    let buffer = T::as_stored(matrix.buffer).filter(|_| is_ready)?;
    Some(Operand {
        buffer,
        offset: whole(shape.offset),
        leading: whole(shape.leading),
    })
}

/// The operand as it lies, where kernels for tensor cores can read that; only lines that begin at
/// multiples of 16 bytes where it `aligns` others.
fn ready_as_stored<'a, T: Real>(matrix: &Matrix<'a, T>, aligns: bool) -> Option<Operand<'a, T>> {
    let shape = matrix.shape;
    let reads_any = T::TENSOR_READS_ANY_LINES && !aligns;
    let is_ready = shape.by_rows && (reads_any || has_aligned_lines(matrix));
    is_ready.then(|| Operand {
        buffer: matrix.buffer,
        offset: whole(shape.offset),
        leading: whole(shape.leading),
    })
}

/// Whether an operand has to be copied for a kernel of tensor cores; `matrix` has a row for each
/// line of k.
pub(super) fn is_copied<T: Real>(lines: Lines, matrix: &Matrix<'_, T>) -> bool {
    let of_k = || ready_as_stored(matrix, false).is_none();
    let across = || ready_as_stored(&matrix.transposed(), false).is_none();
    match lines {
        Lines::OfK => of_k(),
        Lines::Across => across(),
        Lines::Either => of_k() && across(),
    }
}

/// The operand in lines that begin at multiples of 16 bytes: as it lies or, if need be, copied to
/// `place`.
pub(super) fn in_lines<'a, T: Real>(
    queue: &Queue,
    matrix: &Matrix<'a, T>,
    place: &'a mut Option<Buffer<T::Real>>,
) -> Result<Operand<'a, T::Real>, GemmError> {
    match ready(matrix) {
        Some(operand) => Ok(operand),
        None => copied_lines(queue, matrix, place, T::pack),
    }
}

/// The operand in lines, of k or not, for a kernel of tensor cores: as it lies or copied to
/// `place`, if need be and where it `aligns` lines that begin elsewhere than at multiples of 16
/// bytes. `matrix` has a row for each line of k.
pub(super) fn in_stored_lines<'a, T: Real>(
    queue: &Queue,
    (of_k, aligns): (bool, bool),
    matrix: &Matrix<'a, T>,
    place: &'a mut Option<Buffer<T>>,
) -> Result<OfLines<'a, T>, GemmError> {
    let across = matrix.transposed();
    let rows = if of_k { matrix } else { &across };
    let operand = match ready_as_stored(rows, aligns) {
        Some(operand) => operand,
        None => copied_lines(queue, rows, place, T::transpose)?,
    };
    Ok((operand, of_k))
}

/// What copies an operand in lines: rows, k, and rows with what is filled up; whether it lies
/// transposed; from where and to where.
type Copy<T, R> =
    fn(&Queue, (i32, i32, i32), bool, Operand<'_, T>, &mut Buffer<R>) -> cltune::Result<Event>;

/// The operand, copied in lines.
fn copied_lines<'a, T: Real, R: Element>(
    queue: &Queue,
    matrix: &Matrix<'_, T>,
    place: &'a mut Option<Buffer<R>>,
    by: Copy<T, R>,
) -> Result<Operand<'a, R>, GemmError> {
    let width = matrix
        .shape
        .columns
        .next_multiple_of(LINES_OF_COPIES / size_of::<R>());
    let width = i32::try_from(width).map_err(|_| GemmError::TooLarge {
        name: "A or B",
        number: width,
    })?;
    Ok(Operand {
        buffer: copy(queue, matrix, width, place, by)?,
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
    let padded = panels.padded(matrix.shape.columns)?;
    let by = |queue: &Queue, rows, transposed, from: Operand<'_, T>, to: &mut Buffer<T::Real>| {
        T::to_panels(queue, rows, panels.width, transposed, from, to)
    };
    copy(queue, matrix, padded, place, by)
}

/// Copies an operand, `padded` columns with what is filled up.
fn copy<'a, T: Real, R: Element>(
    queue: &Queue,
    matrix: &Matrix<'_, T>,
    padded: i32,
    place: &'a mut Option<Buffer<R>>,
    by: impl FnOnce(
        &Queue,
        (i32, i32, i32),
        bool,
        Operand<'_, T>,
        &mut Buffer<R>,
    ) -> cltune::Result<Event>,
) -> Result<&'a Buffer<R>, GemmError> {
    let shape = matrix.shape;
    let len = shape.rows * usize::try_from(padded).unwrap_or(0);
    let fits = |buffer: &Buffer<R>| buffer.len() >= len;
    let to = match place.take().filter(fits) {
        Some(buffer) => place.insert(buffer),
        None => place.insert(Buffer::new(queue.context(), len)?),
    };
    let from = Operand {
        buffer: matrix.buffer,
        offset: whole(shape.offset),
        leading: whole(shape.leading),
    };
    let sizes = (whole(shape.columns), whole(shape.rows), padded);
    by(queue, sizes, shape.by_rows, from, to)?;
    Ok(to)
}

/// A size of a matrix that was checked to be less than 2^31.
pub(super) fn whole(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{GemmError, PANELS_OF_A, Panels};

    #[test]
    fn panels_end_where_kernels_cannot_count_any_more() {
        assert_eq!(PANELS_OF_A.padded(1).unwrap(), 14);
        assert_eq!(Panels::of_b::<f32>().padded(2).unwrap(), 80);
        assert_eq!(Panels::of_b::<f64>().padded(2).unwrap(), 40);
        for panels in [PANELS_OF_A, Panels::of_b::<f32>()] {
            let error = panels.padded(i32::MAX as usize).unwrap_err();
            assert!(matches!(error, GemmError::TooLarge { .. }), "{error}");
        }
    }
}
