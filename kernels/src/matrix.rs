//! Matrices in buffers, for products and for BLAS.

use cltune::{Buffer, Element, Error, Queue};

/// Where a matrix lies in a buffer: its first element, its size, and how far its rows (or columns)
/// are apart. A part of a matrix is a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) offset: usize,
    pub(crate) leading: usize,
    pub(crate) by_rows: bool,
}

impl Shape {
    /// `rows` x `columns` elements, row after row, from the buffer's first element.
    pub const fn row_major(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            offset: 0,
            leading: columns,
            by_rows: true,
        }
    }

    /// `rows` x `columns` elements, column after column, from the buffer's first element.
    pub const fn column_major(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            offset: 0,
            leading: rows,
            by_rows: false,
        }
    }

    /// The leading dimension, in elements: how far the beginnings of successive rows are apart in a
    /// row-major matrix, of successive columns in a column-major one. At least as many as there are
    /// in one.
    #[must_use]
    pub const fn leading(mut self, elements: usize) -> Self {
        self.leading = elements;
        self
    }

    /// The matrix begins at this element of the buffer.
    #[must_use]
    pub const fn offset(mut self, elements: usize) -> Self {
        self.offset = elements;
        self
    }

    /// The transpose: the same elements, rows and columns exchanged. Nothing is moved.
    #[must_use]
    pub const fn transposed(mut self) -> Self {
        (self.rows, self.columns) = (self.columns, self.rows);
        self.by_rows = !self.by_rows;
        self
    }

    /// The number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Whether there are no elements.
    pub(crate) const fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    /// How many elements a buffer must have; `None` where that is no number.
    pub(crate) fn extent(&self) -> Option<usize> {
        if self.is_empty() {
            return Some(self.offset);
        }
        let (lines, length) = if self.by_rows {
            (self.rows, self.columns)
        } else {
            (self.columns, self.rows)
        };
        (lines - 1)
            .checked_mul(self.leading)?
            .checked_add(length)?
            .checked_add(self.offset)
    }

    /// Whether the matrix fits into a buffer of so many elements.
    pub(crate) fn check(&self, len: usize) -> Result<(), Misfit> {
        let least = if self.by_rows {
            self.columns
        } else {
            self.rows
        };
        if self.leading < least {
            let leading = self.leading;
            return Err(Misfit::Leading { leading, least });
        }
        let needed = self.extent().unwrap_or(usize::MAX);
        if needed > len {
            return Err(Misfit::TooShort { needed, len });
        }
        Ok(())
    }
}

/// Why a matrix does not fit into its buffer; [`GemmError`](crate::gemm::GemmError) and
/// [`BlasError`](crate::blas::BlasError) say it with the name of the matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Misfit {
    /// The leading dimension is less than what lies side by side.
    Leading { leading: usize, least: usize },
    /// So many elements are needed of a buffer that has fewer.
    TooShort { needed: usize, len: usize },
}

/// Whether a buffer belongs to the queue's context. A kernel's own check has the names of the
/// kernel's arguments, of which two are exchanged where a matrix lies column after column.
pub(crate) fn check_context<T: Element>(
    queue: &Queue,
    buffer: &Buffer<T>,
    what: impl FnOnce() -> String,
) -> cltune::Result<()> {
    if buffer.context().as_raw() == queue.context().as_raw() {
        return Ok(());
    }
    Err(Error::OtherContext { what: what() })
}

/// A matrix that is read.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T: Element> {
    pub(crate) buffer: &'a Buffer<T>,
    pub(crate) shape: Shape,
}

impl<'a, T: Element> Matrix<'a, T> {
    /// The matrix of this shape in a buffer.
    pub const fn new(buffer: &'a Buffer<T>, shape: Shape) -> Self {
        Self { buffer, shape }
    }

    /// Its transpose: see [`Shape::transposed`].
    #[must_use]
    pub const fn transposed(mut self) -> Self {
        self.shape = self.shape.transposed();
        self
    }

    /// How it lies.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// A matrix that is written.
#[derive(Debug)]
pub struct MatrixMut<'a, T: Element> {
    pub(crate) buffer: &'a mut Buffer<T>,
    pub(crate) shape: Shape,
}

impl<'a, T: Element> MatrixMut<'a, T> {
    /// The matrix of this shape in a buffer.
    pub const fn new(buffer: &'a mut Buffer<T>, shape: Shape) -> Self {
        Self { buffer, shape }
    }

    /// The same, for a call that takes it.
    pub(crate) const fn again(&mut self) -> MatrixMut<'_, T> {
        MatrixMut::new(self.buffer, self.shape)
    }

    /// How it lies.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }
}
