//! Every route and type against sums in double precision, for sizes, distances and layouts of all
//! kinds.

use crate::host::{Host, Number, Numbers};
use cltune::{Buffer, Queue, f16};
use cltune_kernels::gemm::{Gemm, GemmError, Matrix, MatrixMut, Route, Shape};

/// One multiplication by a route, compared element by element; what lies between rows must not
/// change.
fn check<T: Number>(
    queue: &Queue,
    route: Option<Route>,
    a: &Host<T>,
    b: &Host<T>,
    c: &Host<T>,
    alpha: f64,
    beta: f64,
) {
    let (of_a, of_b) = (
        Buffer::from_slice(queue, &a.values).unwrap(),
        Buffer::from_slice(queue, &b.values).unwrap(),
    );
    let mut of_c = Buffer::from_slice(queue, &c.values).unwrap();
    let mut gemm = Gemm::<T>::new(queue).unwrap();
    let (a_there, b_there) = (Matrix::new(&of_a, a.shape), Matrix::new(&of_b, b.shape));
    let c_there = MatrixMut::new(&mut of_c, c.shape);
    let (alpha_there, beta_there) = (T::real(alpha), T::real(beta));
    let done = match route {
        Some(route) => gemm.multiply_with(
            queue,
            route,
            alpha_there,
            a_there,
            b_there,
            beta_there,
            c_there,
        ),
        None => gemm.multiply(queue, alpha_there, a_there, b_there, beta_there, c_there),
    };
    done.unwrap();
    let found = of_c.read(queue).unwrap();
    let mut expected: Vec<f64> = c.values.iter().map(|value| value.to_f64()).collect();
    let mut bounds = vec![0.0; expected.len()];
    for row in 0..c.shape.rows() {
        for column in 0..c.shape.columns() {
            let products = (0..a.shape.columns()).map(|p| a.get(row, p) * b.get(p, column));
            let (sum, size) = products.fold((0.0, 0.0), |(sum, size), product| {
                (sum + product, size + product.abs())
            });
            let old = if beta == 0.0 {
                0.0
            } else {
                beta * c.get(row, column)
            };
            let at = c.at(row, column);
            expected[at] = alpha * sum + old;
            // Higham 2002, section 3.1: the error of a sum of k products is at most k units of the
            // sum of their sizes; rounding the result is one unit more.
            let (stored, computed) = T::ULPS;
            bounds[at] =
                computed * (a.shape.columns() + 4) as f64 * (alpha.abs() * size + old.abs())
                    + stored * expected[at].abs()
                    + 1e-300;
        }
    }
    for (at, ((&found, &expected), &bound)) in found.iter().zip(&expected).zip(&bounds).enumerate()
    {
        let error = (found.to_f64() - expected).abs();
        assert!(
            error <= bound,
            "{route:?} {:?} x {:?} -> {:?}, alpha {alpha}, beta {beta}: element {at} is {} instead of {expected}",
            a.shape,
            b.shape,
            c.shape,
            found.to_f64()
        );
    }
}

#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn random_cases<T: Number>(seed: u64, routes: &[Option<Route>], count: usize) {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(seed);
    // Sizes at, beside and between those of tiles, and primes.
    let sizes = [1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 47, 63, 64, 65, 97];
    for case in 0..count {
        let (m, n, k) = (
            numbers.among(&sizes),
            numbers.among(&sizes),
            numbers.among(&sizes),
        );
        let mut random = |rows, columns| {
            let (by_rows, gap, offset) = (
                numbers.below(2) == 0,
                numbers.among(&[0, 1, 3, 40]),
                numbers.among(&[0, 4, 5]),
            );
            Host::<T>::random(&mut numbers, rows, columns, by_rows, gap, offset)
        };
        let (a, b, c) = (random(m, k), random(k, n), random(m, n));
        let (alpha, beta) =
            numbers.among(&[(1.0, 0.0), (1.0, 1.0), (-0.5, 0.25), (2.0, 0.0), (0.0, 0.5)]);
        check(&queue, routes[case % routes.len()], &a, &b, &c, alpha, beta);
    }
}

const EVERYWHERE: [Option<Route>; 4] = [
    None,
    Some(Route::Direct),
    Some(Route::Panels),
    Some(Route::Pipelined),
];

#[test]
fn single_precision_is_right_by_every_route() {
    random_cases::<f32>(1, &EVERYWHERE, 60);
}

#[test]
fn double_precision_is_right_by_every_route() {
    let queue = Queue::default_device().unwrap();
    if queue.device().info().limits.fp64 == 0 {
        let refused = Gemm::<f64>::new(&queue).unwrap_err();
        assert!(
            refused.to_string().contains("double precision"),
            "{refused}"
        );
        return;
    }
    random_cases::<f64>(2, &EVERYWHERE, 24);
}

#[test]
fn half_precision_is_rounded_once() {
    random_cases::<f16>(3, &EVERYWHERE, 24);
}

/// The routes on tensor cores that a device has.
fn on_tensor_cores(queue: &Queue) -> Vec<Option<Route>> {
    match queue.device().info().limits.nv_compute_capability {
        90 => vec![Some(Route::Tensor), Some(Route::Warpgroup)],
        80.. => vec![Some(Route::Tensor)],
        _ => Vec::new(),
    }
}

#[test]
fn tensor_cores_are_right_where_there_are_some() {
    let queue = Queue::default_device().unwrap();
    let there = on_tensor_cores(&queue);
    if !there.is_empty() {
        random_cases::<f32>(4, &there, 60);
        return;
    }
    let ones = Buffer::from_slice(&queue, &[1.0_f32; 16]).unwrap();
    let mut sums = Buffer::new(queue.context(), 16).unwrap();
    let matrix = Matrix::new(&ones, Shape::row_major(4, 4));
    let target = MatrixMut::new(&mut sums, Shape::row_major(4, 4));
    let mut gemm = Gemm::new(&queue).unwrap();
    let refused = gemm
        .multiply_with(&queue, Route::Tensor, 1.0, matrix, matrix, 0.0, target)
        .unwrap_err();
    assert!(
        refused.to_string().contains("compute capability 8.0"),
        "{refused}"
    );
    let target = MatrixMut::new(&mut sums, Shape::row_major(4, 4));
    let refused = gemm
        .multiply_tf32(&queue, 1.0, matrix, matrix, 0.0, target)
        .unwrap_err();
    assert!(
        matches!(refused, GemmError::Unsupported { .. }),
        "{refused}"
    );
}

#[test]
fn far_apart_rows_and_empty_matrices_are_fine() {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(5);
    let mut random =
        |rows, columns, gap| Host::<f32>::random(&mut numbers, rows, columns, true, gap, 0);
    for route in EVERYWHERE {
        let (a, b, c) = (
            random(5, 7, 100_000),
            random(7, 6, 100_001),
            random(5, 6, 99_999),
        );
        check(&queue, route, &a, &b, &c, 1.0, 1.0);
        // No summands: C is scaled.
        let (a, b, c) = (random(5, 0, 0), random(0, 6, 0), random(5, 6, 0));
        check(&queue, route, &a, &b, &c, 1.0, 0.5);
        check(&queue, route, &a, &b, &c, 1.0, 0.0);
        // No elements: nothing happens.
        let (a, b, c) = (random(0, 7, 0), random(7, 6, 0), random(0, 6, 0));
        check(&queue, route, &a, &b, &c, 1.0, 0.0);
    }
}

#[test]
fn what_is_no_number_spreads_as_blas_says() {
    let queue = Queue::default_device().unwrap();
    let side = 40;
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let mut left = vec![1.0_f32; side * side];
    left[3 * side + 5] = inf;
    left[8 * side + 5] = nan;
    let left = Buffer::from_slice(&queue, &left).unwrap();
    let right = Buffer::from_slice(&queue, &vec![1.0_f32; side * side]).unwrap();
    let square = Shape::row_major(side, side);
    let mut routes = EVERYWHERE.to_vec();
    routes.extend(on_tensor_cores(&queue));
    for route in routes {
        // With beta 0, C is not read.
        let mut c = Buffer::from_slice(&queue, &vec![nan; side * side]).unwrap();
        let mut gemm = Gemm::new(&queue).unwrap();
        let mut multiply = |alpha, beta, c: &mut Buffer<f32>| {
            let (a, b) = (Matrix::new(&left, square), Matrix::new(&right, square));
            let c = MatrixMut::new(c, square);
            match route {
                Some(route) => gemm.multiply_with(&queue, route, alpha, a, b, beta, c),
                _ => gemm.multiply(&queue, alpha, a, b, beta, c),
            }
            .unwrap();
        };
        multiply(1.0, 0.0, &mut c);
        let sums = c.read(&queue).unwrap();
        for (at, &sum) in sums.iter().enumerate() {
            match at / side {
                3 => assert_eq!(sum, inf, "{route:?} {at}"),
                8 => assert!(sum.is_nan(), "{route:?} {at}"),
                _ => assert_eq!(sum, side as f32, "{route:?} {at}"),
            }
        }
        // With alpha 0, A and B are not read.
        multiply(0.0, 0.0, &mut c);
        assert!(
            c.read(&queue).unwrap().iter().all(|&sum| sum == 0.0),
            "{route:?}"
        );
    }
}
