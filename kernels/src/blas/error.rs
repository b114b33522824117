//! Errors of operations on vectors and matrices.

use std::fmt;

/// An error of the functions of this module.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BlasError {
    /// The vectors have different numbers of elements.
    #[error("vector {x} has {of_x} elements and vector {y} has {of_y}: both need the same number")]
    Lengths {
        /// The first vector.
        x: &'static str,
        /// The number of its elements.
        of_x: usize,
        /// The second vector.
        y: &'static str,
        /// The number of its elements.
        of_y: usize,
    },
    /// The result does not go into a vector of one element.
    #[error("the result is one number, and the vector for it has {len} elements: give one of 1")]
    NoNumber {
        /// The number of elements that were given.
        len: usize,
    },
    /// The elements of a vector are all the same one.
    #[error("vector {name} has stride 0, so that all of its elements are one: give another stride")]
    ZeroStride {
        /// The vector.
        name: &'static str,
    },
    /// A vector has not as many elements as the matrix has rows or columns.
    #[error("vector {name} has {len} elements, and A has {of} {side}: both need the same number")]
    Sides {
        /// The vector.
        name: &'static str,
        /// The number of its elements.
        len: usize,
        /// `rows` or `columns`.
        side: &'static str,
        /// How many A has.
        of: usize,
    },
    /// The matrices do not go together.
    #[error("a {0}x{1} matrix does not go into a {2}x{3} matrix: {hint}", a.0, a.1, b.0, b.1)]
    Shapes {
        /// Rows and columns of what is written.
        a: (usize, usize),
        /// Rows and columns of the matrix that it is written to.
        b: (usize, usize),
        /// What is needed.
        hint: &'static str,
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
    /// The vector or matrix does not fit into its buffer.
    #[error("{name} reaches to element {needed} of a buffer of {len}")]
    TooShort {
        /// The vector or matrix.
        name: &'static str,
        /// How many elements the buffer needs.
        needed: usize,
        /// How many it has.
        len: usize,
    },
    /// The device does not compute with this type.
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
impl fmt::Debug for BlasError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
