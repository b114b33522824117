//! The paper's expression, its matrices, and the check of its result.

use cltune::schedule::{Matrix, ScheduleError, Scheduler};
use cltune_kernels::gemm::Arithmetic;
use cltune_kernels::scheduled::{difference, gemm_with, sum};
use std::thread;

/// A, B and C of C = (A + B)(A - B).
pub(crate) struct Expression {
    size: usize,
    pub(crate) a: Matrix<f32>,
    pub(crate) b: Matrix<f32>,
    pub(crate) c: Matrix<f32>,
}

impl Expression {
    /// With numbers in A and B.
    pub(crate) fn new(scheduler: &Scheduler, size: usize) -> Result<Self, ScheduleError> {
        let [mut a, mut b] = [scheduler.matrix(size, size)?, scheduler.matrix(size, size)?];
        fill(&mut a.values_mut(), 7919);
        fill(&mut b.values_mut(), 104_729);
        let c = scheduler.matrix(size, size)?;
        Ok(Self { size, a, b, c })
    }

    /// The bytes of a matrix.
    pub(crate) fn bytes(&self) -> f64 {
        (self.size * self.size * size_of::<f32>()) as f64
    }

    /// The arithmetic operations of the product.
    pub(crate) fn work(&self) -> f64 {
        2.0 * (self.size as f64).powi(3)
    }

    /// C = (A + B)(A - B). Neither A + B nor A - B ever exists as a whole.
    pub(crate) fn enqueue(
        &mut self,
        scheduler: &Scheduler,
        arithmetic: Arithmetic,
    ) -> Result<(), ScheduleError> {
        let left = sum(&self.a, &self.b)?;
        let right = difference(&self.a, &self.b)?;
        gemm_with(scheduler, arithmetic, 1.0, left, right, 0.0, &mut self.c)
    }

    /// C = A B.
    pub(crate) fn enqueue_product(
        &mut self,
        scheduler: &Scheduler,
        arithmetic: Arithmetic,
    ) -> Result<(), ScheduleError> {
        gemm_with(
            scheduler,
            arithmetic,
            1.0,
            &self.a,
            &self.b,
            0.0,
            &mut self.c,
        )
    }

    /// The largest error of C at some places, as a part of what the rounding of sums may be.
    pub(crate) fn check(&self) -> Result<f64, Box<dyn std::error::Error>> {
        const PLACES: usize = 16;
        let (a, b, c) = (self.a.values()?, self.b.values()?, self.c.values()?);
        let n = self.size;
        let value = |matrix: &[f32], row: usize, column: usize| f64::from(matrix[row * n + column]);
        let mut worst: f64 = 0.0;
        for place in 0..PLACES {
            let (row, column) = (place * (n - 1) / (PLACES - 1), (place * 37 + n / 3) % n);
            let (mut right, mut size) = (0.0, 0.0);
            for k in 0..n {
                let left = value(&a, row, k) + value(&b, row, k);
                let product = left * (value(&a, k, column) - value(&b, k, column));
                right += product;
                size += product.abs();
            }
            let off = (value(&c, row, column) - right).abs();
            worst = worst.max(off / (f64::from(f32::EPSILON) * size * n as f64));
        }
        if worst <= 1.0 {
            Ok(worst)
        } else {
            Err(format!("the result is wrong by {worst} times what rounding may be").into())
        }
    }
}

/// Numbers from -0.5 to 0.5, by all cores.
fn fill(values: &mut [f32], step: usize) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let part = values.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        for (position, chunk) in values.chunks_mut(part).enumerate() {
            scope.spawn(move || {
                for (at, value) in chunk.iter_mut().enumerate() {
                    let number = (position * part + at).wrapping_mul(step) % 1021;
                    *value = number as f32 / 1021.0 - 0.5;
                }
            });
        }
    });
}
