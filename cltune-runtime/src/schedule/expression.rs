//! Operands of an operation: matrices, and temporaries that exist per block only.

use super::error::ScheduleError;
use super::kernel::{AnyKernel, MapKernel, Typed};
use super::matrix_core::MatrixCore;
use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::Result;
use crate::queue::Queue;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// A matrix, or what a kernel computes from matrices element by element.
///
/// It is computed block by block on the devices, where and when an operation needs it, and never
/// exists as a whole: `gemm(1.0, sum(&a, &b)?, difference(&a, &b)?, …)` needs memory for three
/// matrices instead of five.
#[derive(Clone)]
pub struct Expression<'a, T: Element> {
    pub(super) node: Arc<Node>,
    /// Its first line, and the first element of each.
    pub(super) origin: [usize; 2],
    /// As it lies: lines and their length.
    pub(super) stored: [usize; 2],
    /// Whether lines are rows.
    pub(super) by_rows: bool,
    /// Borrows the matrices.
    matrices: PhantomData<&'a T>,
}

/// A matrix or a temporary.
pub(super) enum Node {
    Matrix(Arc<MatrixCore>),
    Map {
        kernel: Arc<dyn AnyKernel>,
        /// Each with its first line and the first element of each.
        inputs: Vec<(Arc<Node>, [usize; 2])>,
    },
}

impl Node {
    /// The number of blocks that are sent for a block, and of those that are computed on the way.
    pub(super) fn leaves(&self) -> usize {
        match self {
            Self::Matrix(_) => 1,
            // A temporary of a temporary is in memory beside what it is computed from.
            Self::Map { inputs, .. } => {
                let of = |(input, _): &(Arc<Self>, _)| match &**input {
                    Self::Matrix(_) => 1,
                    Self::Map { .. } => 1 + input.leaves(),
                };
                inputs.iter().map(of).sum()
            }
        }
    }

    pub(super) const fn is_computed(&self) -> bool {
        matches!(self, Self::Map { .. })
    }
}

impl<'a, T: Element> Expression<'a, T> {
    /// A matrix.
    pub(super) fn of(core: &'a Arc<MatrixCore>, by_rows: bool) -> Self {
        Self {
            node: Arc::new(Node::Matrix(Arc::clone(core))),
            origin: [0; 2],
            stored: [core.lines, core.length],
            by_rows,
            matrices: PhantomData,
        }
    }

    /// The transpose: the same elements, rows and columns exchanged.
    #[must_use]
    pub fn transposed(mut self) -> Self {
        self.by_rows = !self.by_rows;
        self
    }

    /// The part with these rows and columns.
    ///
    /// # Errors
    /// [`ScheduleError::Shape`] when there are not so many, [`ScheduleError::Empty`].
    pub fn part(
        mut self,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Self, ScheduleError> {
        let (all_rows, all_columns) = (self.rows(), self.columns());
        if rows.is_empty() || columns.is_empty() {
            let (rows, columns) = (rows.len(), columns.len());
            return Err(ScheduleError::Empty { rows, columns });
        }
        if rows.end > all_rows || columns.end > all_columns {
            return Err(ScheduleError::Shape {
                operation: "part".to_owned(),
                what: "the matrix".to_owned(),
                found: format!("{all_rows} x {all_columns}"),
                expected: format!("at least {} x {}", rows.end, columns.end),
            });
        }
        let (lines, line) = if self.by_rows {
            (rows, columns)
        } else {
            (columns, rows)
        };
        self.origin = [self.origin[0] + lines.start, self.origin[1] + line.start];
        self.stored = [lines.len(), line.len()];
        Ok(self)
    }

    /// The number of rows.
    pub const fn rows(&self) -> usize {
        self.stored[if self.by_rows { 0 } else { 1 }]
    }

    /// The number of columns.
    pub const fn columns(&self) -> usize {
        self.stored[if self.by_rows { 1 } else { 0 }]
    }

    /// Whether its rows lie one after the other; its columns do otherwise.
    pub const fn is_by_rows(&self) -> bool {
        self.by_rows
    }
}

impl<T: Element> From<&Self> for Expression<'_, T> {
    fn from(expression: &Self) -> Self {
        expression.clone()
    }
}

/// What a function computes from the elements at one position of matrices of one shape. The
/// function launches a kernel, for example a `#[fused]` one, that computes so many elements from
/// the beginning of the buffers.
///
/// ```no_run
/// # use cltune::schedule::{Matrix, map};
/// # use cltune::{Buffer, Event, Queue, Result};
/// # type Add = fn(&Queue, u64, &Buffer<f32>, &Buffer<f32>, &mut Buffer<f32>) -> Result<Event>;
/// # fn example(add: Add, a: &Matrix<f32>, b: &Matrix<f32>)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// let sum = map("add", [a, b], move |queue, len, [a, b], sum| {
///     add(queue, len as u64, a, b, sum).map(drop)
/// })?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ScheduleError::Shape`], [`ScheduleError::Layout`].
pub fn map<'a, T, E, F, const N: usize>(
    name: &str,
    inputs: [E; N],
    function: F,
) -> Result<Expression<'a, T>, ScheduleError>
where
    T: Element,
    E: Into<Expression<'a, T>>,
    F: Fn(&Queue, usize, [&Buffer<T>; N], &mut Buffer<T>) -> Result<()> + Send + Sync + 'static,
{
    let inputs = inputs.map(Into::into);
    let Some(first) = inputs.first() else {
        return Err(ScheduleError::Shape {
            operation: name.to_owned(),
            what: "the list of operands".to_owned(),
            found: "empty".to_owned(),
            expected: "at least one operand".to_owned(),
        });
    };
    for (position, input) in inputs.iter().enumerate() {
        let what = format!("operand {}", position + 1);
        if [input.rows(), input.columns()] != [first.rows(), first.columns()] {
            return Err(ScheduleError::Shape {
                operation: name.to_owned(),
                what,
                found: format!("{} x {}", input.rows(), input.columns()),
                expected: format!("{} x {}", first.rows(), first.columns()),
            });
        }
        if input.by_rows != first.by_rows {
            let operation = name.to_owned();
            return Err(ScheduleError::Layout { operation, what });
        }
    }
    let (stored, by_rows) = (first.stored, first.by_rows);
    let kernel = MapKernel::<N, 1, _> {
        name: name.to_owned(),
        function: move |queue: &Queue,
                        len: usize,
                        inputs: [&Buffer<T>; N],
                        [output]: [&mut Buffer<T>; 1]| {
            function(queue, len, inputs, output)
        },
    };
    let inputs = inputs.map(|input| (input.node, input.origin));
    Ok(Expression {
        node: Arc::new(Node::Map {
            kernel: Arc::new(Typed::<T, _>::new(kernel)),
            inputs: inputs.into(),
        }),
        origin: [0; 2],
        stored,
        by_rows,
        matrices: PhantomData,
    })
}
