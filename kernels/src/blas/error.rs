//! Errors of operations on vectors.

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
    /// The vector does not fit into its buffer.
    #[error("vector {name} reaches to element {needed} of a buffer of {len}")]
    TooShort {
        /// The vector.
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
    Runtime(#[from] cltune_runtime::Error),
}

/// As its text, as [`cltune_runtime::Error`].
impl fmt::Debug for BlasError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
