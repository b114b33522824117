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

fn place(queue: &Queue, values: Vec<f32>) -> u64 {
    let x = Host::of(values);
    let xs = x.buffer(queue);
    let mut result = Buffer::new(queue.context(), 1).unwrap();
    blas::iamax(queue, x.vector(&xs), VectorMut::new(&mut result, 1)).unwrap();
    result.read(queue).unwrap()[0]
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

#[test]
fn what_is_no_number_and_what_is_infinite_go_through() {
    let queue = Queue::default_device().unwrap();
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    assert!(norm(&queue, vec![1.0, nan, infinity, 1e30]).is_nan());
    assert_eq!(norm(&queue, vec![1.0, -infinity, 1e-30]), f64::INFINITY);

    let x = Host::of(vec![nan, infinity, -infinity, 1.0]);
    let y = Host::of(vec![1.0, 1.0, infinity, nan]);
    let (mut xs, mut ys) = (x.buffer(&queue), y.buffer(&queue));
    blas::axpy(&queue, 1.0, x.vector(&xs), y.vector_mut(&mut ys)).unwrap();
    let found = ys.read(&queue).unwrap();
    assert!(found[0].is_nan() && found[1] == infinity && found[2].is_nan() && found[3].is_nan());
    // As BLAS has it: nothing is done where alpha is 0, and scal multiplies.
    let mut ys = y.buffer(&queue);
    assert!(
        blas::axpy(&queue, 0.0, x.vector(&xs), y.vector_mut(&mut ys))
            .unwrap()
            .is_none()
    );
    assert_eq!(ys.read(&queue).unwrap()[..3], [1.0, 1.0, infinity]);
    blas::scal(&queue, 0.0, x.vector_mut(&mut xs)).unwrap();
    let found = xs.read(&queue).unwrap();
    assert!(found[..3].iter().all(|value| value.is_nan()) && found[3] == 0.0);
}

#[test]
fn the_first_of_the_largest_is_found_whatever_is_among_them() {
    let queue = Queue::default_device().unwrap();
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    assert_eq!(place(&queue, vec![]), 0);
    assert_eq!(place(&queue, vec![nan; 3]), 0);
    assert_eq!(place(&queue, vec![nan, 1.0, -2.0, 2.0, nan]), 2);
    assert_eq!(place(&queue, vec![1.0, -infinity, infinity]), 1);
    assert_eq!(place(&queue, vec![0.0; 5000]), 0);
    let mut values = vec![1.0; 5000];
    (values[4321], values[4999]) = (-3.0, 3.0);
    assert_eq!(place(&queue, values), 4321);
}
