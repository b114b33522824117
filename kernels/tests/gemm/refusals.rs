//! Calls that do not fit are errors.

use crate::host::{Number, has_double_precision};
use cltune::{Buffer, Error, Event, Queue, bf16, f16};
use cltune_kernels::gemm::{Batch, Gemm, GemmError, GemmOptions, Matrix, MatrixMut, Route, Shape};

/// One of the functions that multiply.
type Call<T> = fn(
    &mut Gemm<T>,
    &Queue,
    Matrix<'_, T>,
    Matrix<'_, T>,
    MatrixMut<'_, T>,
) -> Result<Option<Event>, GemmError>;

fn multiply<T: Number>(
    gemm: &mut Gemm<T>,
    queue: &Queue,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: MatrixMut<'_, T>,
) -> Result<Option<Event>, GemmError> {
    gemm.multiply(queue, T::real(1.0), a, b, T::real(0.0), c)
}

fn multiply_with<T: Number>(
    gemm: &mut Gemm<T>,
    queue: &Queue,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: MatrixMut<'_, T>,
) -> Result<Option<Event>, GemmError> {
    let options = GemmOptions::from(Route::Direct).relu();
    gemm.multiply_with(queue, options, T::real(1.0), a, b, T::real(0.0), c)
}

/// What does not fit is refused on any device, also where it has no TF32.
fn multiply_tf32(
    gemm: &mut Gemm<f32>,
    queue: &Queue,
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    c: MatrixMut<'_, f32>,
) -> Result<Option<Event>, GemmError> {
    gemm.multiply_tf32(queue, 1.0, a, b, 0.0, c)
}

/// One product.
const ONE: Batch = Batch {
    count: 1,
    stride_a: 0,
    stride_b: 0,
    stride_c: 0,
};

fn multiply_batched<T: Number>(
    gemm: &mut Gemm<T>,
    queue: &Queue,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: MatrixMut<'_, T>,
) -> Result<Option<Event>, GemmError> {
    gemm.multiply_batched(queue, T::real(1.0), a, b, T::real(0.0), c, ONE)
}

/// The same by a route.
fn multiply_batched_with<T: Number>(
    gemm: &mut Gemm<T>,
    queue: &Queue,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: MatrixMut<'_, T>,
) -> Result<Option<Event>, GemmError> {
    let route = Some(Route::Direct);
    gemm.multiply_batched_with(queue, route, T::real(1.0), a, b, T::real(0.0), c, ONE)
}

fn measure<T: Number>(
    gemm: &mut Gemm<T>,
    queue: &Queue,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: MatrixMut<'_, T>,
) -> Result<Option<Event>, GemmError> {
    gemm.measure(queue, T::real(1.0), a, b, c).map(|_| None)
}

/// Those that every type has.
fn calls<T: Number>() -> Vec<Call<T>> {
    vec![
        multiply,
        multiply_with,
        multiply_batched,
        multiply_batched_with,
        measure,
    ]
}

fn of_single_precision() -> Vec<Call<f32>> {
    let mut calls = calls();
    calls.push(multiply_tf32);
    calls
}

fn are_refused<T: Number>(calls: &[Call<T>]) {
    let queue = Queue::default_device().unwrap();
    let twelve = Buffer::from_slice(&queue, &[T::from_f64(1.0); 12]).unwrap();
    let mut target = Buffer::from_slice(&queue, &[T::from_f64(7.0); 9]).unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let (a, b, c) = (
        Shape::row_major(3, 4),
        Shape::row_major(4, 3),
        Shape::row_major(3, 3),
    );
    let (row, column) = (Shape::row_major(1, 1), Shape::column_major(1, 1));
    let large = 1 << 31;
    let refusals = [
        (a, a, c, "3x4 matrix times a 3x4"),
        (a, b, a, "is no 3x4 matrix"),
        (
            a.offset(1),
            b,
            c,
            "A reaches to element 13 of a buffer of 12",
        ),
        (a, b.leading(4), c, "B reaches to element 15"),
        (
            a,
            b,
            c.offset(1),
            "C reaches to element 10 of a buffer of 9",
        ),
        (a, b, c.leading(2), "leading dimension of C is 2"),
        (a.leading(3), b, c, "leading dimension of A is 3"),
        (a, b, c.leading(usize::MAX), "C reaches"),
        (row.leading(large), row, row, "2147483648, of matrix A"),
        (row, column.leading(large), row, "2147483648, of matrix B"),
        (row, row, row.leading(large), "2147483648, of matrix C"),
        (
            row,
            row,
            row.offset(large),
            "C reaches to element 2147483649",
        ),
    ];
    for (call, multiply) in calls.iter().enumerate() {
        for (a, b, c, part) in refusals {
            let (a, b) = (Matrix::new(&twelve, a), Matrix::new(&twelve, b));
            let done = multiply(&mut gemm, &queue, a, b, MatrixMut::new(&mut target, c));
            let said = done.unwrap_err().to_string();
            assert!(
                said.contains(part),
                "call {call}: `{said}` without `{part}`"
            );
            let left = target.read(&queue).unwrap();
            assert!(left.iter().all(|value| value.to_f64() == 7.0), "{said}");
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error_and_nothing_runs() {
    are_refused::<f32>(&of_single_precision());
    if has_double_precision() {
        are_refused::<f64>(&calls());
    }
    are_refused::<f16>(&calls());
    are_refused::<bf16>(&calls());
}

/// The error names the argument as the caller knows it, also where kernels have A and B exchanged.
fn of_another_context_are_refused<T: Number>(calls: &[Call<T>]) {
    let [queue, other] = [(); 2].map(|()| Queue::default_device().unwrap());
    let buffer =
        |queue: &Queue, value| Buffer::from_slice(queue, &[T::from_f64(value); 9]).unwrap();
    let (ones, ones_there) = (buffer(&queue, 1.0), buffer(&other, 1.0));
    let (mut target, mut target_there) = (buffer(&queue, 7.0), buffer(&other, 7.0));
    let [mut gemm, mut gemm_there] = [&queue, &other].map(|queue| Gemm::new(queue).unwrap());
    let says = |done: Result<Option<Event>, GemmError>, named: &str| {
        let error = done.unwrap_err();
        let is_of_context = matches!(error, GemmError::Runtime(Error::OtherContext { .. }));
        let expected = format!("{named} belongs to another context");
        assert!(
            is_of_context && error.to_string().starts_with(&expected),
            "`{error}` without `{expected}`"
        );
    };
    for shape in [Shape::row_major(3, 3), Shape::column_major(3, 3)] {
        let (here, there) = (Matrix::new(&ones, shape), Matrix::new(&ones_there, shape));
        for multiply in calls {
            let mut by = |gemm: &mut Gemm<T>, a, b, named: &str| {
                let c = MatrixMut::new(&mut target, shape);
                says(multiply(gemm, &queue, a, b, c), named);
            };
            by(&mut gemm, there, here, "matrix A");
            by(&mut gemm, here, there, "matrix B");
            by(&mut gemm_there, here, here, "the `Gemm`");
            let c = MatrixMut::new(&mut target_there, shape);
            says(multiply(&mut gemm, &queue, here, here, c), "matrix C");
        }
        let c = MatrixMut::new(&mut target, shape);
        let options = GemmOptions::new().bias(&ones_there);
        let (one, zero) = (T::real(1.0), T::real(0.0));
        let done = gemm.multiply_with(&queue, options, one, here, here, zero, c);
        says(done, "the bias");
    }
    for (queue, target) in [(&queue, &target), (&other, &target_there)] {
        let left = target.read(queue).unwrap();
        assert!(left.iter().all(|value| value.to_f64() == 7.0));
    }
}

#[test]
fn arguments_of_another_context_are_refused_by_their_names() {
    of_another_context_are_refused::<f32>(&of_single_precision());
    if has_double_precision() {
        of_another_context_are_refused::<f64>(&calls());
    }
    of_another_context_are_refused::<f16>(&calls());
    of_another_context_are_refused::<bf16>(&calls());
}

/// It is one that the device has: the product by it is right.
#[test]
fn a_bias_has_an_element_for_each_column() {
    let queue = Queue::default_device().unwrap();
    let ones = Buffer::from_slice(&queue, &[1.0_f32; 12]).unwrap();
    let two = Buffer::from_slice(&queue, &[0.5_f32; 2]).unwrap();
    let mut target = Buffer::from_slice(&queue, &[7.0_f32; 6]).unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let options = GemmOptions::new().bias(&two);
    let mut multiply = |a, b, c| {
        let (a, b) = (Matrix::new(&ones, a), Matrix::new(&ones, b));
        let done = gemm.multiply_with(
            &queue,
            options,
            1.0,
            a,
            b,
            0.0,
            MatrixMut::new(&mut target, c),
        );
        (done.map(|_| ()), target.read(&queue).unwrap())
    };
    // Also where C lies column after column, so that its transpose is computed.
    for shape in [Shape::row_major, Shape::column_major] {
        let (refused, found) = multiply(shape(2, 4), shape(4, 3), shape(2, 3));
        let said = refused.unwrap_err().to_string();
        let expected = "the bias has 2 elements, and C has 3 columns: give one for each";
        assert_eq!(said, expected);
        assert!(!found.contains(&4.5), "{found:?}");
    }
    for shape in [Shape::row_major, Shape::column_major] {
        let (done, found) = multiply(shape(3, 4), shape(4, 2), shape(3, 2));
        done.unwrap();
        assert_eq!(found, [4.5; 6]);
    }
    // Elements that C has not are not read.
    let (done, _) = multiply(
        Shape::row_major(1, 4),
        Shape::row_major(4, 1),
        Shape::row_major(1, 1),
    );
    done.unwrap();
}

#[test]
fn the_route_that_is_taken_is_known_before() {
    let queue = Queue::default_device().unwrap();
    let ones = Buffer::from_slice(&queue, &[1.0_f32; 12]).unwrap();
    let mut target = Buffer::from_slice(&queue, &[7.0_f32; 9]).unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let (a, b) = (
        Matrix::new(&ones, Shape::row_major(3, 4)),
        Matrix::new(&ones, Shape::row_major(4, 3)),
    );
    let square = Shape::row_major(3, 3);
    let route = gemm.route(1.0, a, b, MatrixMut::new(&mut target, square));
    let route = route.unwrap().unwrap();
    let c = MatrixMut::new(&mut target, square);
    gemm.multiply_with(&queue, route, 1.0, a, b, 0.0, c)
        .unwrap();
    assert_eq!(target.read(&queue).unwrap(), [4.0; 9]);
    // Nothing is launched.
    let empty = Matrix::new(&ones, Shape::row_major(0, 4));
    let c = MatrixMut::new(&mut target, Shape::row_major(0, 3));
    assert_eq!(gemm.route(1.0, empty, b, c).unwrap(), None);
    let c = MatrixMut::new(&mut target, Shape::row_major(3, 2));
    let error = gemm.route(1.0, a, b, c).unwrap_err();
    assert!(matches!(error, GemmError::Shapes { .. }), "{error}");
}
