//! Sums in parts, by every route that has them.

use crate::host::{Activation, Ending, Host, Number, Numbers, has_double_precision};
use crate::results::check;
use cltune::{Buffer, Queue, bf16, f16};
use cltune_kernels::gemm::{Gemm, GemmError, Matrix, MatrixMut, Route, Shape};

/// Lengths of sums: less than a tile, one of them, fewer tiles than parts, and many, with and without
/// a rest.
const LENGTHS: [usize; 7] = [1, 15, 16, 40, 129, 512, 1999];

/// Whether the device has a route for a type.
fn is_there<T: Number>(queue: &Queue, route: Route) -> bool {
    let ones = Buffer::from_slice(queue, &[T::from_f64(1.0); 1]).unwrap();
    let mut sum = Buffer::new(queue.context(), 1).unwrap();
    let (matrix, target) = (
        Matrix::new(&ones, Shape::row_major(1, 1)),
        MatrixMut::new(&mut sum, Shape::row_major(1, 1)),
    );
    let (one, zero) = (T::real(1.0), T::real(0.0));
    let done = Gemm::new(queue)
        .unwrap()
        .multiply_with(queue, route, one, matrix, matrix, zero, target);
    !matches!(done, Err(GemmError::Unsupported { .. }))
}

#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn are_right<T: Number>(seed: u64) {
    let queue = Queue::default_device().unwrap();
    assert!(is_there::<T>(&queue, Route::PipelinedParts));
    let mut numbers = Numbers(seed);
    for route in [Route::PipelinedParts, Route::TensorParts] {
        if !is_there::<T>(&queue, route) {
            continue;
        }
        for (case, k) in LENGTHS.into_iter().enumerate() {
            let (m, n) = (numbers.among(&[1, 33, 64, 70]), numbers.among(&[3, 64, 97]));
            let mut random = |rows, columns, bit: usize| {
                let by_rows = case & bit == 0;
                Host::<T>::random(&mut numbers, rows, columns, by_rows, case % 3, case % 2 * 5)
            };
            let (a, b, c) = (random(m, k, 1), random(k, n, 2), random(m, n, 4));
            let ending = Ending {
                bias: case % 2 == 0,
                activation: [None, Some(Activation::Relu), Some(Activation::Gelu)][case % 3],
            };
            let bias: Vec<T> = (0..n).map(|_| T::from_f64(numbers.next())).collect();
            let of = (ending, &bias[..]);
            check(&queue, Some(route), of, &a, &b, &c, -0.5, 0.25);
        }
    }
}

#[test]
fn single_precision_is_right_in_parts() {
    are_right::<f32>(21);
}

#[test]
fn double_precision_is_right_in_parts() {
    if has_double_precision() {
        are_right::<f64>(22);
    }
}

/// More tiles than a device computes at once, of which those of whole rounds are not in parts: with
/// edges, and all that becomes of an element after its sum.
#[test]
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn double_precision_is_right_where_only_the_last_round_is_in_parts() {
    let queue = Queue::default_device().unwrap();
    if !has_double_precision() || !is_there::<f64>(&queue, Route::TensorParts) {
        return;
    }
    let mut numbers = Numbers(26);
    for case in 0..6 {
        let (m, n, k) = (1700 + case, 1801 - case, [40, 131, 300][case % 3]);
        let mut random = |rows, columns, bit: usize| {
            let by_rows = case & bit == 0;
            Host::<f64>::random(&mut numbers, rows, columns, by_rows, case % 3, case % 2 * 5)
        };
        let (a, b, c) = (random(m, k, 1), random(k, n, 2), random(m, n, 4));
        let ending = Ending {
            bias: case % 2 == 0,
            activation: [None, Some(Activation::Relu), Some(Activation::Gelu)][case % 3],
        };
        let bias: Vec<f64> = (0..n).map(|_| numbers.next()).collect();
        let route = Some(Route::TensorParts);
        check(&queue, route, (ending, &bias[..]), &a, &b, &c, -0.5, 0.25);
        let none = Ending {
            bias: false,
            activation: None,
        };
        check(&queue, route, (none, &bias[..]), &a, &b, &c, 1.0, 0.0);
    }
}

#[test]
fn half_precision_and_bfloat16_are_right_in_parts() {
    are_right::<f16>(23);
    are_right::<bf16>(24);
}

/// Numbers with all bits, so that sums in another order differ.
#[test]
fn sums_in_parts_are_the_same_each_time() {
    let queue = Queue::default_device().unwrap();
    let (side, k) = (70, 2500);
    let mut numbers = Numbers(25);
    let mut random = |count: usize| -> Vec<f32> {
        (0..count)
            .map(|_| numbers.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0)
            .collect()
    };
    let (a, b) = (random(side * k), random(k * side));
    let (a, b) = (
        Buffer::from_slice(&queue, &a).unwrap(),
        Buffer::from_slice(&queue, &b).unwrap(),
    );
    for route in [Route::PipelinedParts, Route::TensorParts] {
        if !is_there::<f32>(&queue, route) {
            continue;
        }
        let mut gemm = Gemm::<f32>::new(&queue).unwrap();
        let mut once = || -> Vec<u32> {
            let mut c = Buffer::new(queue.context(), side * side).unwrap();
            let done = gemm.multiply_with(
                &queue,
                route,
                1.0,
                Matrix::new(&a, Shape::row_major(side, k)),
                Matrix::new(&b, Shape::row_major(k, side)),
                0.0,
                MatrixMut::new(&mut c, Shape::row_major(side, side)),
            );
            done.unwrap();
            c.read(&queue)
                .unwrap()
                .into_iter()
                .map(f32::to_bits)
                .collect()
        };
        let first = once();
        for _ in 0..5 {
            assert!(once() == first, "{route:?}");
        }
    }
}
