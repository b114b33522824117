//! Calls that do not fit are errors.

use cltune::{Buffer, Queue};
use cltune_kernels::blas::{self, BlasError, MatrixMut, Shape, Vector, VectorMut};

#[test]
fn what_does_not_fit_is_an_error_and_nothing_runs() {
    let queue = Queue::default_device().unwrap();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 10]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[7.0_f32; 10]).unwrap();
    let mut axpy = |x: Vector<'_, f32>, n: usize, offset: usize, stride: isize| {
        let y = VectorMut::new(&mut y, n).offset(offset).stride(stride);
        let error = blas::axpy(&queue, 1.0, x, y).unwrap_err();
        error.to_string()
    };
    let whole = Vector::new(&x, 10);
    assert!(axpy(whole, 9, 0, 1).contains("x has 10 elements and vector y has 9"));
    assert!(axpy(whole, 10, 1, 1).contains("y reaches to element 11 of a buffer of 10"));
    assert!(
        axpy(Vector::new(&x, 4).stride(-3).offset(1), 4, 0, 1).contains("x reaches to element 11")
    );
    assert!(axpy(Vector::new(&x, 2).stride(0), 2, 0, 1).contains("x has stride 0"));
    assert!(axpy(Vector::new(&x, 2), 2, usize::MAX, 1).contains("y reaches"));
    assert!(axpy(Vector::new(&x, 3), 3, 0, isize::MIN).contains("y reaches"));
    // Every function of two vectors.
    let differ = |error: BlasError| {
        assert!(
            matches!(
                error,
                BlasError::Lengths {
                    x: "x",
                    of_x: 10,
                    y: "y",
                    of_y: 9
                }
            ),
            "{error}"
        );
    };
    differ(blas::copy(&queue, whole, VectorMut::new(&mut y, 9)).unwrap_err());
    let mut other = Buffer::from_slice(&queue, &[7.0_f32; 10]).unwrap();
    let (ten, nine) = (VectorMut::new(&mut other, 10), VectorMut::new(&mut y, 9));
    differ(blas::swap(&queue, ten, nine).unwrap_err());
    let (ten, nine) = (VectorMut::new(&mut other, 10), VectorMut::new(&mut y, 9));
    differ(blas::rot(&queue, ten, nine, 0.5, 0.5).unwrap_err());
    let result = VectorMut::new(&mut y, 1);
    differ(blas::dot(&queue, whole, Vector::new(&x, 9), result).unwrap_err());
    // What they would write does not fit.
    let beyond = VectorMut::new(&mut y, 4).offset(7);
    let error = blas::copy(&queue, Vector::new(&x, 4), beyond).unwrap_err();
    assert!(
        error.to_string().contains("y reaches to element 11"),
        "{error}"
    );
    let (x_of_swap, beyond) = (
        VectorMut::new(&mut other, 4),
        VectorMut::new(&mut y, 4).stride(4),
    );
    let error = blas::swap(&queue, x_of_swap, beyond).unwrap_err();
    assert!(
        error.to_string().contains("y reaches to element 13"),
        "{error}"
    );
    let (beyond, y_of_rot) = (VectorMut::new(&mut other, 11), VectorMut::new(&mut y, 11));
    let error = blas::rot(&queue, beyond, y_of_rot, 0.5, 0.5).unwrap_err();
    assert!(
        error.to_string().contains("x reaches to element 11"),
        "{error}"
    );
    assert_eq!(other.read(&queue).unwrap(), [7.0; 10]);
    // Fits exactly.
    let fits = VectorMut::new(&mut y, 4).stride(-3);
    blas::axpy(&queue, 0.0, Vector::new(&x, 4).stride(3), fits).unwrap();
    assert_eq!(y.read(&queue).unwrap(), [7.0; 10]);

    let mut none = Buffer::from_slice(&queue, &[7.0_f32; 2]).unwrap();
    let error = blas::dot(&queue, whole, whole, VectorMut::new(&mut none, 2)).unwrap_err();
    assert!(matches!(error, BlasError::NoNumber { len: 2 }), "{error}");
    let beyond = VectorMut::new(&mut none, 1).offset(2);
    let error = blas::asum(&queue, whole, beyond).unwrap_err();
    assert!(
        matches!(
            error,
            BlasError::TooShort {
                name: "result",
                needed: 3,
                len: 2
            }
        ),
        "{error}"
    );
    assert_eq!(none.read(&queue).unwrap(), [7.0; 2]);
}

/// The error has the caller's name of the vector, also where the kernel has x and y exchanged.
#[test]
fn vectors_of_another_context_are_refused_by_their_names() {
    let [queue, other] = [(); 2].map(|()| Queue::default_device().unwrap());
    let [here, there] =
        [&queue, &other].map(|queue| Buffer::from_slice(queue, &[1.0_f32; 4]).unwrap());
    let mut a = Buffer::from_slice(&queue, &[7.0_f32; 16]).unwrap();
    for shape in [Shape::row_major(4, 4), Shape::column_major(4, 4)] {
        for (x, y, named) in [(&there, &here, "vector x"), (&here, &there, "vector y")] {
            let (x, y) = (Vector::new(x, 4), Vector::new(y, 4));
            let done = blas::ger(&queue, 1.0, x, y, MatrixMut::new(&mut a, shape));
            let said = done.unwrap_err().to_string();
            let expected = format!("{named} belongs to another context");
            assert!(said.starts_with(&expected), "`{said}` without `{expected}`");
        }
    }
    assert_eq!(a.read(&queue).unwrap(), [7.0; 16]);
}
