//! Matrices in host memory.

use super::center::Center;
use super::error::ScheduleError;
use super::expression::Expression;
use super::matrix_core::MatrixCore;
use crate::element::Element;
use crate::opencl::HostGuard;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A matrix or vector in host memory, as an operand or the result of operations, from
/// [`Scheduler::matrix`](super::Scheduler::matrix).
///
/// Dropping it gives up operations whose results only it would have had.
#[derive(Debug)]
pub struct Matrix<T: Element> {
    pub(super) core: Arc<MatrixCore>,
    pub(super) by_rows: bool,
    center: Arc<Center>,
    element: PhantomData<T>,
}

impl<T: Element> Matrix<T> {
    pub(super) fn new(center: &Arc<Center>, core: MatrixCore, by_rows: bool) -> Self {
        center.hold(core.id);
        Self {
            core: Arc::new(core),
            by_rows,
            center: Arc::clone(center),
            element: PhantomData,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.expression().rows()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.expression().columns()
    }

    /// Whether its rows lie one after the other; its columns do otherwise.
    pub const fn is_by_rows(&self) -> bool {
        self.by_rows
    }

    /// The matrix as an operand.
    pub fn expression(&self) -> Expression<'_, T> {
        Expression::of(&self.core, self.by_rows)
    }

    /// Its transpose as an operand. Nothing is moved.
    pub fn transposed(&self) -> Expression<'_, T> {
        self.expression().transposed()
    }

    /// The elements as they lie, when the operations that compute them have ended.
    ///
    /// # Errors
    /// [`ScheduleError::NotComputed`] when such an operation has failed.
    pub fn values(&self) -> Result<MatrixGuard<'_, T>, ScheduleError> {
        self.center.wait_until_written(self.core.id)?;
        Ok(MatrixGuard {
            guard: self.core.memory.read(),
            len: self.core.lines * self.core.length,
            matrix: PhantomData,
        })
    }

    /// The elements as they lie, to be changed, when the operations that use them have ended. An
    /// operation that was to compute them may have failed: then they are anything.
    pub fn values_mut(&mut self) -> MatrixGuardMut<'_, T> {
        self.center.hand_over(self.core.id);
        self.core.change();
        MatrixGuardMut {
            guard: self.core.memory.write(),
            len: self.core.lines * self.core.length,
            matrix: PhantomData,
        }
    }
}

impl<'a, T: Element> From<&'a Matrix<T>> for Expression<'a, T> {
    fn from(matrix: &'a Matrix<T>) -> Self {
        matrix.expression()
    }
}

impl<T: Element> Drop for Matrix<T> {
    fn drop(&mut self) {
        self.center.release(self.core.id);
    }
}

/// The matrices that an operation writes: one, or a list of them in the order of its results.
#[derive(Debug)]
pub struct Results<'r, T: Element>(pub(super) Vec<&'r mut Matrix<T>>);

impl<'r, T: Element> From<&'r mut Matrix<T>> for Results<'r, T> {
    fn from(matrix: &'r mut Matrix<T>) -> Self {
        Self(vec![matrix])
    }
}

impl<'r, T: Element, const N: usize> From<[&'r mut Matrix<T>; N]> for Results<'r, T> {
    fn from(matrices: [&'r mut Matrix<T>; N]) -> Self {
        Self(matrices.into())
    }
}

/// The elements of a matrix, from [`Matrix::values`]. They can be used like a slice.
#[derive(Debug)]
pub struct MatrixGuard<'a, T: Element> {
    guard: HostGuard,
    len: usize,
    matrix: PhantomData<&'a Matrix<T>>,
}

/// The elements of a matrix, to be changed, from [`Matrix::values_mut`].
#[derive(Debug)]
pub struct MatrixGuardMut<'a, T: Element> {
    guard: HostGuard,
    len: usize,
    matrix: PhantomData<&'a mut Matrix<T>>,
}

impl<T: Element> Deref for MatrixGuard<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.guard.elements()[..self.len]
    }
}

impl<T: Element> Deref for MatrixGuardMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.guard.elements()[..self.len]
    }
}

impl<T: Element> DerefMut for MatrixGuardMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.guard.elements_mut()[..self.len]
    }
}
