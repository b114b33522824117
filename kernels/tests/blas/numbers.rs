//! NaN, infinity, overflow and underflow.

use super::host::{Host, Number, device_has};
use cltune::{Buffer, Queue};
use cltune_kernels::blas::{self, VectorMut};

fn norm<T: Number>(queue: &Queue, values: Vec<T>) -> f64 {
    let x = Host::of(values);
    let xs = x.buffer(queue);
    let mut result = Buffer::new(queue.context(), 1).unwrap();
    blas::nrm2(queue, x.vector(&xs), VectorMut::new(&mut result, 1)).unwrap();
    result.read(queue).unwrap()[0].to_f64()
}

fn place<T: Number>(queue: &Queue, values: &[f64]) -> u64 {
    let x = vector::<T>(values);
    let xs = x.buffer(queue);
    let mut result = Buffer::new(queue.context(), 1).unwrap();
    blas::iamax(queue, x.vector(&xs), VectorMut::new(&mut result, 1)).unwrap();
    result.read(queue).unwrap()[0]
}

fn vector<T: Number>(values: &[f64]) -> Host<T> {
    Host::of(values.iter().copied().map(T::from_f64).collect())
}

/// The same numbers, of which several may be none.
#[track_caller]
fn assert_same<T: Number>(found: &[T], expected: &[f64]) {
    let found: Vec<f64> = found.iter().map(|value| value.to_f64()).collect();
    let same =
        |(found, expected): (&f64, &f64)| found == expected || found.is_nan() && expected.is_nan();
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(same),
        "{found:?}, not {expected:?}"
    );
}

#[test]
fn norms_are_right_where_squares_are_no_numbers_of_the_type() {
    let queue = Queue::default_device().unwrap();
    for (size, n) in [
        (1e38_f32, 2_usize),
        (1e35, 10_000),
        (1e-36, 10_000),
        (1e-19, 3),
        (1.0, 7),
    ] {
        let expected = f64::from(size) * (n as f64).sqrt();
        let found = norm(&queue, vec![size; n]);
        assert!(
            (found / expected - 1.0).abs() < 1e-5,
            "{size} {n}: {found}, not {expected}"
        );
    }
    // Too large itself.
    assert_eq!(norm(&queue, vec![f32::MAX; 4]), f64::INFINITY);
    if !device_has::<f64>(&queue) {
        return;
    }
    for (size, n) in [
        (1e307_f64, 100_usize),
        (1e-300, 1000),
        (1e-160, 1000),
        (1.0, 7),
    ] {
        let expected = size * (n as f64).sqrt();
        let found = norm(&queue, vec![size; n]);
        assert!(
            (found / expected - 1.0).abs() < 1e-13,
            "{size} {n}: {found}, not {expected}"
        );
    }
}

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

fn specials_go_through<T: Number>() {
    let queue = Queue::default_device().unwrap();
    if !device_has::<T>(&queue) {
        return;
    }
    let [zero, half, one] = [0.0, 0.5, 1.0].map(T::from_f64);
    let x = vector::<T>(&[NAN, INFINITY, -INFINITY, 1.0, 2.0]);
    let y = vector::<T>(&[1.0, 1.0, INFINITY, NAN, 4.0]);
    let (mut xs, mut ys) = (x.buffer(&queue), y.buffer(&queue));
    blas::axpy(&queue, one, x.vector(&xs), y.vector_mut(&mut ys)).unwrap();
    assert_same(&ys.read(&queue).unwrap(), &[NAN, INFINITY, NAN, NAN, 6.0]);
    // As BLAS has it: nothing is done where alpha is 0, and scal multiplies.
    let mut ys = y.buffer(&queue);
    let done = blas::axpy(&queue, zero, x.vector(&xs), y.vector_mut(&mut ys)).unwrap();
    assert!(done.is_none());
    assert_same(&ys.read(&queue).unwrap(), &y.elements());
    blas::scal(&queue, zero, x.vector_mut(&mut xs)).unwrap();
    assert_same(&xs.read(&queue).unwrap(), &[NAN, NAN, NAN, 0.0, 0.0]);

    let mut xs = x.buffer(&queue);
    blas::copy(&queue, x.vector(&xs), y.vector_mut(&mut ys)).unwrap();
    assert_same(&ys.read(&queue).unwrap(), &x.elements());
    let mut ys = y.buffer(&queue);
    blas::swap(&queue, x.vector_mut(&mut xs), y.vector_mut(&mut ys)).unwrap();
    assert_same(&xs.read(&queue).unwrap(), &y.elements());
    assert_same(&ys.read(&queue).unwrap(), &x.elements());
    let (mut xs, mut ys) = (x.buffer(&queue), y.buffer(&queue));
    blas::rot(
        &queue,
        x.vector_mut(&mut xs),
        y.vector_mut(&mut ys),
        half,
        one,
    )
    .unwrap();
    assert_same(&xs.read(&queue).unwrap(), &[NAN, INFINITY, NAN, NAN, 5.0]);
    assert_same(
        &ys.read(&queue).unwrap(),
        &[NAN, -INFINITY, INFINITY, NAN, 0.0],
    );
    // It multiplies by 0, too.
    let (mut xs, mut ys) = (x.buffer(&queue), y.buffer(&queue));
    blas::rot(
        &queue,
        x.vector_mut(&mut xs),
        y.vector_mut(&mut ys),
        one,
        zero,
    )
    .unwrap();
    assert_same(&xs.read(&queue).unwrap(), &[NAN, INFINITY, NAN, NAN, 2.0]);
    assert_same(&ys.read(&queue).unwrap(), &[NAN, NAN, NAN, NAN, 4.0]);
}

#[test]
fn what_is_no_number_and_what_is_infinite_go_through() {
    specials_go_through::<f32>();
    specials_go_through::<f64>();
}

fn specials_are_reduced<T: Number>() {
    let queue = Queue::default_device().unwrap();
    if !device_has::<T>(&queue) {
        return;
    }
    let mut result = Buffer::new(queue.context(), 1).unwrap();
    for (x, y, dot, asum, nrm2) in [
        ([1.0, NAN, INFINITY, 1e30], [1.0; 4], NAN, NAN, NAN),
        (
            [1.0, -INFINITY, 1e-30, 0.0],
            [1.0; 4],
            -INFINITY,
            INFINITY,
            INFINITY,
        ),
        // Infinities of both signs, and one that is multiplied by 0.
        (
            [INFINITY, 1.0, -INFINITY, 1.0],
            [1.0; 4],
            NAN,
            INFINITY,
            INFINITY,
        ),
        (
            [1.0, INFINITY, 1.0, 1.0],
            [1.0, 0.0, 1.0, 1.0],
            NAN,
            INFINITY,
            INFINITY,
        ),
        (
            [1.0, 1.0, 0.0, -1.0],
            [1.0, NAN, 1.0, 1.0],
            NAN,
            3.0,
            3.0_f64.sqrt(),
        ),
    ] {
        let (x, y) = (vector::<T>(&x), vector::<T>(&y));
        let (xs, ys) = (x.buffer(&queue), y.buffer(&queue));
        let to = VectorMut::new(&mut result, 1);
        blas::dot(&queue, x.vector(&xs), y.vector(&ys), to).unwrap();
        assert_same(&result.read(&queue).unwrap(), &[dot]);
        blas::asum(&queue, x.vector(&xs), VectorMut::new(&mut result, 1)).unwrap();
        assert_same(&result.read(&queue).unwrap(), &[asum]);
        let found = norm(&queue, x.values);
        let is_near = (found - nrm2).abs() <= 4.0 * T::ULP * nrm2 && nrm2.is_finite();
        assert!(
            is_near || found == nrm2 || found.is_nan() && nrm2.is_nan(),
            "{found}, not {nrm2}"
        );
    }
}

#[test]
fn what_is_no_number_and_what_is_infinite_is_summed() {
    specials_are_reduced::<f32>();
    specials_are_reduced::<f64>();
}

fn the_first_is_found<T: Number>() {
    let queue = Queue::default_device().unwrap();
    if !device_has::<T>(&queue) {
        return;
    }
    let place = |values: &[f64]| place::<T>(&queue, values);
    assert_eq!(place(&[]), 0);
    assert_eq!(place(&[NAN; 3]), 0);
    assert_eq!(place(&[NAN, 1.0, -2.0, 2.0, NAN]), 2);
    assert_eq!(place(&[1.0, -INFINITY, INFINITY]), 1);
    assert_eq!(place(&vec![0.0; 5000]), 0);
    let mut values = vec![1.0; 5000];
    (values[4321], values[4999]) = (-3.0, 3.0);
    assert_eq!(place(&values), 4321);
}

#[test]
fn the_first_of_the_largest_is_found_whatever_is_among_them() {
    the_first_is_found::<f32>();
    the_first_is_found::<f64>();
}
