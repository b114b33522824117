//! Matrices on the host, in double precision.

use cltune::schedule::{Matrix, Scheduler, SchedulerOptions};
use cltune::{Buffer, Device, Queue, Result};
use cltune_kernels::scheduled::Real;

/// A reproducible generator (Knuth's MMIX constants).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// From -1 to 1, exact in every type.
    pub(crate) fn next(&mut self) -> f64 {
        (self.below(513) as f64 - 256.0) / 256.0
    }

    pub(crate) fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// A type of the tests.
pub(crate) trait Number: Real + std::fmt::Debug {
    fn of(value: f64) -> Self;
    fn value(self) -> f64;
    /// The unit in the last place of 1.
    const ULP: f64;

    /// u ← a + b, v ← a − b.
    fn both(
        queue: &Queue,
        n: u64,
        ab: [&Buffer<Self>; 2],
        uv: [&mut Buffer<Self>; 2],
    ) -> Result<()>;
    /// (u, v) ← (u + v, u − v).
    fn turn(queue: &Queue, n: u64, uv: [&mut Buffer<Self>; 2]) -> Result<()>;
}

macro_rules! number {
    ($number:ident, $module:ident, $both:tt, $turn:tt) => {
        mod $module {
            use cltune::{Buffer, Event, Queue, Result, fused};

            #[fused(name = $both, tune(n = 1024))]
            pub(super) fn both(
                queue: &Queue,
                n: u64,
                #[arg(len = n)] a: &Buffer<$number>,
                #[arg(len = n)] b: &Buffer<$number>,
                #[arg(out, len = n)] u: &mut Buffer<$number>,
                #[arg(out, len = n)] v: &mut Buffer<$number>,
            ) -> Result<Event> {
                u = a + b;
                v = a - b;
            }

            #[fused(name = $turn, tune(n = 1024))]
            pub(super) fn turn(
                queue: &Queue,
                n: u64,
                #[arg(len = n)] u: &mut Buffer<$number>,
                #[arg(len = n)] v: &mut Buffer<$number>,
            ) -> Result<Event> {
                (u, v) = (u + v, u - v);
            }
        }

        impl Number for $number {
            fn of(value: f64) -> Self {
                value as Self
            }

            fn value(self) -> f64 {
                self.into()
            }

            const ULP: f64 = $number::EPSILON as f64;

            fn both(
                queue: &Queue,
                n: u64,
                [a, b]: [&Buffer<Self>; 2],
                [u, v]: [&mut Buffer<Self>; 2],
            ) -> Result<()> {
                $module::both(queue, n, a, b, u, v).map(drop)
            }

            fn turn(queue: &Queue, n: u64, [u, v]: [&mut Buffer<Self>; 2]) -> Result<()> {
                $module::turn(queue, n, u, v).map(drop)
            }
        }
    };
}

number!(f32, single, "both_f32", "turn_f32");
number!(f64, double, "both_f64", "turn_f64");

/// A matrix with, for each element, the most that it may be off.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f64>,
    pub(crate) error: Vec<f64>,
}

impl Host {
    pub(crate) fn random(numbers: &mut Numbers, rows: usize, columns: usize) -> Self {
        let values = (0..rows * columns).map(|_| numbers.next()).collect();
        let error = vec![0.0; rows * columns];
        Self {
            rows,
            columns,
            values,
            error,
        }
    }

    pub(crate) fn transposed(&self) -> Self {
        let places = (0..self.columns)
            .flat_map(|column| (0..self.rows).map(move |row| row * self.columns + column));
        let (values, error) = places.map(|at| (self.values[at], self.error[at])).unzip();
        Self {
            rows: self.columns,
            columns: self.rows,
            values,
            error,
        }
    }

    /// a x + b y, element by element.
    pub(crate) fn combined(&self, a: f64, other: &Self, b: f64, ulp: f64) -> Self {
        let mut result = self.clone();
        for at in 0..result.values.len() {
            let (x, y) = (a * self.values[at], b * other.values[at]);
            result.values[at] = x + y;
            result.error[at] = a.abs() * self.error[at]
                + b.abs() * other.error[at]
                + 2.0 * ulp * (x.abs() + y.abs());
        }
        result
    }

    /// α A B + β C, with the errors of sums in any order.
    pub(crate) fn product(&self, alpha: f64, b: &Self, beta: f64, c: &Self, ulp: f64) -> Self {
        let mut result = c.clone();
        let depth = self.columns;
        for row in 0..self.rows {
            for column in 0..b.columns {
                let (mut sum, mut size, mut error) = (0.0, 0.0, 0.0);
                for at in 0..depth {
                    let (left, right) = (row * depth + at, at * b.columns + column);
                    let (x, y) = (self.values[left], b.values[right]);
                    sum += x * y;
                    size += (x * y).abs();
                    error += self.error[left] * y.abs() + x.abs() * b.error[right];
                }
                let at = row * b.columns + column;
                let before = beta * c.values[at];
                result.values[at] = alpha * sum + before;
                result.error[at] = alpha.abs() * error
                    + beta.abs() * c.error[at]
                    + ulp * (depth as f64 + 8.0) * (alpha.abs() * size + before.abs());
            }
        }
        result
    }
}

/// A matrix of the scheduler with the values of one on the host, which are rounded alike.
pub(crate) fn sent<T: Number>(scheduler: &Scheduler, host: &mut Host, by_rows: bool) -> Matrix<T> {
    let (rows, columns) = (host.rows, host.columns);
    let matrix = if by_rows {
        scheduler.matrix::<T>(rows, columns)
    } else {
        scheduler.matrix_by_columns::<T>(rows, columns)
    };
    let mut matrix = matrix.expect("there is memory");
    let lying = if by_rows {
        host.clone()
    } else {
        host.transposed()
    };
    for (to, from) in matrix.values_mut().iter_mut().zip(&lying.values) {
        *to = T::of(*from);
    }
    matrix
}

/// Compares all elements.
#[track_caller]
pub(crate) fn check<T: Number>(matrix: &Matrix<T>, host: &Host, what: &str) {
    let lying = if matrix.is_by_rows() {
        host.clone()
    } else {
        host.transposed()
    };
    let values = matrix
        .values()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(values.len(), lying.values.len(), "{what}");
    for (at, (found, right)) in values.iter().zip(&lying.values).enumerate() {
        let off = (found.value() - right).abs();
        assert!(
            off <= 2.0 * lying.error[at] + 1e-30,
            "{what}: element {at} is {found:?} instead of {right} (more than {})",
            lying.error[at]
        );
    }
}

/// So many devices that have numbers of a type, from that of the tests on (`CLTUNE_DEVICE`): all
/// there are, again and again, with contexts of their own.
fn devices<T>(count: usize) -> Vec<Device> {
    let mut all = Device::all().expect("there is a device");
    all.rotate_left(Device::select().expect("there is a device").index());
    let has_type = |of: &Device| size_of::<T>() < 8 || of.info().limits.fp64 == 1;
    let able = all.iter().filter(|of| has_type(of)).cycle();
    able.take(count).cloned().collect()
}

pub(crate) fn scheduler<T: Number>(count: usize, memory: usize) -> Scheduler {
    let options = SchedulerOptions::new().device_memory(&[memory]);
    Scheduler::with(&devices::<T>(count), &options).expect("a device has numbers of the type")
}
