//! Every route and type against sums in double precision, for sizes, distances and layouts of all
//! kinds.

use crate::host::{
    Activation, Ending, Expected, Host, Number, Numbers, cases, has_double_precision,
};
use cltune::{Buffer, Queue, bf16, f16};
use cltune_kernels::gemm::{Gemm, Matrix, MatrixMut, Route, Shape};

/// One multiplication by a route and with an epilogue, compared element by element; what lies
/// between rows must not change.
#[expect(clippy::too_many_arguments, reason = "those of BLAS, and two options")]
pub(crate) fn check<T: Number>(
    queue: &Queue,
    route: Option<Route>,
    (ending, bias): (Ending, &[T]),
    a: &Host<T>,
    b: &Host<T>,
    c: &Host<T>,
    alpha: f64,
    beta: f64,
) {
    let (of_a, of_b, of_bias) = (
        Buffer::from_slice(queue, &a.values).unwrap(),
        Buffer::from_slice(queue, &b.values).unwrap(),
        Buffer::from_slice(queue, bias).unwrap(),
    );
    let mut of_c = Buffer::from_slice(queue, &c.values).unwrap();
    let mut options = ending.options(&of_bias);
    if let Some(route) = route {
        options = options.route(route);
    }
    let done = Gemm::<T>::new(queue).unwrap().multiply_with(
        queue,
        options,
        T::real(alpha),
        Matrix::new(&of_a, a.shape),
        Matrix::new(&of_b, b.shape),
        T::real(beta),
        MatrixMut::new(&mut of_c, c.shape),
    );
    done.unwrap();
    let found = of_c.read(queue).unwrap();
    Expected::unchanged(c)
        .after([(a, 0), (b, 0), (c, 0)], alpha, beta)
        .finished(c, ending, bias)
        .is_found(&found, || {
            format!(
                "{route:?} {:?} x {:?} -> {:?}, alpha {alpha}, beta {beta}, {ending:?}",
                a.shape, b.shape, c.shape
            )
        });
}

#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
pub(crate) fn random_cases<T: Number>(seed: u64, routes: &[Option<Route>], count: usize) {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(seed);
    // Sizes at, beside and between those of tiles, and primes.
    let sizes = [1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 47, 63, 64, 65, 97];
    let factors = [(1.0, 0.0), (1.0, 1.0), (-0.5, 0.25), (2.0, 0.0), (0.0, 0.5)];
    // Each route has a case, however few there are, whose sums are of several products, and count.
    for case in 0..cases(count).max(routes.len()) {
        let (lengths, factors) = if case < routes.len() {
            (&sizes[6..], &factors[..4])
        } else {
            (&sizes[..], &factors[..])
        };
        let (m, n, k) = (
            numbers.among(&sizes),
            numbers.among(&sizes),
            numbers.among(lengths),
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
        let (alpha, beta) = numbers.among(factors);
        let ending = Ending {
            bias: numbers.below(2) == 0,
            activation: numbers.among(&[None, Some(Activation::Relu), Some(Activation::Gelu)]),
        };
        let bias: Vec<T> = (0..n).map(|_| T::from_f64(numbers.next())).collect();
        let route = routes[case % routes.len()];
        check(&queue, route, (ending, &bias), &a, &b, &c, alpha, beta);
    }
}

/// The routes that need no tensor cores, and what is chosen.
pub(crate) const EVERYWHERE: [Option<Route>; 5] = [
    None,
    Some(Route::Direct),
    Some(Route::Panels),
    Some(Route::Pipelined),
    Some(Route::PipelinedParts),
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
    random_cases::<f64>(2, &EVERYWHERE, 30);
}

#[test]
fn half_precision_is_rounded_once() {
    random_cases::<f16>(3, &EVERYWHERE, 30);
}

#[test]
fn bfloat16_is_rounded_once() {
    random_cases::<bf16>(6, &EVERYWHERE, 30);
}

/// C has the product after `measure`, by whichever way was last, and calls after it are right.
fn measured<T: Number>(seed: u64, (by_rows, alpha): (bool, f64)) {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(seed);
    let mut random =
        |rows, columns, by_rows| Host::<T>::random(&mut numbers, rows, columns, by_rows, 3, 5);
    let (a, b) = (random(33, 65, by_rows), random(65, 17, !by_rows));
    let c = random(33, 17, by_rows);
    let buffer = |host: &Host<T>| Buffer::from_slice(&queue, &host.values).unwrap();
    let (of_a, of_b, mut of_c) = (buffer(&a), buffer(&b), buffer(&c));
    let mut gemm = Gemm::new(&queue).unwrap();
    let (left, right) = (Matrix::new(&of_a, a.shape), Matrix::new(&of_b, b.shape));
    let target = MatrixMut::new(&mut of_c, c.shape);
    let measured = gemm.measure(&queue, T::real(alpha), left, right, target);
    let seconds = measured.unwrap().unwrap();
    assert!(seconds > 0.0, "{seconds}");
    let found = of_c.read(&queue).unwrap();
    let product = Expected::unchanged(&c).after([(&a, 0), (&b, 0), (&c, 0)], alpha, 0.0);
    product.is_found(&found, || format!("measured, {by_rows}, {alpha}"));
    let mut before = c;
    before.values = found;
    let target = MatrixMut::new(&mut of_c, before.shape);
    gemm.multiply(&queue, T::real(alpha), left, right, T::real(-2.0), target)
        .unwrap();
    Expected::unchanged(&before)
        .after([(&a, 0), (&b, 0), (&before, 0)], alpha, -2.0)
        .is_found(&of_c.read(&queue).unwrap(), || {
            format!("after it, {by_rows}, {alpha}")
        });
}

#[test]
fn measuring_multiplies_and_calls_after_it_are_right() {
    measured::<f32>(11, (true, 0.5));
    measured::<f32>(12, (false, 0.0));
    measured::<bf16>(13, (false, 1.0));
    if has_double_precision() {
        measured::<f64>(14, (true, -1.0));
    }
    let queue = Queue::default_device().unwrap();
    let ones = Buffer::from_slice(&queue, &[1.0_f32; 4]).unwrap();
    let mut none = Buffer::from_slice(&queue, &[7.0_f32]).unwrap();
    let (a, b) = (Shape::row_major(0, 2), Shape::row_major(2, 2));
    let (a, b) = (Matrix::new(&ones, a), Matrix::new(&ones, b));
    let c = MatrixMut::new(&mut none, Shape::row_major(0, 2));
    let seconds = Gemm::new(&queue).unwrap().measure(&queue, 1.0, a, b, c);
    assert_eq!(seconds.unwrap(), None);
    assert_eq!(none.read(&queue).unwrap(), [7.0]);
}

/// C ← α A B + β C, of which A is a column of these numbers and B a row of a single 1: what α and β,
/// and an activation, make of single elements, by every route.
fn each_by_itself<T: Number>(
    queue: &Queue,
    activation: Option<Activation>,
    alpha: f64,
    column: &[T],
    beta: f64,
    old: &[T],
) -> Vec<Vec<T>> {
    let left = Buffer::from_slice(queue, column).unwrap();
    let right = Buffer::from_slice(queue, &[T::from_f64(1.0)]).unwrap();
    let mut gemm = Gemm::new(queue).unwrap();
    let ending = Ending {
        bias: false,
        activation,
    };
    let of_route = |route| {
        let mut target = Buffer::from_slice(queue, old).unwrap();
        let done = gemm.multiply_with(
            queue,
            ending.options(&left).route(route),
            T::real(alpha),
            Matrix::new(&left, Shape::row_major(column.len(), 1)),
            Matrix::new(&right, Shape::row_major(1, 1)),
            T::real(beta),
            MatrixMut::new(&mut target, Shape::row_major(column.len(), 1)),
        );
        done.unwrap();
        target.read(queue).unwrap()
    };
    EVERYWHERE.into_iter().flatten().map(of_route).collect()
}

/// Of every bit pattern of 16 bits, in every route.
#[test]
fn every_bfloat16_is_read_and_written_as_it_is() {
    let queue = Queue::default_device().unwrap();
    let all: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    let old = vec![bf16::NAN; all.len()];
    for found in each_by_itself(&queue, None, 1.0, &all, 0.0, &old) {
        for (found, value) in found.into_iter().zip(&all) {
            // A device may take denormals for zero, as it may in single precision.
            let is_right = if value.is_nan() {
                found.is_nan()
            } else {
                found == *value || value.to_f32().is_subnormal() && found == bf16::ZERO
            };
            assert!(is_right, "{found:?} instead of {value:?}");
        }
    }
}

#[test]
fn results_of_16_bits_are_rounded_to_nearest_even_and_overflow_to_infinity() {
    fn check<T: Number + PartialEq + std::fmt::Debug>(
        rounded: fn(f32) -> T,
        greatest: T,
        ulp: f32,
        more: &[f32],
    ) {
        let queue = Queue::default_device().unwrap();
        let numbers = [
            // Ties to even, down and up, and beside ties.
            1.0 + ulp / 2.0,
            1.0 + 1.5 * ulp,
            1.0 + 0.51 * ulp,
            1.0 + 0.49 * ulp,
            -1.0 - 1.5 * ulp,
            2.0 - ulp / 4.0,
            // The greatest number, what is still rounded to it, and what is not any more.
            greatest.to_f64() as f32,
            (greatest.to_f64() * (1.0 + f64::from(ulp) / 8.0)) as f32,
            (greatest.to_f64() * (1.0 + f64::from(ulp) / 3.9)) as f32,
            (-greatest.to_f64() * (1.0 + f64::from(ulp) / 3.9)) as f32,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ];
        for number in numbers.iter().chain(more).copied() {
            let one = [T::from_f64(1.0)];
            for found in each_by_itself(&queue, None, number.into(), &one, 0.0, &one) {
                assert_eq!(found, [rounded(number)], "{number:e}");
            }
            // The same of what β makes of 1.
            let zero = [T::from_f64(0.0)];
            for found in each_by_itself(&queue, None, 1.0, &zero, number.into(), &one) {
                assert_eq!(found, [rounded(number)], "{number:e} as the factor of C");
            }
        }
        let one = [T::from_f64(1.0)];
        for found in each_by_itself(&queue, None, f64::NAN, &one, 0.0, &one) {
            assert!(found[0].to_f64().is_nan(), "{found:?}");
        }
    }
    // Denormal numbers of half precision, which are none of single: ties, and beside them. Those of
    // bfloat16 are denormal in single precision as well, where a device may take them for zero.
    let least = f16::MIN_POSITIVE_SUBNORMAL.to_f32();
    let denormal = [0.5, 0.51, 1.0, 1.5, 2.5, -2.5, 1023.4, 1023.5].map(|units| units * least);
    check(f16::from_f32, f16::MAX, f16::EPSILON.to_f32(), &denormal);
    check(bf16::from_f32, bf16::MAX, bf16::EPSILON.to_f32(), &[]);
}

/// What an activation makes of what is no ordinary number, and far below 0.
#[test]
fn activations_keep_what_is_no_number() {
    let queue = Queue::default_device().unwrap();
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let column = [nan, inf, -inf, -3.0, 0.0, 3.0, -12.0, 40.0];
    let old = [nan; 8];
    for found in each_by_itself(&queue, Some(Activation::Relu), 1.0, &column, 0.0, &old) {
        assert!(found[0].is_nan(), "{found:?}");
        assert_eq!(found[1..], [inf, 0.0, 0.0, 0.0, 3.0, 0.0, 40.0]);
    }
    for found in each_by_itself(&queue, Some(Activation::Gelu), 1.0, &column, 0.0, &old) {
        assert!(found[0].is_nan() && found[2].is_nan(), "{found:?}");
        assert_eq!((found[1], found[4], found[7]), (inf, 0.0, 40.0));
        let close = |found: f32, to: f32| (found - to).abs() <= 5e-6;
        // x Φ(x) of 3, -3 and -12.
        assert!(close(found[5], 2.995_950_2), "{found:?}");
        assert!(close(found[3], -0.004_049_694), "{found:?}");
        assert!(close(found[6], 0.0), "{found:?}");
    }
}

#[test]
fn far_apart_rows_and_empty_matrices_are_fine() {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(5);
    let bias: Vec<f32> = (0..6).map(|_| numbers.next() as f32).collect();
    let nothing = (Ending::default(), &bias[..]);
    let full = (
        Ending {
            bias: true,
            activation: Some(Activation::Gelu),
        },
        &bias[..],
    );
    let mut random =
        |rows, columns, gap| Host::<f32>::random(&mut numbers, rows, columns, true, gap, 0);
    for route in EVERYWHERE {
        let (a, b, c) = (
            random(5, 7, 100_000),
            random(7, 6, 100_001),
            random(5, 6, 99_999),
        );
        check(&queue, route, nothing, &a, &b, &c, 1.0, 1.0);
        // No summands: C is scaled.
        let (a, b, c) = (random(5, 0, 0), random(0, 6, 0), random(5, 6, 0));
        check(&queue, route, full, &a, &b, &c, 1.0, 0.5);
        check(&queue, route, nothing, &a, &b, &c, 1.0, 0.0);
        // No elements: nothing happens.
        let (a, b, c) = (random(0, 7, 0), random(7, 6, 0), random(0, 6, 0));
        check(&queue, route, nothing, &a, &b, &c, 1.0, 0.0);
    }
}

/// Copies of operands must not be written for a queue while another still reads them.
#[test]
fn queues_that_take_turns_at_a_gemm_get_products_of_their_own() {
    const SIDE: usize = 256;
    let first = Queue::default_device().unwrap();
    let queues = [Queue::new(first.context()).unwrap(), first];
    let square = Shape::row_major(SIDE, SIDE);
    let mut gemm = Gemm::new(&queues[0]).unwrap();
    let filled = |value: f32| Buffer::from_slice(&queues[0], &vec![value; SIDE * SIDE]).unwrap();
    let factors: Vec<Buffer<f32>> = (1_u16..=16).map(|value| filled(value.into())).collect();
    let mut products: Vec<Buffer<f32>> = factors.iter().map(|_| filled(f32::NAN)).collect();
    for (turn, (factor, product)) in factors.iter().zip(&mut products).enumerate() {
        let factor = Matrix::new(factor, square);
        let done = gemm.multiply_with(
            &queues[turn % 2],
            Route::Panels,
            1.0,
            factor,
            factor,
            0.0,
            MatrixMut::new(product, square),
        );
        done.unwrap();
    }
    for queue in &queues {
        queue.finish().unwrap();
    }
    for (value, product) in (1_u16..).map(f32::from).zip(&products) {
        let (found, expected) = (
            product.read(&queues[0]).unwrap(),
            value * value * SIDE as f32,
        );
        let wrong = found.iter().find(|element| **element != expected);
        assert_eq!(wrong, None, "instead of {expected}");
    }
}
