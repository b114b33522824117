//! Every function, on vectors of any length, offset and stride.

use super::host::{Host, Number, Numbers, device_has};
use cltune::{Buffer, Queue};
use cltune_kernels::blas::{self, VectorMut};

/// None, one, fewer than work-items and more; primes among them.
const LENGTHS: [usize; 7] = [0, 1, 2, 31, 257, 4099, 20011];
/// For each length.
const LAYOUTS: usize = 4;

fn vectors_change<T: Number>() {
    let queue = Queue::default_device().unwrap();
    if !device_has::<T>(&queue) {
        return;
    }
    let mut numbers = Numbers(1);
    for n in LENGTHS.into_iter().flat_map(|n| [n; LAYOUTS]) {
        let (x, y) = (
            Host::<T>::random(&mut numbers, n),
            Host::<T>::random(&mut numbers, n),
        );
        let (mut xs, mut ys) = (x.buffer(&queue), y.buffer(&queue));
        let [a, b] = [0.75, -1.25].map(T::from_f64);

        let done = blas::axpy(&queue, a, x.vector(&xs), y.vector_mut(&mut ys)).unwrap();
        assert_eq!(done.is_some(), n > 0);
        y.expect(&ys.read(&queue).unwrap(), |i| 0.75 * x.get(i) + y.get(i));

        let mut ys = y.buffer(&queue);
        blas::copy(&queue, x.vector(&xs), y.vector_mut(&mut ys)).unwrap();
        y.expect(&ys.read(&queue).unwrap(), |i| x.get(i));

        blas::scal(&queue, b, x.vector_mut(&mut xs)).unwrap();
        x.expect(&xs.read(&queue).unwrap(), |i| -1.25 * x.get(i));

        let (mut xs, mut ys) = (x.buffer(&queue), y.buffer(&queue));
        blas::swap(&queue, x.vector_mut(&mut xs), y.vector_mut(&mut ys)).unwrap();
        x.expect(&xs.read(&queue).unwrap(), |i| y.get(i));
        y.expect(&ys.read(&queue).unwrap(), |i| x.get(i));

        let (mut xs, mut ys) = (x.buffer(&queue), y.buffer(&queue));
        blas::rot(&queue, x.vector_mut(&mut xs), y.vector_mut(&mut ys), a, b).unwrap();
        x.expect(&xs.read(&queue).unwrap(), |i| {
            0.75 * x.get(i) - 1.25 * y.get(i)
        });
        y.expect(&ys.read(&queue).unwrap(), |i| {
            0.75 * y.get(i) + 1.25 * x.get(i)
        });
    }
}

fn numbers_result<T: Number>() {
    let queue = Queue::default_device().unwrap();
    if !device_has::<T>(&queue) {
        return;
    }
    let mut numbers = Numbers(2);
    for n in LENGTHS.into_iter().flat_map(|n| [n; LAYOUTS]) {
        let (x, y) = (
            Host::<T>::random(&mut numbers, n),
            Host::<T>::random(&mut numbers, n),
        );
        let (xs, ys) = (x.buffer(&queue), y.buffer(&queue));
        let mut results = Buffer::from_slice(&queue, &[T::from_f64(7.0); 4]).unwrap();
        let mut place = Buffer::from_slice(&queue, &[7_u64; 2]).unwrap();
        blas::dot(
            &queue,
            x.vector(&xs),
            y.vector(&ys),
            number(&mut results, 0),
        )
        .unwrap();
        blas::nrm2(&queue, x.vector(&xs), number(&mut results, 1)).unwrap();
        blas::asum(&queue, x.vector(&xs), number(&mut results, 3)).unwrap();
        let to = VectorMut::new(&mut place, 1).offset(1);
        blas::iamax(&queue, x.vector(&xs), to).unwrap();

        let (x, y) = (x.elements(), y.elements());
        let products = x.iter().zip(&y).map(|(x, y)| x * y);
        let sizes = products.clone().map(f64::abs).sum::<f64>();
        let squares = x.iter().map(|x| x * x).sum::<f64>();
        let magnitudes = x.iter().map(|x| x.abs()).sum::<f64>();
        let found: Vec<f64> = results
            .read(&queue)
            .unwrap()
            .into_iter()
            .map(T::to_f64)
            .collect();
        let expected = [products.sum(), squares.sqrt(), 7.0, magnitudes];
        let scales = [sizes, squares.sqrt(), 0.0, magnitudes];
        for ((found, expected), scale) in found.iter().zip(expected).zip(scales) {
            let near = (found - expected).abs() <= T::ULP * scale * (4.0 + (n as f64).sqrt());
            assert!(near, "{n}: {found}, not {expected}");
        }
        let largest = x.iter().map(|x| x.abs()).fold(0.0, f64::max);
        let first = x.iter().position(|x| x.abs() == largest).unwrap_or(0);
        assert_eq!(place.read(&queue).unwrap(), [7, first as u64], "{n}");
    }
}

/// One element of a buffer.
fn number<T: Number>(results: &mut Buffer<T>, at: usize) -> VectorMut<'_, T> {
    VectorMut::new(results, 1).offset(at)
}

#[test]
fn vectors_change_in_single_precision() {
    vectors_change::<f32>();
}

#[test]
fn vectors_change_in_double_precision() {
    vectors_change::<f64>();
}

#[test]
fn numbers_result_in_single_precision() {
    numbers_result::<f32>();
}

#[test]
fn numbers_result_in_double_precision() {
    numbers_result::<f64>();
}
