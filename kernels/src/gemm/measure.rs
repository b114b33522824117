//! The ways of a product, timed where it is computed. What tuning has measured of other sizes lets
//! expect times that are some percent off, so that another way may be the fastest.

use super::error::GemmError;
use super::multiply::Gemm;
use super::product::Product;
use super::real::{Products, Real};
use super::route::Choice;
use crate::matrix::{Matrix, MatrixMut};
use cltune::Queue;
use std::time::{Duration, Instant};

/// How many ways are timed, those of which the least is expected.
const MOST_TIMED: usize = 6;

/// How many times as long as the shortest a first call may take for its way to have further ones.
const WORTH_TIMING: f64 = 2.0;

/// How often each way has its turn, and for how long.
const TURNS: usize = 5;
const TURN: Duration = Duration::from_millis(1);

/// A way, and the seconds of its calls.
struct Timed {
    choice: Choice,
    seconds: Vec<f64>,
}

impl Timed {
    fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
}

impl<T: Real> Gemm<T> {
    /// Times the ways of multiplying these matrices, and has later calls take the fastest: those
    /// of this `Gemm` for products of these sizes whose matrices lie alike, with any factors and
    /// epilogues. C ← α A B is what C holds afterwards.
    ///
    /// Otherwise calls take the way that lets expect the least time by what tuning has measured of
    /// the same or other sizes. Timed are the six that are expected to be the fastest, which may be
    /// by the same kernel with the values of several sizes; where tuning has measured nothing on
    /// the device, the routes that suit any device of its kind. It builds their kernels, which may
    /// take seconds, and waits for the queue.
    ///
    /// Returns the seconds of a product, from the call until the device has done, as a median;
    /// `None` where C has no elements.
    ///
    /// ```no_run
    /// use cltune_kernels::gemm::{Gemm, Matrix, MatrixMut, Shape};
    /// use cltune::{Buffer, Queue};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let queue = Queue::default_device()?;
    /// let square = Shape::row_major(1000, 1000);
    /// let factor = Buffer::from_slice(&queue, &vec![1.0_f32; 1000 * 1000])?;
    /// let mut product = Buffer::new(queue.context(), 1000 * 1000)?;
    /// let mut gemm = Gemm::new(&queue)?;
    /// let (a, b) = (Matrix::new(&factor, square), Matrix::new(&factor, square));
    /// gemm.measure(&queue, 1.0, a, b, MatrixMut::new(&mut product, square))?;
    /// gemm.multiply(&queue, 1.0, a, b, 0.5, MatrixMut::new(&mut product, square))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Gemm::multiply`]. A way that OpenCL refuses, as for want of memory, is left out unless
    /// all are refused.
    pub fn measure(
        &mut self,
        queue: &Queue,
        alpha: T::Real,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        mut c: MatrixMut<'_, T>,
    ) -> Result<Option<f64>, GemmError> {
        self.check_contexts(queue, a.buffer, b.buffer, c.buffer)?;
        let Some(product) = Product::new(alpha, a, b, T::ZERO, c.again())? else {
            return Ok(None);
        };
        let (size, copies) = (product.size, product.copies(Products::Three));
        queue.finish()?;
        let mut seconds = |gemm: &mut Self, choice| -> Result<f64, GemmError> {
            let begin = Instant::now();
            if let Some(product) = Product::new(alpha, a, b, T::ZERO, c.again())? {
                gemm.multiply_by(queue, choice, Products::Three, product)?;
                queue.finish()?;
            }
            Ok(begin.elapsed().as_secs_f64())
        };
        let (mut ways, mut refused) = (Vec::new(), None);
        for choice in self.worth_timing(size, copies, MOST_TIMED) {
            // The first call builds.
            match seconds(self, choice).and_then(|_| seconds(self, choice)) {
                Ok(once) => ways.push(Timed {
                    choice,
                    seconds: vec![once],
                }),
                Err(error) => refused = Some(error),
            }
        }
        let least = ways.iter().map(Timed::median).fold(f64::INFINITY, f64::min);
        ways.retain(|way| way.median() <= WORTH_TIMING * least);
        for _ in 0..TURNS {
            for way in &mut ways {
                let begin = Instant::now();
                while begin.elapsed() < TURN {
                    way.seconds.push(seconds(self, way.choice)?);
                }
            }
        }
        let fastest = ways
            .iter()
            .min_by(|one, other| one.median().total_cmp(&other.median()));
        if let Some(way) = fastest {
            self.keep_measured(size, copies, way.choice);
            return Ok(Some(way.median()));
        }
        refused.map_or(Ok(None), Err)
    }
}
