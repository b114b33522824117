//! The functions of level 2, and copies of matrices.

use super::error::BlasError;
use super::level1::check_device;
use super::real::{Lines, LinesMut, Padded, Real};
use super::vector::{Vector, VectorMut};
use crate::matrix::{Matrix, MatrixMut, Misfit, Shape, check_context};
use cltune::{Event, Queue};

/// y ← α A x + β y; Aᵀ is [`Matrix::transposed`]. As BLAS has it, y is not read where β is 0, nor A
/// and x where α is 0: what is no number there does no harm. Nothing is done where A has no
/// elements.
///
/// The launches are enqueued; the event, where there is one, is that of the last.
///
/// # Errors
/// An x that has not as many elements as A has columns, or a y as A has rows; vectors and matrices
/// that do not fit into their buffers; vectors of stride 0; and what OpenCL refuses.
pub fn gemv<T: Real>(
    queue: &Queue,
    alpha: T,
    a: Matrix<'_, T>,
    x: Vector<'_, T>,
    beta: T,
    y: VectorMut<'_, T>,
) -> Result<Option<Event>, BlasError> {
    check_device::<T>(queue)?;
    let shape = a.shape;
    check_side("x", x.len(), "columns", shape.columns)?;
    check_side("y", y.len(), "rows", shape.rows)?;
    check_matrix("A", shape, a.buffer.len())?;
    let (x, y) = (x.checked("x")?, y.checked("y")?);
    if shape.is_empty() || alpha == T::ZERO && beta == T::ONE {
        return Ok(None);
    }
    let a = Lines {
        buffer: a.buffer,
        offset: shape.offset as u64,
        leading: shape.leading as u64,
    };
    let size = lines_of(shape);
    let event = T::gemv(queue, size, !shape.by_rows, [alpha, beta], a, x, y)?;
    Ok(Some(event))
}

/// A ← α x yᵀ + A. Nothing is done where α is 0 or A has no elements.
///
/// # Errors
/// See [`gemv`]: x has as many elements as A has rows, y as A has columns.
pub fn ger<T: Real>(
    queue: &Queue,
    alpha: T,
    x: Vector<'_, T>,
    y: Vector<'_, T>,
    a: MatrixMut<'_, T>,
) -> Result<Option<Event>, BlasError> {
    check_device::<T>(queue)?;
    let shape = a.shape;
    check_side("x", x.len(), "rows", shape.rows)?;
    check_side("y", y.len(), "columns", shape.columns)?;
    check_matrix("A", shape, a.buffer.len())?;
    let (x, y) = (x.checked("x")?, y.checked("y")?);
    if shape.is_empty() || alpha == T::ZERO {
        return Ok(None);
    }
    for (name, buffer) in [("x", x.buffer), ("y", y.buffer)] {
        check_context(queue, buffer, || format!("vector {name}"))?;
    }
    // The transpose of A lies row after row where A does not.
    let (down, along) = if shape.by_rows { (x, y) } else { (y, x) };
    let event = T::ger(queue, lines_of(shape), alpha, down, along, lines_mut(a))?;
    Ok(Some(event))
}

/// B ← A in the upper left corner of B; all other elements of B become `fill`. The layouts may
/// differ, and either may be [`transposed`](Shape::transposed).
///
/// # Errors
/// See [`gemv`]; and a B that has fewer rows or columns than A.
pub fn copy_matrix<T: Real>(
    queue: &Queue,
    a: Matrix<'_, T>,
    b: MatrixMut<'_, T>,
    fill: T,
) -> Result<Option<Event>, BlasError> {
    check_device::<T>(queue)?;
    let (of_a, of_b) = (a.shape, b.shape);
    if of_a.rows > of_b.rows || of_a.columns > of_b.columns {
        return Err(BlasError::Shapes {
            a: (of_a.rows, of_a.columns),
            b: (of_b.rows, of_b.columns),
            hint: "it needs at least as many rows and columns",
        });
    }
    check_matrix("A", of_a, a.buffer.len())?;
    check_matrix("B", of_b, b.buffer.len())?;
    if of_b.is_empty() {
        return Ok(None);
    }
    let from = Lines {
        buffer: a.buffer,
        offset: of_a.offset as u64,
        leading: of_a.leading as u64,
    };
    let padded = Padded {
        of: lines_of(of_a),
        to: lines_of(of_b),
        is_transposed: of_a.by_rows != of_b.by_rows,
    };
    let event = T::copy_lines(queue, padded, from, lines_mut(b), fill)?;
    Ok(Some(event))
}

/// B ← Aᵀ.
///
/// # Errors
/// See [`gemv`]; and a B that is not of the size of Aᵀ.
pub fn transpose<T: Real>(
    queue: &Queue,
    a: Matrix<'_, T>,
    b: MatrixMut<'_, T>,
) -> Result<Option<Event>, BlasError> {
    let turned = a.transposed();
    let (of_a, of_b) = (turned.shape, b.shape);
    if (of_a.rows, of_a.columns) != (of_b.rows, of_b.columns) {
        return Err(BlasError::Shapes {
            a: (of_a.rows, of_a.columns),
            b: (of_b.rows, of_b.columns),
            hint: "it needs as many rows as A has columns, and as many columns as A has rows",
        });
    }
    copy_matrix(queue, turned, b, T::ZERO)
}

/// The lines of a matrix and their length.
const fn lines_of(shape: Shape) -> [u64; 2] {
    let (rows, columns) = (shape.rows as u64, shape.columns as u64);
    if shape.by_rows {
        [rows, columns]
    } else {
        [columns, rows]
    }
}

const fn lines_mut<T: Real>(MatrixMut { buffer, shape }: MatrixMut<'_, T>) -> LinesMut<'_, T> {
    LinesMut {
        buffer,
        offset: shape.offset as u64,
        leading: shape.leading as u64,
    }
}

const fn check_side(
    name: &'static str,
    len: usize,
    side: &'static str,
    of: usize,
) -> Result<(), BlasError> {
    if len == of {
        return Ok(());
    }
    Err(BlasError::Sides {
        name,
        len,
        side,
        of,
    })
}

fn check_matrix(name: &'static str, shape: Shape, len: usize) -> Result<(), BlasError> {
    shape.check(len).map_err(|misfit| match misfit {
        Misfit::Leading { leading, least } => BlasError::Leading {
            name,
            leading,
            least,
        },
        Misfit::TooShort { needed, len } => BlasError::TooShort { name, needed, len },
    })
}
