//! Matrices on the host, of every type, that lie in every way.

use cltune::{Buffer, Queue, bf16, f16};
use cltune_kernels::gemm::{GemmOptions, Real, Shape};

/// How many random cases are tested: all by `scripts/test --full`, a twentieth otherwise, rounded
/// up, since drivers compile nearly each of them.
pub(crate) fn cases(all: usize) -> usize {
    if cltune_tests::is_full() {
        all
    } else {
        all.div_ceil(20)
    }
}

pub(crate) fn has_double_precision() -> bool {
    let queue = Queue::default_device().unwrap();
    queue.device().info().limits.fp64 == 1
}

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

impl Number for bf16 {
    fn from_f64(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        Self::to_f64(self)
    }
    fn real(value: f64) -> f32 {
        value as f32
    }
    const ULPS: (f64, f64) = (1.0 / 128.0, f32::EPSILON as f64);
}

/// An epilogue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    pub(crate) bias: bool,
    pub(crate) activation: Option<Activation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    Relu,
    Gelu,
}

impl Ending {
    /// As options of a multiplication.
    pub(crate) fn options<T: Number>(self, bias: &Buffer<T>) -> GemmOptions<'_, T> {
        let mut options = GemmOptions::new();
        if self.bias {
            options = options.bias(bias);
        }
        match self.activation {
            None => options,
            Some(Activation::Relu) => options.relu(),
            Some(Activation::Gelu) => options.gelu(),
        }
    }
}

/// A reproducible generator (Knuth's MMIX constants): numbers from -1 to 1 that each type but
/// `bf16`, which rounds them, has exactly.
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

    /// With values for as many matrices as a batch has, `stride` apart.
    pub(crate) fn repeated(mut self, numbers: &mut Numbers, count: usize, stride: usize) -> Self {
        let more = count.saturating_sub(1) * stride;
        self.values
            .extend((0..more).map(|_| T::from_f64(numbers.next())));
        self
    }

    /// The same elements as the transpose.
    pub(crate) fn transpose(&mut self) {
        self.shape = self.shape.transposed();
        self.strides = (self.strides.1, self.strides.0);
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> usize {
        self.offset + row * self.strides.0 + column * self.strides.1
    }

    pub(crate) fn get(&self, row: usize, column: usize) -> f64 {
        self.values[self.at(row, column)].to_f64()
    }
}

/// C after α A B + β C: the exact values and how far each may be off. What is in no matrix must
/// not change.
pub(crate) struct Expected {
    values: Vec<f64>,
    bounds: Vec<f64>,
}

impl Expected {
    /// C as it is.
    pub(crate) fn unchanged<T: Number>(c: &Host<T>) -> Self {
        Self {
            values: c.values.iter().map(|value| value.to_f64()).collect(),
            bounds: vec![0.0; c.values.len()],
        }
    }

    /// After the product of matrices that begin so many elements after these.
    pub(crate) fn after<T: Number>(
        mut self,
        [a, b, c]: [(&Host<T>, usize); 3],
        alpha: f64,
        beta: f64,
    ) -> Self {
        let get = |(host, begin): (&Host<T>, usize), row, column| {
            host.values[begin + host.at(row, column)].to_f64()
        };
        let k = a.0.shape.columns();
        for row in 0..c.0.shape.rows() {
            for column in 0..c.0.shape.columns() {
                let products = (0..k).map(|p| get(a, row, p) * get(b, p, column));
                let (sum, size) = products.fold((0.0, 0.0), |(sum, size), product| {
                    (sum + product, size + product.abs())
                });
                let old = if beta == 0.0 {
                    0.0
                } else {
                    beta * get(c, row, column)
                };
                let at = c.1 + c.0.at(row, column);
                self.values[at] = alpha * sum + old;
                // Higham 2002, section 3.1: the error of a sum of k products is at most k units of
                // the sum of their sizes; rounding the result is one unit more.
                let (stored, computed) = T::ULPS;
                self.bounds[at] = computed * (k + 4) as f64 * (alpha.abs() * size + old.abs())
                    + stored * self.values[at].abs()
                    + 1e-300;
            }
        }
        self
    }

    /// After an epilogue, with the bias of each column.
    pub(crate) fn finished<T: Number>(mut self, c: &Host<T>, ending: Ending, bias: &[T]) -> Self {
        let (stored, computed) = T::ULPS;
        for row in 0..c.shape.rows() {
            for (column, bias) in bias.iter().enumerate().take(c.shape.columns()) {
                let at = c.at(row, column);
                let (value, bound) = (&mut self.values[at], &mut self.bounds[at]);
                if ending.bias {
                    *value += bias.to_f64();
                    *bound += stored * value.abs() + computed * (value.abs() + bias.to_f64().abs());
                }
                // NaN is not below 0.
                if ending.activation == Some(Activation::Relu) && *value < 0.0 {
                    *value = 0.0;
                }
                if ending.activation == Some(Activation::Gelu) {
                    let before = value.abs();
                    *value *= 0.5 * libm::erfc(-*value * std::f64::consts::FRAC_1_SQRT_2);
                    // The greatest slope is 1.13, and OpenCL's `erf` is off by up to 16 units.
                    *bound = 1.2 * *bound + stored * value.abs() + 20.0 * computed * before;
                }
            }
        }
        self
    }

    /// Fails with `what` where an element is too far off.
    pub(crate) fn is_found<T: Number>(&self, found: &[T], what: impl Fn() -> String) {
        assert_eq!(found.len(), self.values.len());
        let expected = self.values.iter().zip(&self.bounds);
        for (at, (found, (&value, &bound))) in found.iter().zip(expected).enumerate() {
            let (found, is_both_nan) = (found.to_f64(), found.to_f64().is_nan() && value.is_nan());
            assert!(
                is_both_nan || (found - value).abs() <= bound,
                "{}: element {at} is {found} instead of {value}",
                what()
            );
        }
    }
}
