//! Errors of a multiplication.

use std::fmt;

/// An error of [`Gemm`](super::Gemm).
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum GemmError {
    /// The matrices cannot be multiplied.
    #[error(
        "a {0}x{1} matrix times a {2}x{3} matrix is no {4}x{5} matrix: A must have as many rows as C, B as \
         many columns, and A as many columns as B has rows",
        a.0, a.1, b.0, b.1, c.0, c.1
    )]
    Shapes {
        /// Rows and columns of A.
        a: (usize, usize),
        /// Rows and columns of B.
        b: (usize, usize),
        /// Rows and columns of C.
        c: (usize, usize),
    },
    /// The leading dimension is less than what lies side by side.
    #[error(
        "the leading dimension of {name} is {leading}, and {least} elements lie side by side: give at least \
         {least}"
    )]
    Leading {
        /// The matrix.
        name: &'static str,
        /// The leading dimension that was given.
        leading: usize,
        /// The least that is possible.
        least: usize,
    },
    /// The matrix does not fit into its buffer.
    #[error("matrix {name} reaches to element {needed} of a buffer of {len}")]
    TooShort {
        /// The matrix.
        name: &'static str,
        /// How many elements the buffer needs.
        needed: usize,
        /// How many it has.
        len: usize,
    },
    /// The bias of an epilogue is too short.
    #[error("the bias has {len} elements, and C has {columns} columns: give one for each")]
    Bias {
        /// How many elements the bias has.
        len: usize,
        /// How many columns C has.
        columns: usize,
    },
    /// The matrix of a batch's last product does not fit into the buffer.
    #[error("the last of {count} matrices {name} reaches to element {needed} of a buffer of {len}")]
    LastTooShort {
        /// The matrix.
        name: &'static str,
        /// How many products there are.
        count: usize,
        /// How many elements the buffer needs.
        needed: usize,
        /// How many it has.
        len: usize,
    },
    /// Two products of a batch write the same element.
    #[error(
        "matrices C that are {stride} elements apart have elements in common, those of products 0 and \
         {apart} among them: give a stride that leaves each product its own"
    )]
    Overlap {
        /// The distance of successive matrices, in elements.
        stride: usize,
        /// The least difference of the numbers of two products that have an element in common.
        apart: usize,
    },
    /// A size, distance, offset or count of 2^31 or more.
    #[error(
        "{number}, of matrix {name}, is too large: sizes, distances, offsets and counts are less than 2^31"
    )]
    TooLarge {
        /// The matrix.
        name: &'static str,
        /// The number.
        number: usize,
    },
    /// The result has no elements, where the caller is promised an event.
    #[error("matrix {name} has no elements: OpenCL has no empty launches")]
    Empty {
        /// The matrix.
        name: &'static str,
    },
    /// The device does not compute with this type or in this way.
    #[error("{device} has no {what}")]
    Unsupported {
        /// The device.
        device: String,
        /// What it lacks.
        what: &'static str,
    },
    /// A launch or an allocation failed.
    #[error(transparent)]
    Runtime(#[from] cltune::Error),
}

/// As its text, as [`cltune::Error`].
impl fmt::Debug for GemmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
