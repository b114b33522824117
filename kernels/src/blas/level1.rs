//! The functions of level 1.

use super::error::BlasError;
use super::real::{Real, Target};
use super::vector::{Vector, VectorMut};
use cltune::{Element, Event, Queue};

/// y ← α x + y. As BLAS has it, x is not read where α is 0. Nothing is done where there is nothing
/// to do.
///
/// The launches are enqueued; the event, where there is one, is that of the last.
///
/// # Errors
/// Vectors of different lengths, that do not fit into their buffers or have stride 0, and what
/// OpenCL refuses.
pub fn axpy<T: Real>(
    queue: &Queue,
    alpha: T,
    x: Vector<'_, T>,
    y: VectorMut<'_, T>,
) -> Result<Option<Event>, BlasError> {
    check_device::<T>(queue)?;
    check_lengths(x.len(), y.len())?;
    let n = y.len() as u64;
    let (x, y) = (x.checked("x")?, y.checked("y")?);
    if n == 0 || alpha == T::ZERO {
        return Ok(None);
    }
    Ok(Some(T::axpy(queue, n, alpha, x, y)?))
}

/// x ← α x. Also where α is 0 elements are multiplied: infinity and NaN become NaN.
///
/// # Errors
/// See [`axpy`].
pub fn scal<T: Real>(
    queue: &Queue,
    alpha: T,
    x: VectorMut<'_, T>,
) -> Result<Option<Event>, BlasError> {
    check_device::<T>(queue)?;
    let n = x.len() as u64;
    let x = x.checked("x")?;
    if n == 0 {
        return Ok(None);
    }
    Ok(Some(T::scal(queue, n, alpha, x)?))
}

/// y ← x.
///
/// # Errors
/// See [`axpy`].
pub fn copy<T: Real>(
    queue: &Queue,
    x: Vector<'_, T>,
    y: VectorMut<'_, T>,
) -> Result<Option<Event>, BlasError> {
    check_device::<T>(queue)?;
    check_lengths(x.len(), y.len())?;
    let n = y.len() as u64;
    let (x, y) = (x.checked("x")?, y.checked("y")?);
    if n == 0 {
        return Ok(None);
    }
    Ok(Some(T::copy(queue, n, x, y)?))
}

/// x ↔ y.
///
/// # Errors
/// See [`axpy`].
pub fn swap<T: Real>(
    queue: &Queue,
    x: VectorMut<'_, T>,
    y: VectorMut<'_, T>,
) -> Result<Option<Event>, BlasError> {
    check_device::<T>(queue)?;
    check_lengths(x.len(), y.len())?;
    let n = y.len() as u64;
    let (x, y) = (x.checked("x")?, y.checked("y")?);
    if n == 0 {
        return Ok(None);
    }
    Ok(Some(T::swap(queue, n, x, y)?))
}

/// x ← c x + s y and y ← c y − s x, of the x and y before, where c is the cosine and s the sine:
/// the rotation of a plane.
///
/// # Errors
/// See [`axpy`].
pub fn rot<T: Real>(
    queue: &Queue,
    x: VectorMut<'_, T>,
    y: VectorMut<'_, T>,
    cosine: T,
    sine: T,
) -> Result<Option<Event>, BlasError> {
    check_device::<T>(queue)?;
    check_lengths(x.len(), y.len())?;
    let n = y.len() as u64;
    let (x, y) = (x.checked("x")?, y.checked("y")?);
    if n == 0 {
        return Ok(None);
    }
    Ok(Some(T::rot(queue, n, [cosine, sine], x, y)?))
}

/// The sum of products, into a vector of one element; 0 without elements.
///
/// # Errors
/// See [`axpy`]; and a result of another length than 1.
pub fn dot<T: Real>(
    queue: &Queue,
    x: Vector<'_, T>,
    y: Vector<'_, T>,
    result: VectorMut<'_, T>,
) -> Result<Event, BlasError> {
    check_device::<T>(queue)?;
    check_lengths(x.len(), y.len())?;
    let n = x.len() as u64;
    let (x, y) = (x.checked("x")?, y.checked("y")?);
    Ok(T::dot(queue, n, x, y, number(result)?)?)
}

/// The root of the sum of squares, into a vector of one element; 0 without elements. Squares that
/// are too large or too small for the type do no harm: the result is infinite only where it is too
/// large itself or an element is.
///
/// # Errors
/// See [`dot`].
pub fn nrm2<T: Real>(
    queue: &Queue,
    x: Vector<'_, T>,
    result: VectorMut<'_, T>,
) -> Result<Event, BlasError> {
    check_device::<T>(queue)?;
    let n = x.len() as u64;
    let x = x.checked("x")?;
    Ok(T::nrm2(queue, n, x, number(result)?)?)
}

/// The sum of magnitudes, into a vector of one element; 0 without elements.
///
/// # Errors
/// See [`dot`].
pub fn asum<T: Real>(
    queue: &Queue,
    x: Vector<'_, T>,
    result: VectorMut<'_, T>,
) -> Result<Event, BlasError> {
    check_device::<T>(queue)?;
    let n = x.len() as u64;
    let x = x.checked("x")?;
    Ok(T::asum(queue, n, x, number(result)?)?)
}

/// The index of the element of the largest magnitude, of equal ones the first, into a vector of one
/// element. It counts from 0 in the order of the vector, whatever its stride. NaN is passed over;
/// without elements, or where all are NaN, the index is 0.
///
/// # Errors
/// See [`dot`].
pub fn iamax<T: Real>(
    queue: &Queue,
    x: Vector<'_, T>,
    result: VectorMut<'_, u64>,
) -> Result<Event, BlasError> {
    check_device::<T>(queue)?;
    let n = x.len() as u64;
    let x = x.checked("x")?;
    Ok(T::iamax(queue, n, x, number(result)?)?)
}

pub(super) fn check_device<T: Real>(queue: &Queue) -> Result<(), BlasError> {
    let device = queue.device();
    if T::NEEDS_FP64 && device.info().limits.fp64 == 0 {
        return Err(BlasError::Unsupported {
            device: device.to_string(),
            what: "double precision",
        });
    }
    Ok(())
}

const fn check_lengths(of_x: usize, of_y: usize) -> Result<(), BlasError> {
    if of_x == of_y {
        return Ok(());
    }
    Err(BlasError::Lengths {
        x: "x",
        of_x,
        y: "y",
        of_y,
    })
}

/// Where a number goes.
fn number<T: Element>(result: VectorMut<'_, T>) -> Result<Target<'_, T>, BlasError> {
    if result.len() != 1 {
        return Err(BlasError::NoNumber { len: result.len() });
    }
    result.checked("result")
}
