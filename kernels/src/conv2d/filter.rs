//! Weights on a device.

use super::factors;
use cltune::{Buffer, Queue};
use std::fmt;

/// A square filter of an odd size, in the memory of a queue's device.
#[derive(Debug)]
pub struct Filter {
    size: u32,
    weights: Buffer<f32>,
    factors: Option<Buffer<f32>>,
}

/// Why there is no such filter.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The size is even, or zero, or too large.
    #[error(
        "a filter of {size} x {size} weights: the size must be odd, from 1 to {}; pad an even one \
         with a row and a column of zeros",
        Filter::LARGEST
    )]
    Size {
        /// The size.
        size: u32,
    },
    /// There are more or fewer weights than the size says.
    #[error("a filter of {size} x {size} has {} weights, not {found}", size * size)]
    Weights {
        /// The size.
        size: u32,
        /// The number of weights given.
        found: usize,
    },
    /// The weights cannot be uploaded.
    #[error(transparent)]
    Runtime(#[from] cltune::Error),
}

/// As its text, as [`cltune::Error`].
impl fmt::Debug for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Filter {
    /// The largest size: its weights fit into the constant memory that every OpenCL device has,
    /// 64 KiB.
    pub const LARGEST: u32 = 127;

    /// A filter of `size` x `size` weights, row by row.
    ///
    /// Weights that are the products of a column and a row, as those of Gaussian, box and Sobel
    /// filters, are recognised ([`Filter::factors()`]): filtering takes `2 * size` multiplications
    /// for each pixel then, not `size * size`.
    ///
    /// # Errors
    /// [`FilterError`].
    pub fn new(queue: &Queue, size: u32, weights: &[f32]) -> Result<Self, FilterError> {
        if size.is_multiple_of(2) || size > Self::LARGEST {
            return Err(FilterError::Size { size });
        }
        if weights.len() != (size * size) as usize {
            return Err(FilterError::Weights {
                size,
                found: weights.len(),
            });
        }
        Ok(Self {
            size,
            weights: Buffer::from_slice(queue, weights)?,
            factors: factors::of(size, weights)
                .map(|factors| Buffer::from_slice(queue, &factors))
                .transpose()?,
        })
    }

    /// The number of rows and of columns.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The weights on the device, row by row.
    pub fn weights(&self) -> &Buffer<f32> {
        &self.weights
    }

    /// The column and, behind it, the row whose products the weights are, on the device; none where
    /// there are no such.
    ///
    /// A product may differ from its weight by `size * f32::EPSILON` of it. None are looked for
    /// where there is one weight, all are zero, or one is infinite or NaN.
    pub fn factors(&self) -> Option<&Buffer<f32>> {
        self.factors.as_ref()
    }
}
