//! The types of numbers, and the kernels of each.

use super::{kernels, matrix_kernels};
use cltune::{Buffer, Element, Event, Queue, Result};

/// A vector as kernels take it.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T: Element> {
    pub(super) buffer: &'a Buffer<T>,
    pub(super) offset: u64,
    pub(super) stride: i64,
}

/// A vector that is written.
#[derive(Debug)]
pub struct Target<'a, T: Element> {
    pub(super) buffer: &'a mut Buffer<T>,
    pub(super) offset: u64,
    pub(super) stride: i64,
}

/// A matrix as kernels take it: lines that are contiguous.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a, T: Element> {
    pub(super) buffer: &'a Buffer<T>,
    pub(super) offset: u64,
    pub(super) leading: u64,
}

/// A matrix that is written.
#[derive(Debug)]
pub struct LinesMut<'a, T: Element> {
    pub(super) buffer: &'a mut Buffer<T>,
    pub(super) offset: u64,
    pub(super) leading: u64,
}

/// The sizes of a copy: lines and their length.
#[derive(Clone, Copy, Debug)]
pub struct Padded {
    pub(super) of: [u64; 2],
    pub(super) to: [u64; 2],
    /// Whether lines of one are read across those of the other.
    pub(super) is_transposed: bool,
}

/// The kernels of a type. Not for use outside: it keeps [`Real`] sealed.
pub trait Kernels: Element + PartialEq {
    /// Whether the device has to support `double`.
    const NEEDS_FP64: bool;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// y ← α x + y.
    fn axpy(
        queue: &Queue,
        n: u64,
        alpha: Self,
        x: Operand<'_, Self>,
        y: Target<'_, Self>,
    ) -> Result<Event>;
    /// x ← α x.
    fn scal(queue: &Queue, n: u64, alpha: Self, x: Target<'_, Self>) -> Result<Event>;
    /// y ← x.
    fn copy(queue: &Queue, n: u64, x: Operand<'_, Self>, y: Target<'_, Self>) -> Result<Event>;
    /// x ↔ y.
    fn swap(queue: &Queue, n: u64, x: Target<'_, Self>, y: Target<'_, Self>) -> Result<Event>;
    /// The rotation by a cosine and a sine.
    fn rot(
        queue: &Queue,
        n: u64,
        by: [Self; 2],
        x: Target<'_, Self>,
        y: Target<'_, Self>,
    ) -> Result<Event>;
    /// Σ xᵢ yᵢ.
    fn dot(
        queue: &Queue,
        n: u64,
        x: Operand<'_, Self>,
        y: Operand<'_, Self>,
        result: Target<'_, Self>,
    ) -> Result<Event>;
    /// √(Σ xᵢ²).
    fn nrm2(queue: &Queue, n: u64, x: Operand<'_, Self>, result: Target<'_, Self>)
    -> Result<Event>;
    /// Σ |xᵢ|.
    fn asum(queue: &Queue, n: u64, x: Operand<'_, Self>, result: Target<'_, Self>)
    -> Result<Event>;
    /// The first index of the largest |xᵢ|.
    fn iamax(queue: &Queue, n: u64, x: Operand<'_, Self>, result: Target<'_, u64>)
    -> Result<Event>;
    /// y ← α A x + β y of a matrix of so many lines, or of its transpose.
    fn gemv(
        queue: &Queue,
        size: [u64; 2],
        transposed: bool,
        factors: [Self; 2],
        a: Lines<'_, Self>,
        x: Operand<'_, Self>,
        y: Target<'_, Self>,
    ) -> Result<Event>;
    /// A ← α x yᵀ + A, where y lies along the lines of A.
    fn ger(
        queue: &Queue,
        size: [u64; 2],
        alpha: Self,
        x: Operand<'_, Self>,
        y: Operand<'_, Self>,
        a: LinesMut<'_, Self>,
    ) -> Result<Event>;
    /// B ← A, and the fill elsewhere.
    fn copy_lines(
        queue: &Queue,
        sizes: Padded,
        a: Lines<'_, Self>,
        b: LinesMut<'_, Self>,
        fill: Self,
    ) -> Result<Event>;
}

/// A type of numbers that vectors consist of: `f32` and `f64`.
pub trait Real: Kernels {}

impl Real for f32 {}
impl Real for f64 {}

macro_rules! kernels {
    ($real:ident, $kernels:ident, $needs_fp64:literal) => {
        impl Kernels for $real {
            const NEEDS_FP64: bool = $needs_fp64;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn axpy(
                queue: &Queue,
                n: u64,
                alpha: Self,
                x: Operand<'_, Self>,
                y: Target<'_, Self>,
            ) -> Result<Event> {
                kernels::$kernels::axpy(
                    queue, n, alpha, x.buffer, x.offset, x.stride, y.buffer, y.offset, y.stride,
                )
            }

            fn scal(queue: &Queue, n: u64, alpha: Self, x: Target<'_, Self>) -> Result<Event> {
                kernels::$kernels::scal(queue, n, alpha, x.buffer, x.offset, x.stride)
            }

            fn copy(
                queue: &Queue,
                n: u64,
                x: Operand<'_, Self>,
                y: Target<'_, Self>,
            ) -> Result<Event> {
                kernels::$kernels::copy(
                    queue, n, x.buffer, x.offset, x.stride, y.buffer, y.offset, y.stride,
                )
            }

            fn swap(
                queue: &Queue,
                n: u64,
                x: Target<'_, Self>,
                y: Target<'_, Self>,
            ) -> Result<Event> {
                kernels::$kernels::swap(
                    queue, n, x.buffer, x.offset, x.stride, y.buffer, y.offset, y.stride,
                )
            }

            fn rot(
                queue: &Queue,
                n: u64,
                [c, s]: [Self; 2],
                x: Target<'_, Self>,
                y: Target<'_, Self>,
            ) -> Result<Event> {
                kernels::$kernels::rot(
                    queue, n, c, s, x.buffer, x.offset, x.stride, y.buffer, y.offset, y.stride,
                )
            }

            fn dot(
                queue: &Queue,
                n: u64,
                x: Operand<'_, Self>,
                y: Operand<'_, Self>,
                result: Target<'_, Self>,
            ) -> Result<Event> {
                kernels::$kernels::dot(
                    queue,
                    n,
                    x.buffer,
                    x.offset,
                    x.stride,
                    y.buffer,
                    y.offset,
                    y.stride,
                    result.buffer,
                    result.offset,
                )
            }

            fn nrm2(
                queue: &Queue,
                n: u64,
                x: Operand<'_, Self>,
                result: Target<'_, Self>,
            ) -> Result<Event> {
                kernels::$kernels::nrm2(
                    queue,
                    n,
                    x.buffer,
                    x.offset,
                    x.stride,
                    result.buffer,
                    result.offset,
                )
            }

            fn asum(
                queue: &Queue,
                n: u64,
                x: Operand<'_, Self>,
                result: Target<'_, Self>,
            ) -> Result<Event> {
                kernels::$kernels::asum(
                    queue,
                    n,
                    x.buffer,
                    x.offset,
                    x.stride,
                    result.buffer,
                    result.offset,
                )
            }

            fn iamax(
                queue: &Queue,
                n: u64,
                x: Operand<'_, Self>,
                result: Target<'_, u64>,
            ) -> Result<Event> {
                kernels::$kernels::iamax(
                    queue,
                    n,
                    x.buffer,
                    x.offset,
                    x.stride,
                    result.buffer,
                    result.offset,
                )
            }

            fn gemv(
                queue: &Queue,
                [lines, length]: [u64; 2],
                transposed: bool,
                [alpha, beta]: [Self; 2],
                a: Lines<'_, Self>,
                x: Operand<'_, Self>,
                y: Target<'_, Self>,
            ) -> Result<Event> {
                let gemv = if transposed {
                    matrix_kernels::$kernels::gemv_transposed
                } else {
                    matrix_kernels::$kernels::gemv
                };
                gemv(
                    queue, lines, length, alpha, beta, a.buffer, a.offset, a.leading, x.buffer,
                    x.offset, x.stride, y.buffer, y.offset, y.stride,
                )
            }

            fn ger(
                queue: &Queue,
                [lines, length]: [u64; 2],
                alpha: Self,
                x: Operand<'_, Self>,
                y: Operand<'_, Self>,
                a: LinesMut<'_, Self>,
            ) -> Result<Event> {
                matrix_kernels::$kernels::ger(
                    queue, lines, length, alpha, x.buffer, x.offset, x.stride, y.buffer, y.offset,
                    y.stride, a.buffer, a.offset, a.leading,
                )
            }

            fn copy_lines(
                queue: &Queue,
                Padded {
                    of: [of_lines, of_length],
                    to: [lines, length],
                    is_transposed,
                }: Padded,
                a: Lines<'_, Self>,
                b: LinesMut<'_, Self>,
                fill: Self,
            ) -> Result<Event> {
                let copy = if is_transposed {
                    matrix_kernels::$kernels::transpose
                } else {
                    matrix_kernels::$kernels::copy
                };
                copy(
                    queue, of_lines, of_length, lines, length, a.buffer, a.offset, a.leading,
                    b.buffer, b.offset, b.leading, fill,
                )
            }
        }
    };
}

kernels!(f32, single, false);
kernels!(f64, double, true);
