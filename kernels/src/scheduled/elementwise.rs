//! Temporaries: sums, differences and multiples of matrices.

use super::real::Real;
use cltune::schedule::{Expression, ScheduleError, map};

/// A + B as a temporary, of two matrices or temporaries that lie in the same order.
///
/// # Errors
/// [`ScheduleError::Shape`], [`ScheduleError::Layout`].
pub fn sum<'a, T: Real>(
    a: impl Into<Expression<'a, T>>,
    b: impl Into<Expression<'a, T>>,
) -> Result<Expression<'a, T>, ScheduleError> {
    let name = format!("sum of {}", T::NAME);
    map(&name, [a.into(), b.into()], |queue, n, [a, b], c| {
        T::sum(queue, n as u64, a, b, c)
    })
}

/// A − B as a temporary, as [`sum`].
///
/// # Errors
/// As [`sum`].
pub fn difference<'a, T: Real>(
    a: impl Into<Expression<'a, T>>,
    b: impl Into<Expression<'a, T>>,
) -> Result<Expression<'a, T>, ScheduleError> {
    let name = format!("difference of {}", T::NAME);
    map(&name, [a.into(), b.into()], |queue, n, [a, b], c| {
        T::difference(queue, n as u64, a, b, c)
    })
}

/// α A as a temporary.
///
/// # Errors
/// As [`sum`].
pub fn scaled<'a, T: Real>(
    alpha: T,
    a: impl Into<Expression<'a, T>>,
) -> Result<Expression<'a, T>, ScheduleError> {
    let name = format!("multiple of {}", T::NAME);
    map(&name, [a.into()], move |queue, n, [a], c| {
        T::scaled(queue, n as u64, alpha, a, c)
    })
}
