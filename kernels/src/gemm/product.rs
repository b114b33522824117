//! A multiplication: its matrices, checked, and how they lie.

use super::checks::{check, check_sizes};
use super::error::GemmError;
use super::operands::{gains_by_copy, is_copied, ready, whole};
use super::options::GemmOptions;
use super::real::{Factors, Lines, Operand, Orders, Products, Real, Size, Target};
use super::route::Copies;
use crate::matrix::{Matrix, MatrixMut};
use cltune::Buffer;

/// A multiplication of row-major C whose matrices fit together.
pub(super) struct Product<'a, T: Real> {
    pub(super) size: Size,
    pub(super) factors: Factors<T::Real>,
    pub(super) a: Matrix<'a, T>,
    pub(super) b: Matrix<'a, T>,
    pub(super) c: MatrixMut<'a, T>,
    pub(super) options: GemmOptions<'a, T>,
    /// Whether C is the transpose of what was asked for, which lies column after column.
    pub(super) is_transposed: bool,
}

impl<'a, T: Real> Product<'a, T> {
    /// Checks the matrices; `None` where nothing is to be done.
    pub(super) fn new(
        alpha: T::Real,
        mut a: Matrix<'a, T>,
        mut b: Matrix<'a, T>,
        beta: T::Real,
        mut c: MatrixMut<'a, T>,
    ) -> Result<Option<Self>, GemmError> {
        let (of_a, of_b, of_c) = (a.shape, b.shape, c.shape);
        check_sizes(of_a, of_b, of_c)?;
        check("C", of_c, c.buffer.len())?;
        check("A", of_a, a.buffer.len())?;
        check("B", of_b, b.buffer.len())?;
        if of_c.rows == 0 || of_c.columns == 0 {
            return Ok(None);
        }
        if !of_c.by_rows {
            // The transpose of C is the product of the transposes, and lies row after row.
            (a, b) = (b.transposed(), a.transposed());
            c.shape = c.shape.transposed();
        }
        let k = if alpha == T::ZERO { 0 } else { a.shape.columns };
        Ok(Some(Self {
            // Checked: all sizes are less than 2^31.
            size: Size {
                m: whole(c.shape.rows),
                n: whole(c.shape.columns),
                k: whole(k),
            },
            factors: Factors { alpha, beta },
            a,
            b,
            c,
            options: GemmOptions::new(),
            is_transposed: !of_c.by_rows,
        }))
    }

    /// C as kernels take it.
    pub(super) fn target(self, no_bias: &'a Buffer<T>) -> Target<'a, T> {
        let MatrixMut { buffer, shape } = self.c;
        let (epilogue, bias) = self.options.epilogue(self.is_transposed, no_bias);
        Target {
            buffer,
            offset: whole(shape.offset),
            leading: whole(shape.leading),
            epilogue,
            bias,
        }
    }

    /// Which operands the routes have to copy. `products` is for tensor cores, in single precision.
    pub(super) fn copies(&self, products: Products) -> Copies {
        let (a, b) = (self.a, self.b);
        let tensor = |orders| {
            let [of_a, of_b] = T::lines((orders, products)).unwrap_or([Lines::Either; 2]);
            [is_copied(of_a, &a), is_copied(of_b, &b.transposed())]
        };
        let as_they_lie = [a, b.transposed()].map(|it| it.shape.by_rows);
        Copies {
            a_by_columns: !a.shape.by_rows,
            pipelined: [a.transposed(), b].map(|it| ready(&it).is_none()),
            tensor: tensor(Orders::Warp),
            warpgroup: tensor(Orders::Warpgroup),
            tensor_parts: T::ORDERS_OF_PARTS.map_or([false; 2], tensor),
            unaligned: [a, b].map(|it| {
                gains_by_copy::<T>(it.shape.leading) || gains_by_copy::<T>(it.shape.offset)
            }),
            of_k: lines_of_k(T::lines((Orders::Warpgroup, products)), as_they_lie),
        }
    }
}

/// Whether a kernel has the lines of A, and of B, of k: those that it reads, or the given ones
/// where it reads either kind.
pub(super) fn lines_of_k(lines: Option<[Lines; 2]>, given: [bool; 2]) -> [bool; 2] {
    let lines = lines.unwrap_or([Lines::Either; 2]);
    [0, 1].map(|it| match lines[it] {
        Lines::OfK => true,
        Lines::Across => false,
        Lines::Either => given[it],
    })
}

/// A matrix, and whether it lies column after column.
pub(super) fn as_it_lies<T: Real>(matrix: Matrix<'_, T>) -> (Operand<'_, T>, bool) {
    let operand = Operand {
        buffer: matrix.buffer,
        offset: whole(matrix.shape.offset),
        leading: whole(matrix.shape.leading),
    };
    (operand, !matrix.shape.by_rows)
}
