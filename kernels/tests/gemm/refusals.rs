//! Calls that do not fit are errors.

use cltune::{Buffer, Queue};
use cltune_kernels::gemm::{Arithmetic, Gemm, GemmError, GemmOptions, Matrix, MatrixMut, Shape};

#[test]
fn what_does_not_fit_is_an_error_and_nothing_runs() {
    let queue = Queue::default_device().unwrap();
    let twelve = Buffer::from_slice(&queue, &[1.0_f32; 12]).unwrap();
    let mut target = Buffer::from_slice(&queue, &[7.0_f32; 9]).unwrap();
    let mut gemm = Gemm::new(&queue).unwrap().arithmetic(Arithmetic::Plain);
    let mut fails = |a: Shape, b: Shape, c: Shape| {
        let (a, b) = (Matrix::new(&twelve, a), Matrix::new(&twelve, b));
        let c = MatrixMut::new(&mut target, c);
        gemm.multiply(&queue, 1.0, a, b, 0.0, c)
            .unwrap_err()
            .to_string()
    };
    let (a, b, c) = (
        Shape::row_major(3, 4),
        Shape::row_major(4, 3),
        Shape::row_major(3, 3),
    );
    assert!(
        fails(a, a, c).contains("3x4 matrix times a 3x4"),
        "{}",
        fails(a, a, c)
    );
    assert!(fails(a.offset(1), b, c).contains("A reaches to element 13 of a buffer of 12"));
    assert!(fails(a, b.leading(4), c).contains("B reaches to element 15"));
    assert!(fails(a, b, c.leading(2)).contains("leading dimension of C is 2"));
    assert!(fails(a, b, c.leading(usize::MAX)).contains("C reaches"));
    assert!(
        target
            .read(&queue)
            .unwrap()
            .iter()
            .all(|&value| value == 7.0)
    );
    let huge = Shape::row_major(1, 1).leading(1 << 31);
    let (a, b) = (
        Matrix::new(&twelve, huge),
        Matrix::new(&twelve, Shape::row_major(1, 1)),
    );
    let error = gemm.multiply(
        &queue,
        1.0,
        a,
        b,
        0.0,
        MatrixMut::new(&mut target, Shape::row_major(1, 1)),
    );
    assert!(
        matches!(error, Err(GemmError::TooLarge { name: "A", .. })),
        "{error:?}"
    );
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
