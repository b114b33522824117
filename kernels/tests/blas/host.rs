//! Vectors on the host.

use cltune::{Buffer, Queue};
use cltune_kernels::blas::{self, BlasError, Real, Vector, VectorMut};

/// A type of the tests, with how near its results have to be.
pub(crate) trait Number: Real {
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    const ULP: f64;
}

impl Number for f32 {
    fn from_f64(value: f64) -> Self {
        value as Self
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    const ULP: f64 = f32::EPSILON as f64;
}

impl Number for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    const ULP: f64 = f64::EPSILON;
}

/// Whether the device computes with the type. Where it does not, the error says so.
pub(crate) fn device_has<T: Number>(queue: &Queue) -> bool {
    if !T::NEEDS_FP64 || queue.device().info().limits.fp64 == 1 {
        return true;
    }
    println!("{} has no double precision", queue.device());
    let mut x = Buffer::from_slice(queue, &[T::ZERO]).unwrap();
    let error = blas::scal(queue, T::ZERO, VectorMut::new(&mut x, 1)).unwrap_err();
    assert!(matches!(error, BlasError::Unsupported { .. }), "{error}");
    false
}

/// A reproducible generator (Knuth's MMIX constants).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub(crate) fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::try_from(self.below(values.len() as u64)).unwrap()]
    }

    /// From -1 to 1.
    fn next(&mut self) -> f64 {
        (self.below(1 << 20) as f64 - 524_288.0) / 524_288.0
    }
}

/// A vector in a buffer that is longer than it.
pub(crate) struct Host<T> {
    pub(crate) n: usize,
    pub(crate) offset: usize,
    pub(crate) stride: isize,
    /// All elements of the buffer.
    pub(crate) values: Vec<T>,
}

impl<T: Number> Host<T> {
    pub(crate) fn random(numbers: &mut Numbers, n: usize) -> Self {
        let offset = numbers.among(&[0, 0, 1, 3, 8, 130]);
        let stride: isize = numbers.among(&[1, 1, 1, 2, 3, -1, -2, -7]);
        let reach = n.saturating_sub(1) * stride.unsigned_abs() + 1;
        let len = offset + reach + usize::try_from(numbers.below(5)).unwrap();
        let values = (0..len).map(|_| T::from_f64(numbers.next())).collect();
        Self {
            n,
            offset,
            stride,
            values,
        }
    }

    /// A vector of these elements, one after the other.
    pub(crate) fn of(values: Vec<T>) -> Self {
        Self {
            n: values.len(),
            offset: 0,
            stride: 1,
            values,
        }
    }

    /// The place of element `i` in the buffer.
    pub(crate) fn place(&self, i: usize) -> usize {
        let i = if self.stride < 0 { self.n - 1 - i } else { i };
        self.offset + i * self.stride.unsigned_abs()
    }

    pub(crate) fn get(&self, i: usize) -> f64 {
        self.values[self.place(i)].to_f64()
    }

    pub(crate) fn elements(&self) -> Vec<f64> {
        (0..self.n).map(|i| self.get(i)).collect()
    }

    pub(crate) fn buffer(&self, queue: &Queue) -> Buffer<T> {
        Buffer::from_slice(queue, &self.values).unwrap()
    }

    pub(crate) fn vector<'a>(&self, buffer: &'a Buffer<T>) -> Vector<'a, T> {
        Vector::new(buffer, self.n)
            .offset(self.offset)
            .stride(self.stride)
    }

    pub(crate) fn vector_mut<'a>(&self, buffer: &'a mut Buffer<T>) -> VectorMut<'a, T> {
        VectorMut::new(buffer, self.n)
            .offset(self.offset)
            .stride(self.stride)
    }

    /// Compares a whole buffer: the elements of the vector with these, all others with what they
    /// were.
    pub(crate) fn expect(&self, found: &[T], elements: impl Fn(usize) -> f64) {
        self.expect_near(found, 4.0 * T::ULP, elements);
    }

    /// The same, with a bound.
    pub(crate) fn expect_near(&self, found: &[T], bound: f64, elements: impl Fn(usize) -> f64) {
        let mut expected: Vec<f64> = self.values.iter().map(|value| value.to_f64()).collect();
        for i in 0..self.n {
            expected[self.place(i)] = elements(i);
        }
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let near = (found.to_f64() - expected).abs() <= bound;
            assert!(near, "element {at}: {}, not {expected}", found.to_f64());
        }
    }
}
