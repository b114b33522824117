//! The chosen kernels, tensor cores among them, are as precise as plain arithmetic.
//!
//! The other tests' numbers have so few bits that TF32 has them exactly; these have all of single
//! precision.

use crate::host::Numbers;
use cltune::{Buffer, Queue};
use cltune_kernels::gemm::{Arithmetic, Gemm, Matrix, MatrixMut, Route, Shape};

/// Rows and columns of C; its sums are of any length.
const SIDE: usize = 96;

/// Factors of a product whose sums have `k` products, and its exact result.
struct Product {
    k: usize,
    left: Buffer<f32>,
    right: Buffer<f32>,
    exact: Vec<f64>,
}

impl Product {
    fn random(queue: &Queue, k: usize) -> Self {
        let mut numbers = Numbers(k as u64);
        let mut random = |count: usize| -> Vec<f32> {
            let all = 1 << 25;
            (0..count)
                .map(|_| numbers.below(all) as f32 / (all / 2) as f32 - 1.0)
                .collect()
        };
        let (left, right) = (random(SIDE * k), random(k * SIDE));
        let exact = (0..SIDE * SIDE).map(|at| {
            let products = (0..k).map(|p| {
                f64::from(left[at / SIDE * k + p]) * f64::from(right[p * SIDE + at % SIDE])
            });
            products.sum()
        });
        Self {
            k,
            exact: exact.collect(),
            left: Buffer::from_slice(queue, &left).unwrap(),
            right: Buffer::from_slice(queue, &right).unwrap(),
        }
    }

    /// || C - exact || / || exact ||, Frobenius' norm; by a route, or the one that is chosen for an
    /// arithmetic.
    fn error(&self, queue: &Queue, arithmetic: Arithmetic, route: Option<Route>) -> f64 {
        let mut sums = Buffer::new(queue.context(), SIDE * SIDE).unwrap();
        let mut gemm = Gemm::new(queue).unwrap().arithmetic(arithmetic);
        let a = Matrix::new(&self.left, Shape::row_major(SIDE, self.k));
        let b = Matrix::new(&self.right, Shape::row_major(self.k, SIDE));
        let c = MatrixMut::new(&mut sums, Shape::row_major(SIDE, SIDE));
        match route {
            Some(route) => gemm.multiply_with(queue, route, 1.0, a, b, 0.0, c),
            None => gemm.multiply(queue, 1.0, a, b, 0.0, c),
        }
        .unwrap();
        let found = sums.read(queue).unwrap();
        let square =
            |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum();
        let wrong: f64 = square(
            &mut found
                .iter()
                .zip(&self.exact)
                .map(|(&a, b)| f64::from(a) - b),
        );
        let exact: f64 = square(&mut self.exact.iter().copied());
        (wrong / exact).sqrt()
    }
}

/// Each may be twice as wrong as plain arithmetic.
fn is_as_precise(of: &str, k: usize, error: f64, plain: f64) {
    assert!(
        error <= 2.0 * plain,
        "{of}, k = {k}: {error:e}, and {plain:e} in plain arithmetic"
    );
    // Of sums of products of either sign, rounded at random.
    assert!(
        plain <= 2.0 * f64::from(f32::EPSILON) * (k as f64).sqrt(),
        "{plain:e}"
    );
}

#[test]
fn what_is_chosen_is_as_precise_as_plain_arithmetic() {
    let queue = Queue::default_device().unwrap();
    for k in [1, 2, 5, 8, 16, 40, 128, 1000, 4096] {
        let product = Product::random(&queue, k);
        let plain = product.error(&queue, Arithmetic::Plain, None);
        let chosen = product.error(&queue, Arithmetic::Automatic, None);
        is_as_precise("what is chosen", k, chosen, plain);
    }
}

#[test]
fn three_products_on_tensor_cores_are_as_precise_as_plain_arithmetic() {
    let queue = Queue::default_device().unwrap();
    let mut routes = Vec::new();
    match queue.device().info().limits.nv_compute_capability {
        90 => routes.extend([Route::Tensor, Route::Warpgroup, Route::TensorParts]),
        80.. => routes.push(Route::Tensor),
        _ => return,
    }
    for k in [16, 40, 128, 1000, 4096] {
        let product = Product::random(&queue, k);
        let plain = product.error(&queue, Arithmetic::Plain, Some(Route::Pipelined));
        for &route in &routes {
            let split = product.error(&queue, Arithmetic::Automatic, Some(route));
            is_as_precise(&format!("{route:?}"), k, split, plain);
        }
    }
}
