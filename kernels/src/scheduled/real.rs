//! The types of elements, each with its tunables.

use super::kernels::{double, single};
use crate::gemm;
use cltune::{Buffer, Queue, Result};

/// What a type has for the operations of this module.
pub trait Statements: gemm::Real<Real = Self> + PartialEq {
    /// Its name in OpenCL C.
    const NAME: &'static str;
    /// The number one.
    const ONE: Self;

    /// c ← a + b.
    fn sum(
        queue: &Queue,
        n: u64,
        a: &Buffer<Self>,
        b: &Buffer<Self>,
        c: &mut Buffer<Self>,
    ) -> Result<()>;
    /// c ← a − b.
    fn difference(
        queue: &Queue,
        n: u64,
        a: &Buffer<Self>,
        b: &Buffer<Self>,
        c: &mut Buffer<Self>,
    ) -> Result<()>;
    /// c ← α a.
    fn scaled(
        queue: &Queue,
        n: u64,
        alpha: Self,
        a: &Buffer<Self>,
        c: &mut Buffer<Self>,
    ) -> Result<()>;
    /// s ← Σ xᵢ yᵢ, or s ← s + Σ xᵢ yᵢ.
    fn dot(
        queue: &Queue,
        n: u64,
        xy: [&Buffer<Self>; 2],
        is_first: bool,
        s: &mut Buffer<Self>,
    ) -> Result<()>;
    /// s ← Σ xᵢ, or s ← s + Σ xᵢ.
    fn total(
        queue: &Queue,
        n: u64,
        x: &Buffer<Self>,
        is_first: bool,
        s: &mut Buffer<Self>,
    ) -> Result<()>;
}

/// A type of elements: `f32` or `f64`.
pub trait Real: Statements {}

macro_rules! real {
    ($real:ident, $name:literal, $kernels:ident) => {
        impl Real for $real {}

        impl Statements for $real {
            const NAME: &'static str = $name;
            const ONE: Self = 1.0;

            fn sum(
                queue: &Queue,
                n: u64,
                a: &Buffer<Self>,
                b: &Buffer<Self>,
                c: &mut Buffer<Self>,
            ) -> Result<()> {
                $kernels::sum(queue, n, a, b, c).map(drop)
            }

            fn difference(
                queue: &Queue,
                n: u64,
                a: &Buffer<Self>,
                b: &Buffer<Self>,
                c: &mut Buffer<Self>,
            ) -> Result<()> {
                $kernels::difference(queue, n, a, b, c).map(drop)
            }

            fn scaled(
                queue: &Queue,
                n: u64,
                alpha: Self,
                a: &Buffer<Self>,
                c: &mut Buffer<Self>,
            ) -> Result<()> {
                $kernels::scaled(queue, n, alpha, a, c).map(drop)
            }

            fn dot(
                queue: &Queue,
                n: u64,
                [x, y]: [&Buffer<Self>; 2],
                is_first: bool,
                s: &mut Buffer<Self>,
            ) -> Result<()> {
                if is_first {
                    $kernels::dot(queue, n, x, y, s).map(drop)
                } else {
                    $kernels::more_dot(queue, n, x, y, s).map(drop)
                }
            }

            fn total(
                queue: &Queue,
                n: u64,
                x: &Buffer<Self>,
                is_first: bool,
                s: &mut Buffer<Self>,
            ) -> Result<()> {
                if is_first {
                    $kernels::total(queue, n, x, s).map(drop)
                } else {
                    $kernels::more_total(queue, n, x, s).map(drop)
                }
            }
        }
    };
}

real!(f32, "float", single);
real!(f64, "double", double);
