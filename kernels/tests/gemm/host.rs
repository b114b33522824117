//! Matrices on the host, of every type, that lie in every way.

use cltune::f16;
use cltune_kernels::gemm::{Real, Shape};

/// A type of the tests, with how near its results have to be.
pub(crate) trait Number: Real {
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn real(value: f64) -> Self::Real;
    /// The unit in the last place of 1, of the type and of what sums are computed in.
    const ULPS: (f64, f64);
}

impl Number for f32 {
    fn from_f64(value: f64) -> Self {
        value as Self
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn real(value: f64) -> Self {
        value as Self
    }
    const ULPS: (f64, f64) = (f32::EPSILON as f64, f32::EPSILON as f64);
}

impl Number for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn real(value: f64) -> Self {
        value
    }
    const ULPS: (f64, f64) = (f64::EPSILON, f64::EPSILON);
}

impl Number for f16 {
    fn from_f64(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        Self::to_f64(self)
    }
    fn real(value: f64) -> f32 {
        value as f32
    }
    const ULPS: (f64, f64) = (1.0 / 1024.0, f32::EPSILON as f64);
}

/// A reproducible generator (Knuth's MMIX constants): numbers from -1 to 1 that each type has
/// exactly.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub(crate) fn next(&mut self) -> f64 {
        (self.below(513) as f64 - 256.0) / 256.0
    }

    pub(crate) fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::try_from(self.below(values.len() as u64)).unwrap()]
    }
}

/// A matrix on the host and where it lies.
pub(crate) struct Host<T> {
    pub(crate) values: Vec<T>,
    pub(crate) shape: Shape,
    strides: (usize, usize),
    offset: usize,
}

impl<T: Number> Host<T> {
    /// Rows lie `gap` elements further apart than they have to, from element `offset`.
    pub(crate) fn random(
        numbers: &mut Numbers,
        rows: usize,
        columns: usize,
        by_rows: bool,
        gap: usize,
        offset: usize,
    ) -> Self {
        let (shape, strides, lines) = if by_rows {
            let leading = columns + gap;
            (
                Shape::row_major(rows, columns).leading(leading),
                (leading, 1),
                rows,
            )
        } else {
            let leading = rows + gap;
            (
                Shape::column_major(rows, columns).leading(leading),
                (1, leading),
                columns,
            )
        };
        let len = offset + lines * strides.0.max(strides.1);
        Self {
            values: (0..len).map(|_| T::from_f64(numbers.next())).collect(),
            shape: shape.offset(offset),
            strides,
            offset,
        }
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> usize {
        self.offset + row * self.strides.0 + column * self.strides.1
    }

    pub(crate) fn get(&self, row: usize, column: usize) -> f64 {
        self.values[self.at(row, column)].to_f64()
    }
}
