//! Calls that do not fit are errors.

use cltune::{Buffer, Queue};
use cltune_kernels::gemm::{Arithmetic, Gemm, GemmError, Matrix, MatrixMut, Shape};

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
