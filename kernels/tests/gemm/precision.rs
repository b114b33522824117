//! The chosen kernels, tensor cores among them, are as precise as plain arithmetic, and those of
//! double precision have all of its bits.
//!
//! The other tests' numbers have so few bits that TF32 has them exactly, and single precision their
//! sums; these have all of their type.

use crate::host::{Number, Numbers, has_double_precision};
use crate::results::EVERYWHERE;
use crate::tensor_cores::on_tensor_cores;
use cltune::{Buffer, Queue};
use cltune_kernels::gemm::{Arithmetic, Batch, Gemm, GemmOptions, Matrix, MatrixMut, Route, Shape};

/// Rows and columns of C; its sums are of any length.
const SIDE: usize = 96;

/// Factors of a product whose sums have `k` products, and its exact result in two numbers: the
/// nearest, and what that leaves.
struct Product<T: Number> {
    k: usize,
    left: Buffer<T>,
    right: Buffer<T>,
    exact: Vec<(f64, f64)>,
}

/// How a product is computed.
#[derive(Clone, Copy, Debug)]
enum Way {
    Chosen(Arithmetic),
    By(Route),
    /// By the kernel for batches.
    Batch,
}

impl<T: Number> Product<T> {
    /// Of numbers from -1 to 1.
    fn random(queue: &Queue, k: usize, number: fn(&mut Numbers) -> f64) -> Self {
        let mut numbers = Numbers(k as u64);
        let mut random = |count: usize| -> Vec<T> {
            (0..count)
                .map(|_| T::from_f64(number(&mut numbers)))
                .collect()
        };
        let (left, right) = (random(SIDE * k), random(k * SIDE));
        let exact = (0..SIDE * SIDE).map(|at| {
            let factors = (0..k).map(|p| (left[at / SIDE * k + p], right[p * SIDE + at % SIDE]));
            exact_sum(factors.map(|(a, b)| (a.to_f64(), b.to_f64())))
        });
        Self {
            k,
            exact: exact.collect(),
            left: Buffer::from_slice(queue, &left).unwrap(),
            right: Buffer::from_slice(queue, &right).unwrap(),
        }
    }

    /// || C - exact || / || exact ||, Frobenius' norm.
    fn error(&self, queue: &Queue, way: Way) -> f64 {
        let mut sums = Buffer::new(queue.context(), SIDE * SIDE).unwrap();
        let mut gemm = Gemm::new(queue).unwrap();
        let a = Matrix::new(&self.left, Shape::row_major(SIDE, self.k));
        let b = Matrix::new(&self.right, Shape::row_major(self.k, SIDE));
        let c = MatrixMut::new(&mut sums, Shape::row_major(SIDE, SIDE));
        let (one, zero) = (T::real(1.0), T::real(0.0));
        let by_itself = Batch {
            count: 1,
            stride_a: 0,
            stride_b: 0,
            stride_c: 0,
        };
        match way {
            Way::Chosen(arithmetic) => {
                gemm = gemm.arithmetic(arithmetic);
                gemm.multiply(queue, one, a, b, zero, c)
            }
            Way::By(route) => {
                gemm.multiply_with(queue, GemmOptions::from(route), one, a, b, zero, c)
            }
            Way::Batch => gemm.multiply_batched_with(queue, None, one, a, b, zero, c, by_itself),
        }
        .unwrap();
        let found = sums.read(queue).unwrap();
        let (mut wrong, mut size) = (0.0, 0.0);
        for (found, (nearest, rest)) in found.into_iter().zip(&self.exact) {
            wrong += (found.to_f64() - nearest - rest).powi(2);
            size += nearest * nearest;
        }
        (wrong / size).sqrt()
    }
}

/// The sum of products in twice double precision: what rounding loses of each product and of each
/// sum is summed up beside them (Ogita, Rump & Oishi 2005, algorithm 5.3, with a fused
/// multiply-add for the product).
fn exact_sum(factors: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for (a, b) in factors {
        let product = a * b;
        let (of_sum, of_product) = (two_sum(sum, product), a.mul_add(b, -product));
        sum = of_sum.0;
        lost += of_sum.1 + of_product;
    }
    two_sum(sum, lost)
}

/// The sum of two numbers, and what its rounding loses (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// With all 24 bits of single precision.
fn single(numbers: &mut Numbers) -> f64 {
    let all = 1 << 25;
    let at = numbers.below(all) as f32;
    (at / (all / 2) as f32 - 1.0).into()
}

/// With all 53 bits of double precision.
fn double(numbers: &mut Numbers) -> f64 {
    let (high, low) = (numbers.below(1 << 26), numbers.below(1 << 27));
    let size = (high << 27 | low) as f64 / (1_u64 << 53) as f64;
    if numbers.below(2) == 0 { size } else { -size }
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
        let product = Product::<f32>::random(&queue, k, single);
        let plain = product.error(&queue, Way::Chosen(Arithmetic::Plain));
        let chosen = product.error(&queue, Way::Chosen(Arithmetic::Automatic));
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
        let product = Product::<f32>::random(&queue, k, single);
        let plain = product.error(&queue, Way::By(Route::Pipelined));
        for &route in &routes {
            let split = product.error(&queue, Way::By(route));
            is_as_precise(&format!("{route:?}"), k, split, plain);
        }
    }
}

/// A kernel that rounds a factor, a sum or a result to single precision on the way is wrong by
/// 2^-25 of it, which is a hundred million times as much.
#[test]
fn every_route_has_all_bits_of_double_precision() {
    if !has_double_precision() {
        cltune_tests::skip("the device has no double precision");
        return;
    }
    let queue = Queue::default_device().unwrap();
    let routes = EVERYWHERE.into_iter().chain(on_tensor_cores::<f64>(&queue));
    let mut ways: Vec<Way> = routes.flatten().map(Way::By).collect();
    ways.extend([Way::Chosen(Arithmetic::Automatic), Way::Batch]);
    for k in [1, 40, 1000] {
        let product = Product::<f64>::random(&queue, k, double);
        for &way in &ways {
            let error = product.error(&queue, way);
            // Of sums of products of either sign, rounded at random; one product is rounded once.
            let bound = f64::EPSILON * (k as f64).sqrt();
            assert!(error <= bound, "{way:?}, k = {k}: {error:e} of {bound:e}");
        }
    }
}
