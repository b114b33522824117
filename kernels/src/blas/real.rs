//! The types of numbers, and the kernels of each.

use super::kernels::{double, single};
use cltune_runtime::{Buffer, Element, Event, Queue, Result};

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

/// The kernels of a type. Not for use outside: it keeps [`Real`] sealed.
pub trait Kernels: Element + PartialEq {
    /// Whether the device has to support `double`.
    const NEEDS_FP64: bool;
    /// Zero.
    const ZERO: Self;

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

            fn axpy(
                queue: &Queue,
                n: u64,
                alpha: Self,
                x: Operand<'_, Self>,
                y: Target<'_, Self>,
            ) -> Result<Event> {
                $kernels::axpy(
                    queue, n, alpha, x.buffer, x.offset, x.stride, y.buffer, y.offset, y.stride,
                )
            }

            fn scal(queue: &Queue, n: u64, alpha: Self, x: Target<'_, Self>) -> Result<Event> {
                $kernels::scal(queue, n, alpha, x.buffer, x.offset, x.stride)
            }

            fn copy(
                queue: &Queue,
                n: u64,
                x: Operand<'_, Self>,
                y: Target<'_, Self>,
            ) -> Result<Event> {
                $kernels::copy(
                    queue, n, x.buffer, x.offset, x.stride, y.buffer, y.offset, y.stride,
                )
            }

            fn swap(
                queue: &Queue,
                n: u64,
                x: Target<'_, Self>,
                y: Target<'_, Self>,
            ) -> Result<Event> {
                $kernels::swap(
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
                $kernels::rot(
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
                $kernels::dot(
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
                $kernels::nrm2(
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
                $kernels::asum(
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
                $kernels::iamax(
                    queue,
                    n,
                    x.buffer,
                    x.offset,
                    x.stride,
                    result.buffer,
                    result.offset,
                )
            }
        }
    };
}

kernels!(f32, single, false);
kernels!(f64, double, true);
