//! Infinities, NaN, overflow and denormal numbers, of every type, by every route and in batches.

use crate::host::{Number, has_double_precision};
use crate::results::EVERYWHERE;
use crate::tensor_cores::{OnTensorCores, on_tensor_cores};
use cltune::{Buffer, Queue, bf16, f16};
use cltune_kernels::gemm::{Batch, Gemm, GemmOptions, Matrix, MatrixMut, Shape};

/// Rows and columns of all matrices.
const SIDE: usize = 40;

/// What a type makes of sums of `SIDE` equal numbers.
struct Type {
    /// Sums of it are too large for the type.
    large: f64,
    /// Half of such a sum: infinite where what sums are computed in does not hold it either.
    half_of_large: f64,
    /// The least number above zero.
    least: f64,
    /// Whether a device may take denormal numbers for zero, as it may in single precision.
    may_flush: bool,
}

/// Sums of half precision are in single, of which its denormal numbers are none.
const F16: Type = Type {
    large: 2000.0,
    half_of_large: 40_000.0,
    least: 1.0 / (1 << 24) as f64,
    may_flush: false,
};

/// A type whose sums are in one of the same range, of numbers below 2^`exponent`.
fn ranged_as_sums(exponent: i32, least: f64, may_flush: bool) -> Type {
    Type {
        large: f64::powi(2.0, exponent - 4),
        half_of_large: f64::INFINITY,
        least,
        may_flush,
    }
}

/// C, which may be several matrices, after the product of A, whose rows 3, 8, 11, 12 and 14 are of
/// special numbers, and of a matrix of ones.
fn is_right<T: Number>(kind: &Type, alpha: f64, c: &[T], what: &str) {
    for (at, found) in c.iter().enumerate() {
        let (row, found) = (at / SIDE % SIDE, found.to_f64());
        let of_large = if alpha == 1.0 {
            f64::INFINITY
        } else {
            kind.half_of_large
        };
        let least = SIDE as f64 * alpha * kind.least;
        let is_right = match row {
            3 => found == f64::INFINITY,
            8 => found.is_nan(),
            11 => found == of_large,
            12 => found == -of_large,
            // By tensor cores single precision is in parts, of which the last bits are rounded.
            14 => found == least || kind.may_flush && (0.0..=2.0 * least).contains(&found),
            _ => found == SIDE as f64 * alpha,
        };
        assert!(is_right, "{what}, alpha {alpha}: {found} in row {row}");
    }
}

/// As BLAS has it, C is not read where beta is 0, nor A and B where alpha is.
fn spread_as_blas_says<T: OnTensorCores>(kind: &Type) {
    let queue = Queue::default_device().unwrap();
    let number = |value| T::from_f64(value);
    let mut left = [number(1.0); SIDE * SIDE];
    left[3 * SIDE + 5] = number(f64::INFINITY);
    left[8 * SIDE + 5] = number(f64::NAN);
    left[11 * SIDE..12 * SIDE].fill(number(kind.large));
    left[12 * SIDE..13 * SIDE].fill(number(-kind.large));
    left[14 * SIDE..15 * SIDE].fill(number(kind.least));
    let left = Buffer::from_slice(&queue, &left).unwrap();
    let right = Buffer::from_slice(&queue, &[number(1.0); SIDE * SIDE]).unwrap();
    let square = Shape::row_major(SIDE, SIDE);
    let (a, b) = (Matrix::new(&left, square), Matrix::new(&right, square));
    let mut gemm = Gemm::<T>::new(&queue).unwrap();
    let zero = T::real(0.0);

    let mut c = Buffer::from_slice(&queue, &[number(f64::NAN); SIDE * SIDE]).unwrap();
    let mut routes = EVERYWHERE.to_vec();
    routes.extend(on_tensor_cores::<T>(&queue));
    for route in routes {
        let options = route.map_or(GemmOptions::new(), GemmOptions::from);
        let mut by = |alpha| {
            let target = MatrixMut::new(&mut c, square);
            let done = gemm.multiply_with(&queue, options, T::real(alpha), a, b, zero, target);
            done.unwrap();
            c.read(&queue).unwrap()
        };
        for alpha in [1.0, 0.5] {
            is_right(kind, alpha, &by(alpha), &format!("{route:?}"));
        }
        let is_zero = by(0.0).iter().all(|sum| sum.to_f64() == 0.0);
        assert!(is_zero, "{route:?}, alpha 0");
        c.write(&queue, &[number(f64::NAN); SIDE * SIDE]).unwrap();
    }

    // Two products of the same factors, in one launch.
    let mut c = Buffer::from_slice(&queue, &[number(f64::NAN); 2 * SIDE * SIDE]).unwrap();
    let batch = Batch {
        count: 2,
        stride_a: 0,
        stride_b: 0,
        stride_c: SIDE * SIDE,
    };
    for alpha in [1.0, 0.5] {
        let (target, factor) = (MatrixMut::new(&mut c, square), T::real(alpha));
        let done = gemm.multiply_batched_with(&queue, None, factor, a, b, zero, target, batch);
        done.unwrap();
        is_right(kind, alpha, &c.read(&queue).unwrap(), "in a batch");
    }
}

#[test]
fn what_is_no_number_spreads_in_single_precision() {
    spread_as_blas_says::<f32>(&ranged_as_sums(128, f64::powi(2.0, -149), true));
}

#[test]
fn what_is_no_number_spreads_in_double_precision() {
    if !has_double_precision() {
        cltune_tests::skip("the device has no double precision");
        return;
    }
    spread_as_blas_says::<f64>(&ranged_as_sums(1024, f64::from_bits(1), false));
}

#[test]
fn what_is_no_number_spreads_in_half_precision() {
    spread_as_blas_says::<f16>(&F16);
}

#[test]
fn what_is_no_number_spreads_in_bfloat16() {
    spread_as_blas_says::<bf16>(&ranged_as_sums(128, f64::powi(2.0, -133), true));
}
