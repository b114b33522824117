//! Calls for the function that `#[fused]` makes: products of matrices that its arguments describe.
//! Not for use by others, who have [`Gemm::multiply`].

use super::checks::check;
use super::error::GemmError;
use super::multiply::Gemm;
use super::real::Real;
use crate::matrix::{Matrix, MatrixMut, Shape, check_context};
use cltune::{Buffer, Event, Queue};

/// Whether the rows of a matrix are contiguous, and how many rows and columns it has, the distance
/// of lines, and the first element.
type Lies = (bool, [usize; 4]);

impl<T: Real> Gemm<T> {
    /// Whether a multiplication takes these matrices, which have names for messages. Nothing is
    /// launched.
    #[doc(hidden)]
    #[expect(clippy::too_many_arguments, reason = "three matrices")]
    pub fn __check(
        &self,
        queue: &Queue,
        name_of_a: &'static str,
        a: &Buffer<T>,
        lies_a: Lies,
        name_of_b: &'static str,
        b: &Buffer<T>,
        lies_b: Lies,
        name_of_c: &'static str,
        c: &Buffer<T>,
        lies_c: Lies,
    ) -> Result<(), GemmError> {
        let matrices = [
            (name_of_c, c, lies_c),
            (name_of_a, a, lies_a),
            (name_of_b, b, lies_b),
        ];
        self.check_own_context(queue)?;
        for (name, buffer, lies) in matrices {
            check(name, shape(lies), buffer.len())?;
            check_context(queue, buffer, || format!("matrix `{name}`"))?;
        }
        if shape(lies_c).is_empty() {
            return Err(GemmError::Empty { name: name_of_c });
        }
        Ok(())
    }

    /// C <- alpha A B + beta C, of matrices that were checked.
    #[doc(hidden)]
    #[expect(clippy::too_many_arguments, reason = "those of BLAS")]
    pub fn __multiply(
        &mut self,
        queue: &Queue,
        alpha: T::Real,
        a: &Buffer<T>,
        lies_a: Lies,
        b: &Buffer<T>,
        lies_b: Lies,
        beta: T::Real,
        c: &mut Buffer<T>,
        lies_c: Lies,
    ) -> Result<Event, GemmError> {
        let a = Matrix::new(a, shape(lies_a));
        let b = Matrix::new(b, shape(lies_b));
        let c = MatrixMut::new(c, shape(lies_c));
        let event = self.multiply(queue, alpha, a, b, beta, c)?;
        event.ok_or(GemmError::Empty { name: "C" })
    }
}

fn shape((by_rows, [rows, columns, leading, offset]): Lies) -> Shape {
    let shape = if by_rows {
        Shape::row_major(rows, columns)
    } else {
        Shape::column_major(rows, columns)
    };
    shape.leading(leading).offset(offset)
}
