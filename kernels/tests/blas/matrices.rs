//! Products of matrices with vectors, outer products, and copies of matrices, of any size, layout,
//! leading dimension and offset.

use super::host::{Host, Number, Numbers, device_has};
use cltune::{Buffer, Queue};
use cltune_kernels::blas::{self, BlasError, Matrix, MatrixMut, Shape, VectorMut};

/// None, one, odd ones, and such that vectors of several elements fit into lines.
const SIZES: [(usize, usize); 9] = [
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 7),
    (9, 1),
    (31, 33),
    (64, 128),
    (130, 260),
    (513, 96),
];
/// For each size.
const LAYOUTS: usize = 4;

/// A matrix in a buffer that is longer than it.
struct HostMatrix<T> {
    shape: Shape,
    by_rows: bool,
    leading: usize,
    offset: usize,
    values: Vec<T>,
}

impl<T: Number> HostMatrix<T> {
    fn random(numbers: &mut Numbers, rows: usize, columns: usize) -> Self {
        let by_rows = numbers.among(&[true, false]);
        let (lines, length) = if by_rows {
            (rows, columns)
        } else {
            (columns, rows)
        };
        let leading = length + numbers.among(&[0, 0, 1, 4, 64]);
        let offset = numbers.among(&[0, 0, 1, 6, 32]);
        let shape = if by_rows {
            Shape::row_major(rows, columns)
        } else {
            Shape::column_major(rows, columns)
        };
        Self {
            shape: shape.leading(leading).offset(offset),
            by_rows,
            leading,
            offset,
            values: Host::<T>::random(numbers, offset + lines * leading + 3).values,
        }
    }

    fn place(&self, row: usize, column: usize) -> usize {
        let (line, at) = if self.by_rows {
            (row, column)
        } else {
            (column, row)
        };
        self.offset + line * self.leading + at
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        self.values[self.place(row, column)].to_f64()
    }

    fn buffer(&self, queue: &Queue) -> Buffer<T> {
        Buffer::from_slice(queue, &self.values).unwrap()
    }

    /// Compares a whole buffer: the elements of the matrix with these, all others with what they
    /// were.
    fn expect(&self, found: &[T], bound: f64, element: impl Fn(usize, usize) -> f64) {
        let mut expected: Vec<f64> = self.values.iter().map(|value| value.to_f64()).collect();
        for row in 0..self.shape.rows() {
            for column in 0..self.shape.columns() {
                expected[self.place(row, column)] = element(row, column);
            }
        }
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let near = (found.to_f64() - expected).abs() <= bound;
            assert!(near, "element {at}: {}, not {expected}", found.to_f64());
        }
    }
}

fn products<T: Number>() {
    let queue = Queue::default_device().unwrap();
    if !device_has::<T>(&queue) {
        return;
    }
    let mut numbers = Numbers(3);
    for (m, n) in SIZES.into_iter().flat_map(|size| [size; LAYOUTS]) {
        let a = HostMatrix::<T>::random(&mut numbers, m, n);
        let is_transposed = numbers.among(&[true, false]);
        let [of_x, of_y] = if is_transposed { [m, n] } else { [n, m] };
        let x = Host::<T>::random(&mut numbers, of_x);
        let y = Host::<T>::random(&mut numbers, of_y);
        let (alpha, beta) = numbers.among(&[(0.75, -1.25), (1.0, 0.0), (0.0, 0.5), (-2.0, 1.0)]);
        let (of_a, xs, mut ys) = (a.buffer(&queue), x.buffer(&queue), y.buffer(&queue));
        let mut matrix = Matrix::new(&of_a, a.shape);
        if is_transposed {
            matrix = matrix.transposed();
        }
        let done = blas::gemv(
            &queue,
            T::from_f64(alpha),
            matrix,
            x.vector(&xs),
            T::from_f64(beta),
            y.vector_mut(&mut ys),
        );
        assert_eq!(done.unwrap().is_some(), m * n > 0, "{m} x {n}");
        let bound = T::ULP * (8.0 + of_x as f64);
        y.expect_near(&ys.read(&queue).unwrap(), bound, |i| {
            if m * n == 0 {
                return y.get(i);
            }
            let term = |j: usize| if is_transposed { a.get(j, i) } else { a.get(i, j) } * x.get(j);
            alpha * (0..of_x).map(term).sum::<f64>() + beta * y.get(i)
        });

        let (x, y) = (
            Host::<T>::random(&mut numbers, m),
            Host::<T>::random(&mut numbers, n),
        );
        let (xs, ys, mut of_a) = (x.buffer(&queue), y.buffer(&queue), a.buffer(&queue));
        let matrix = MatrixMut::new(&mut of_a, a.shape);
        let alpha = T::from_f64(0.75);
        blas::ger(&queue, alpha, x.vector(&xs), y.vector(&ys), matrix).unwrap();
        a.expect(&of_a.read(&queue).unwrap(), 4.0 * T::ULP, |row, column| {
            a.get(row, column) + 0.75 * x.get(row) * y.get(column)
        });
    }
}

fn copies<T: Number>() {
    let queue = Queue::default_device().unwrap();
    if !device_has::<T>(&queue) {
        return;
    }
    let mut numbers = Numbers(4);
    for (m, n) in SIZES.into_iter().flat_map(|size| [size; LAYOUTS]) {
        let a = HostMatrix::<T>::random(&mut numbers, m, n);
        let of_a = a.buffer(&queue);
        let (down, along) = numbers.among(&[(0, 0), (1, 0), (0, 5), (40, 70)]);
        let b = HostMatrix::<T>::random(&mut numbers, m + down, n + along);
        let mut of_b = b.buffer(&queue);
        let to = MatrixMut::new(&mut of_b, b.shape);
        let fill = T::from_f64(-3.0);
        blas::copy_matrix(&queue, Matrix::new(&of_a, a.shape), to, fill).unwrap();
        b.expect(&of_b.read(&queue).unwrap(), 0.0, |row, column| {
            if row < m && column < n {
                a.get(row, column)
            } else {
                -3.0
            }
        });

        let b = HostMatrix::<T>::random(&mut numbers, n, m);
        let mut of_b = b.buffer(&queue);
        let to = MatrixMut::new(&mut of_b, b.shape);
        blas::transpose(&queue, Matrix::new(&of_a, a.shape), to).unwrap();
        b.expect(&of_b.read(&queue).unwrap(), 0.0, |row, column| {
            a.get(column, row)
        });
    }
}

#[test]
fn products_in_single_precision() {
    products::<f32>();
}

#[test]
fn products_in_double_precision() {
    products::<f64>();
}

#[test]
fn copies_in_single_precision() {
    copies::<f32>();
}

#[test]
fn copies_in_double_precision() {
    copies::<f64>();
}

/// What is multiplied by 0 is not read, as BLAS has it; everything else goes through.
#[test]
fn what_is_no_number_counts_only_where_it_is_multiplied() {
    let queue = Queue::default_device().unwrap();
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    let product =
        |a: [f32; 4], x: [f32; 2], y: [f32; 2], alpha: f32, beta: f32, transposed: bool| {
            let (a, x, y) = (
                Host::of(a.to_vec()),
                Host::of(x.to_vec()),
                Host::of(y.to_vec()),
            );
            let (of_a, xs, mut ys) = (a.buffer(&queue), x.buffer(&queue), y.buffer(&queue));
            let mut matrix = Matrix::new(&of_a, Shape::row_major(2, 2));
            if transposed {
                matrix = matrix.transposed();
            }
            blas::gemv(
                &queue,
                alpha,
                matrix,
                x.vector(&xs),
                beta,
                y.vector_mut(&mut ys),
            )
            .unwrap();
            ys.read(&queue).unwrap()
        };
    for transposed in [false, true] {
        let one = [1.0, 0.0, 0.0, 1.0];
        assert_eq!(
            product(one, [2.0, 3.0], [nan, infinity], 1.0, 0.0, transposed),
            [2.0, 3.0]
        );
        assert_eq!(
            product([nan; 4], [infinity; 2], [2.0, 4.0], 0.0, 0.5, transposed),
            [1.0, 2.0]
        );
        assert_eq!(
            product([nan; 4], [nan; 2], [nan; 2], 0.0, 0.0, transposed),
            [0.0, 0.0]
        );
        let found = product(
            [infinity, 1.0, 1.0, 1.0],
            [1.0, 1.0],
            [nan, 1.0],
            1.0,
            1.0,
            transposed,
        );
        assert!(found[0].is_nan() && found[1] == 3.0, "{found:?}");
        let found = product(
            [infinity, 0.0, 0.0, 1.0],
            [1.0, 1.0],
            [1.0, 1.0],
            -1.0,
            1.0,
            transposed,
        );
        assert_eq!(found, [-infinity, 0.0]);
    }
    // Nothing is done where alpha is 0.
    let (x, mut a) = (
        Host::of(vec![nan; 2]),
        Buffer::from_slice(&queue, &[1.0; 4]).unwrap(),
    );
    let xs = x.buffer(&queue);
    let matrix = MatrixMut::new(&mut a, Shape::row_major(2, 2));
    let done = blas::ger(&queue, 0.0, x.vector(&xs), x.vector(&xs), matrix).unwrap();
    assert!(done.is_none());
    assert_eq!(a.read(&queue).unwrap(), [1.0; 4]);
}

#[test]
fn matrices_that_do_not_fit_are_errors_and_nothing_runs() {
    let queue = Queue::default_device().unwrap();
    let a = Buffer::from_slice(&queue, &[1.0_f32; 12]).unwrap();
    let x = Host::of(vec![1.0_f32; 4]);
    let xs = x.buffer(&queue);
    let mut y = Buffer::from_slice(&queue, &[7.0_f32; 4]).unwrap();
    let mut gemv = |shape: Shape, len: usize| {
        let y = VectorMut::new(&mut y, len);
        let error = blas::gemv(&queue, 1.0, Matrix::new(&a, shape), x.vector(&xs), 1.0, y);
        error.unwrap_err().to_string()
    };
    let shape = Shape::row_major(3, 4);
    assert!(gemv(shape.transposed(), 3).contains("x has 4 elements, and A has 3 columns"));
    assert!(gemv(shape, 2).contains("y has 2 elements, and A has 3 rows"));
    assert!(gemv(shape.leading(3), 3).contains("leading dimension of A is 3"));
    assert!(gemv(shape.offset(1), 3).contains("A reaches to element 13 of a buffer of 12"));
    assert!(gemv(shape.leading(usize::MAX), 3).contains("A reaches"));
    assert_eq!(y.read(&queue).unwrap(), [7.0; 4]);

    let mut b = Buffer::from_slice(&queue, &[7.0_f32; 12]).unwrap();
    let to = MatrixMut::new(&mut b, Shape::row_major(3, 4));
    let error = blas::transpose(&queue, Matrix::new(&a, shape), to).unwrap_err();
    assert!(
        matches!(
            error,
            BlasError::Shapes {
                a: (4, 3),
                b: (3, 4),
                ..
            }
        ),
        "{error}"
    );
    let to = MatrixMut::new(&mut b, Shape::row_major(2, 6));
    let error = blas::copy_matrix(&queue, Matrix::new(&a, shape), to, 0.0).unwrap_err();
    assert!(
        matches!(
            error,
            BlasError::Shapes {
                a: (3, 4),
                b: (2, 6),
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(b.read(&queue).unwrap(), [7.0; 12]);
}
