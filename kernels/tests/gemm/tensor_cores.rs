//! Every route on tensor cores that a device has; where it has none, that it says so.

use crate::host::{Activation, Ending, Expected, Host, Number, Numbers, has_double_precision};
use crate::results::{check, random_cases};
use cltune::{Buffer, Queue, bf16, f16};
use cltune_kernels::gemm::{Batch, Gemm, GemmError, GemmOptions, Matrix, MatrixMut, Route, Shape};

/// A type and its routes on tensor cores.
pub(crate) trait OnTensorCores: Number {
    /// Since compute capability 8.0, and of 9.0 besides.
    const ROUTES: (&'static [Route], &'static [Route]);
}

impl OnTensorCores for f32 {
    const ROUTES: (&'static [Route], &'static [Route]) =
        (&[Route::Tensor], &[Route::Warpgroup, Route::TensorParts]);
}
impl OnTensorCores for f64 {
    const ROUTES: (&'static [Route], &'static [Route]) =
        (&[Route::Tensor, Route::TensorParts], &[]);
}
impl OnTensorCores for f16 {
    const ROUTES: (&'static [Route], &'static [Route]) = (&[], &[Route::Warpgroup]);
}
impl OnTensorCores for bf16 {
    const ROUTES: (&'static [Route], &'static [Route]) = (&[], &[Route::Warpgroup]);
}

/// The routes on tensor cores that a device has for a type.
pub(crate) fn on_tensor_cores<T: OnTensorCores>(queue: &Queue) -> Vec<Option<Route>> {
    let capability = queue.device().info().limits.nv_compute_capability;
    let (since_80, of_90) = T::ROUTES;
    let mut routes = Vec::new();
    if capability >= 80 {
        routes.extend(since_80);
    }
    if capability == 90 {
        routes.extend(of_90);
    }
    routes.into_iter().map(Some).collect()
}

/// Those that are there are right, and the others refused before anything is launched.
fn are_right_or_refused<T: OnTensorCores>(seed: u64) {
    let queue = Queue::default_device().unwrap();
    let there = on_tensor_cores::<T>(&queue);
    if !there.is_empty() {
        random_cases::<T>(seed, &there, 60);
    }
    let ones = Buffer::from_slice(&queue, &[T::from_f64(1.0); 16]).unwrap();
    let mut sums = Buffer::from_slice(&queue, &[T::from_f64(7.0); 16]).unwrap();
    let (matrix, shape) = (
        Matrix::new(&ones, Shape::row_major(4, 4)),
        Shape::row_major(4, 4),
    );
    let (one, zero) = (T::real(1.0), T::real(0.0));
    let mut gemm = Gemm::new(&queue).unwrap();
    let batch = Batch {
        count: 1,
        stride_a: 0,
        stride_b: 0,
        stride_c: 16,
    };
    for route in [Route::Tensor, Route::Warpgroup, Route::TensorParts] {
        if there.contains(&Some(route)) {
            continue;
        }
        let target = MatrixMut::new(&mut sums, shape);
        let by_itself = gemm.multiply_with(&queue, route, one, matrix, matrix, zero, target);
        let target = MatrixMut::new(&mut sums, shape);
        let in_a_batch = gemm.multiply_batched_with(
            &queue,
            Some(route),
            one,
            matrix,
            matrix,
            zero,
            target,
            batch,
        );
        for refused in [by_itself, in_a_batch] {
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("compute capability"), "{route:?}: {said}");
        }
        let left = sums.read(&queue).unwrap();
        assert!(left.iter().all(|sum| sum.to_f64() == 7.0), "{route:?}");
    }
}

#[test]
fn single_precision_is_right_on_tensor_cores() {
    are_right_or_refused::<f32>(4);
}

#[test]
fn double_precision_is_right_on_tensor_cores() {
    if has_double_precision() {
        are_right_or_refused::<f64>(7);
    }
}

#[test]
fn half_precision_and_bfloat16_are_right_on_tensor_cores() {
    are_right_or_refused::<f16>(8);
    are_right_or_refused::<bf16>(11);
}

/// Lines of 68 and 516 elements begin at multiples of 16 bytes, where tensor cores read them as
/// they lie; 600 x 516 are several tiles.
#[test]
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn single_precision_is_right_however_aligned_matrices_lie() {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(26);
    let ending = Ending {
        bias: true,
        activation: Some(Activation::Relu),
    };
    for route in on_tensor_cores::<f32>(&queue) {
        for case in 0..8 {
            let (m, n, k) = [(100, 68, 44), (600, 516, 300)][case / 4];
            let mut random = |rows, columns, bit: usize| {
                let by_rows = case & bit == 0;
                Host::<f32>::random(&mut numbers, rows, columns, by_rows, case % 3 * 4, 4)
            };
            let (a, b) = (random(m, k, 1), random(k, n, 2));
            // Column after column, it is the product of the transposes.
            let c = Host::random(&mut numbers, m, n, case != 1, case % 2, 0);
            let bias: Vec<f32> = (0..n).map(|_| numbers.next() as f32).collect();
            check(&queue, route, (ending, &bias), &a, &b, &c, -0.5, 1.0);
        }
    }
}

/// Whether the device has TF32; where it has none, that it says so.
fn has_tf32(queue: &Queue) -> bool {
    if queue.device().info().limits.nv_compute_capability >= 80 {
        return true;
    }
    let ones = Buffer::from_slice(queue, &[1.0_f32; 16]).unwrap();
    let mut sums = Buffer::from_slice(queue, &[7.0; 16]).unwrap();
    let matrix = Matrix::new(&ones, Shape::row_major(4, 4));
    let target = MatrixMut::new(&mut sums, Shape::row_major(4, 4));
    let mut gemm = Gemm::new(queue).unwrap();
    let refused = gemm.multiply_tf32(queue, 1.0, matrix, matrix, 0.0, target);
    assert!(matches!(
        refused.unwrap_err(),
        GemmError::Unsupported { .. }
    ));
    assert_eq!(sums.read(queue).unwrap(), [7.0; 16]);
    false
}

/// The numbers of these matrices have so few bits that TF32 has them exactly. Lines of 68 and 516
/// elements begin at multiples of 16 bytes, those of 65 do not, and are copied; 600 x 516 are
/// several tiles of each kind.
#[test]
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn tf32_is_right_however_matrices_lie() {
    let queue = Queue::default_device().unwrap();
    if !has_tf32(&queue) {
        return;
    }
    let mut numbers = Numbers(9);
    for case in 0..24 {
        let (m, n) = [(97, 65), (100, 68), (600, 516)][case / 8];
        let k = [40 + case, 1 + case, 132][case / 8];
        let mut random = |rows, columns, bit: usize| {
            let by_rows = case & bit == 0;
            Host::<f32>::random(&mut numbers, rows, columns, by_rows, case % 3 * 4, 4)
        };
        let (a, b, c) = (random(m, k, 1), random(k, n, 2), random(m, n, 4));
        let [of_a, of_b, mut of_c] =
            [&a, &b, &c].map(|host| Buffer::from_slice(&queue, &host.values).unwrap());
        let done = Gemm::new(&queue).unwrap().multiply_tf32(
            &queue,
            1.0,
            Matrix::new(&of_a, a.shape),
            Matrix::new(&of_b, b.shape),
            0.5,
            MatrixMut::new(&mut of_c, c.shape),
        );
        done.unwrap();
        let found = of_c.read(&queue).unwrap();
        Expected::unchanged(&c)
            .after([(&a, 0), (&b, 0), (&c, 0)], 1.0, 0.5)
            .is_found(&found, || format!("case {case}, {m} x {n} x {k}"));
    }
}

/// Both ways in which B can lie.
fn both_ways(rows: usize, columns: usize) -> [Shape; 2] {
    [
        Shape::row_major(rows, columns),
        Shape::column_major(rows, columns),
    ]
}

/// Factors of three quarters of a unit in TF32's last place are a whole one, and of a quarter none.
#[test]
fn tf32_is_rounded_to_nearest_however_b_lies() {
    let queue = Queue::default_device().unwrap();
    if !has_tf32(&queue) {
        return;
    }
    let (side, k) = (64, 16);
    let ulp = 1.0 / 1024.0;
    let factors = [1.0_f32, 1.0 + 0.75 * ulp, 1.0 + 0.25 * ulp];
    let rounded = [1.0, 1.0 + ulp, 1.0];
    for (left, right) in [(0, 1), (1, 0), (0, 2), (2, 0)] {
        let a = Buffer::from_slice(&queue, &vec![factors[left]; side * k]).unwrap();
        let b = Buffer::from_slice(&queue, &vec![factors[right]; k * side]).unwrap();
        for of_b in both_ways(k, side) {
            let mut c = Buffer::new(queue.context(), side * side).unwrap();
            let mut gemm = Gemm::new(&queue).unwrap();
            let target = MatrixMut::new(&mut c, Shape::row_major(side, side));
            let (a, b) = (
                Matrix::new(&a, Shape::row_major(side, k)),
                Matrix::new(&b, of_b),
            );
            gemm.multiply_tf32(&queue, 1.0, a, b, 0.0, target).unwrap();
            let expected = k as f32 * rounded[left] * rounded[right];
            assert_eq!(
                c.read(&queue).unwrap(),
                vec![expected; side * side],
                "factors {left} and {right}, {of_b:?}"
            );
        }
    }
}

#[test]
fn infinities_and_what_is_no_number_spread_in_tf32() {
    let queue = Queue::default_device().unwrap();
    if !has_tf32(&queue) {
        return;
    }
    let side = 40;
    let mut left = vec![1.0_f32; side * side];
    left[3 * side + 5] = f32::INFINITY;
    left[8 * side + 5] = f32::NAN;
    let left = Buffer::from_slice(&queue, &left).unwrap();
    for of_b in both_ways(side, side) {
        let mut right = vec![1.0_f32; side * side];
        // Of row 7 and column 11.
        let place = if of_b == Shape::row_major(side, side) {
            7 * side + 11
        } else {
            11 * side + 7
        };
        right[place] = f32::NAN;
        let right = Buffer::from_slice(&queue, &right).unwrap();
        // With beta 0, C is not read.
        let mut c = Buffer::from_slice(&queue, &vec![f32::NAN; side * side]).unwrap();
        let square = Shape::row_major(side, side);
        let (a, b) = (Matrix::new(&left, square), Matrix::new(&right, of_b));
        let target = MatrixMut::new(&mut c, square);
        let mut gemm = Gemm::new(&queue).unwrap();
        gemm.multiply_tf32(&queue, 1.0, a, b, 0.0, target).unwrap();
        for (at, sum) in c.read(&queue).unwrap().into_iter().enumerate() {
            match (at / side, at % side) {
                (8, _) | (_, 11) => assert!(sum.is_nan(), "{of_b:?} {at}: {sum}"),
                (3, _) => assert_eq!(sum, f32::INFINITY, "{of_b:?} {at}"),
                _ => assert_eq!(sum, side as f32, "{of_b:?} {at}"),
            }
        }
    }
}

/// More tiles than a device computes at once, with edges: what comes out is what `Direct` says.
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn many_tiles_are_right<T: OnTensorCores>() {
    let queue = Queue::default_device().unwrap();
    let (m, n, k) = (3000, 1900, 72);
    for route in on_tensor_cores::<T>(&queue) {
        let mut numbers = Numbers(10);
        let mut random =
            |len| -> Vec<T> { (0..len).map(|_| T::from_f64(numbers.next())).collect() };
        let (a, b) = (random(m * k), random(k * n));
        let (a, b) = (
            Buffer::from_slice(&queue, &a).unwrap(),
            Buffer::from_slice(&queue, &b).unwrap(),
        );
        let mut gemm = Gemm::new(&queue).unwrap();
        let mut by = |route| {
            let mut c = Buffer::from_slice(&queue, &vec![T::from_f64(1.0); m * n]).unwrap();
            let done = gemm.multiply_with(
                &queue,
                route,
                T::real(1.0),
                Matrix::new(&a, Shape::row_major(m, k)),
                Matrix::new(&b, Shape::row_major(k, n)),
                T::real(-1.0),
                MatrixMut::new(&mut c, Shape::row_major(m, n)),
            );
            done.unwrap();
            c.read(&queue).unwrap()
        };
        let (found, expected) = (by(route.unwrap()), by(Route::Direct));
        for (at, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let (found, expected) = (found.to_f64(), expected.to_f64());
            let bound = T::ULPS.0 * expected.abs() + T::ULPS.1 * 4.0 * k as f64;
            assert!(
                (found - expected).abs() <= bound,
                "{route:?}: element {at} is {found} instead of {expected}"
            );
        }
    }
}

#[test]
fn many_tiles_are_right_on_tensor_cores() {
    many_tiles_are_right::<f32>();
    if has_double_precision() {
        many_tiles_are_right::<f64>();
    }
    many_tiles_are_right::<f16>();
    many_tiles_are_right::<bf16>();
}

/// Of numbers from -6 to 6, of those far beyond and of what is no number, by every route; those of
/// tensor cores have a polynomial.
fn gelu_is_close<T: OnTensorCores>() {
    let queue = Queue::default_device().unwrap();
    let mut column: Vec<T> = (-96..=96)
        .map(|at| T::from_f64(f64::from(at) / 16.0))
        .collect();
    let far = [
        -40.0,
        -12.0,
        12.0,
        40.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    column.extend(far.map(T::from_f64));
    let left = Buffer::from_slice(&queue, &column).unwrap();
    let right = Buffer::from_slice(&queue, &[T::from_f64(1.0)]).unwrap();
    let mut routes = vec![Some(Route::Direct)];
    routes.extend(on_tensor_cores::<T>(&queue));
    for route in routes.into_iter().flatten() {
        let mut c = Buffer::from_slice(&queue, &column).unwrap();
        let options = GemmOptions::new().gelu().route(route);
        let (a, b) = (
            Matrix::new(&left, Shape::row_major(column.len(), 1)),
            Matrix::new(&right, Shape::row_major(1, 1)),
        );
        let target = MatrixMut::new(&mut c, Shape::row_major(column.len(), 1));
        let mut gemm = Gemm::new(&queue).unwrap();
        let done = gemm.multiply_with(&queue, options, T::real(1.0), a, b, T::real(0.0), target);
        done.unwrap();
        for (found, x) in c.read(&queue).unwrap().into_iter().zip(&column) {
            let (found, x) = (found.to_f64(), x.to_f64());
            let exact = x * 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
            // An eighth of a unit in the last place of half precision, and the rounding.
            let bound = 6.2e-5 * x.abs() + T::ULPS.0 / 2.0 * exact.abs();
            let is_same = found == exact || found.is_nan() && exact.is_nan();
            assert!(
                is_same || (found - exact).abs() <= bound,
                "{route:?}: {found} instead of {exact} for {x}"
            );
        }
    }
}

#[test]
fn gelu_is_close_to_that_by_the_error_function_in_16_bits() {
    gelu_is_close::<f16>();
    gelu_is_close::<bf16>();
}
