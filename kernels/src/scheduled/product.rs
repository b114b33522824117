//! Products: panel after panel is added to a tile of the result that stays on the device.

use super::real::Real;
use crate::gemm::{Arithmetic, Gemm, GemmError, Matrix as Blocks, MatrixMut as Tile, Shape};
use cltune::Queue;
use cltune::schedule::{
    Axis, BlockCall, BlockError, BlockKernel, Expression, Matrix, Operation, ScheduleError,
    Scheduler,
};

/// Copies of operands that [`Gemm`] makes, with what their last panels are filled up by, as a part
/// of the operands.
const COPIES: f64 = 1.25;

/// Enqueues C ← α A B + β C. A and B are matrices, their transposes, or temporaries, and lie in any
/// order. As BLAS has it, C is not read where β is 0.
///
/// # Errors
/// [`ScheduleError::Shape`], [`ScheduleError::OtherScheduler`].
pub fn gemm<'a, T: Real>(
    scheduler: &Scheduler,
    alpha: T,
    a: impl Into<Expression<'a, T>>,
    b: impl Into<Expression<'a, T>>,
    beta: T,
    c: &mut Matrix<T>,
) -> Result<(), ScheduleError> {
    gemm_with(scheduler, Arithmetic::Automatic, alpha, a, b, beta, c)
}

/// Enqueues y ← α A x + β y, for vectors of [`Scheduler::vector`]; otherwise as [`gemm`].
///
/// # Errors
/// As [`gemm`].
pub fn gemv<'a, T: Real>(
    scheduler: &Scheduler,
    alpha: T,
    a: impl Into<Expression<'a, T>>,
    x: impl Into<Expression<'a, T>>,
    beta: T,
    y: &mut Matrix<T>,
) -> Result<(), ScheduleError> {
    gemm(scheduler, alpha, a, x, beta, y)
}

/// As [`gemm`], with this arithmetic instead of [`Arithmetic::Automatic`].
///
/// # Errors
/// As [`gemm`].
pub fn gemm_with<'a, T: Real>(
    scheduler: &Scheduler,
    arithmetic: Arithmetic,
    alpha: T,
    a: impl Into<Expression<'a, T>>,
    b: impl Into<Expression<'a, T>>,
    beta: T,
    c: &mut Matrix<T>,
) -> Result<(), ScheduleError> {
    let (a, b) = (a.into(), b.into());
    let (rows, columns, depth) = (c.rows(), c.columns(), a.columns());
    let kernel = Product {
        alpha,
        beta,
        arithmetic,
        by_rows: [a.is_by_rows(), b.is_by_rows(), c.is_by_rows()],
    };
    for (what, found, expected) in [
        ("A", [a.rows(), a.columns()], [rows, depth]),
        ("B", [b.rows(), b.columns()], [depth, columns]),
    ] {
        if found != expected {
            return Err(ScheduleError::Shape {
                operation: BlockKernel::<T>::name(&kernel),
                what: what.to_owned(),
                found: format!("{} x {}", found[0], found[1]),
                expected: format!("{} x {}", expected[0], expected[1]),
            });
        }
    }
    let [of_a, of_b, of_c] = [
        ([Axis::I, Axis::K], kernel.by_rows[0]),
        ([Axis::K, Axis::J], kernel.by_rows[1]),
        ([Axis::I, Axis::J], kernel.by_rows[2]),
    ]
    .map(|([rows, columns], by_rows)| {
        if by_rows {
            [rows, columns]
        } else {
            [columns, rows]
        }
    });
    let operation = Operation::new(kernel, [rows, columns, depth], of_c)
        .input(a, of_a)
        .input(b, of_b)
        .work(2.0)
        .workspace(COPIES);
    let operation = if beta == T::ZERO {
        operation
    } else {
        operation.reads_output()
    };
    scheduler.enqueue(operation, c)
}

/// Adds the product of two panels to a tile.
struct Product<T> {
    alpha: T,
    beta: T,
    arithmetic: Arithmetic,
    /// How A, B and C lie.
    by_rows: [bool; 3],
}

impl<T: Real> BlockKernel<T> for Product<T> {
    type Kept = Gemm<T>;

    fn name(&self) -> String {
        let plain = match self.arithmetic {
            Arithmetic::Plain => " (plain)",
            Arithmetic::Automatic => "",
        };
        format!("product of {}{plain}", T::NAME)
    }

    fn prepare(&self, queue: &Queue) -> Result<Gemm<T>, BlockError> {
        let gemm = Gemm::new(queue).map_err(blamed)?;
        Ok(gemm.arithmetic(self.arithmetic))
    }

    fn expected_seconds(&self, gemm: &Gemm<T>, [m, n, k]: [usize; 3]) -> Option<f64> {
        gemm.expected_seconds(m, n, k)
    }

    fn launch(
        &self,
        queue: &Queue,
        gemm: &mut Gemm<T>,
        mut call: BlockCall<'_, T>,
    ) -> Result<(), BlockError> {
        let ([a, b], [c]) = (&call.inputs[..], &mut call.outputs[..]) else {
            return Err("a product has two operands and a result".into());
        };
        let shape = |lines, length, leading, by_rows: bool| {
            let shape = Shape::row_major(lines, length).leading(leading);
            if by_rows { shape } else { shape.transposed() }
        };
        let [a, b] = [(*a, self.by_rows[0]), (*b, self.by_rows[1])].map(|(block, by_rows)| {
            let shape = shape(block.lines, block.length, block.leading, by_rows);
            Blocks::new(block.buffer, shape)
        });
        let of_c = shape(c.lines, c.length, c.leading, self.by_rows[2]);
        let c = Tile::new(c.buffer, of_c);
        let beta = if call.is_first { self.beta } else { T::ONE };
        let launched = gemm.multiply(queue, self.alpha, a, b, beta, c);
        launched.map(drop).map_err(blamed)
    }
}

/// An error with that of the run time on top, where there is one.
fn blamed(error: GemmError) -> BlockError {
    match error {
        GemmError::Runtime(error) => error.into(),
        other => other.into(),
    }
}
