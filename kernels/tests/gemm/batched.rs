//! Batches of products.

use crate::host::{Expected, Host, Number, Numbers, cases, has_double_precision};
use cltune::{Buffer, Queue, bf16, f16};
use cltune_kernels::gemm::{Batch, Gemm, GemmError, Matrix, MatrixMut, Route, Shape};

/// How a batch is multiplied.
#[derive(Clone, Copy, Debug)]
enum Way {
    Chosen,
    /// In one launch or, by a route, in some for each product.
    By(Option<Route>),
}

const WAYS: [Way; 4] = [
    Way::Chosen,
    Way::By(None),
    Way::By(Some(Route::Direct)),
    Way::By(None),
];

/// One batch, compared element by element; what lies between matrices must not change.
fn check<T: Number>(
    queue: &Queue,
    way: Way,
    [a, b, c]: [&Host<T>; 3],
    (alpha, beta): (f64, f64),
    batch: Batch,
) {
    let of_a = Buffer::from_slice(queue, &a.values).unwrap();
    let of_b = Buffer::from_slice(queue, &b.values).unwrap();
    let mut of_c = Buffer::from_slice(queue, &c.values).unwrap();
    let mut gemm = Gemm::<T>::new(queue).unwrap();
    let (a_there, b_there) = (Matrix::new(&of_a, a.shape), Matrix::new(&of_b, b.shape));
    let c_there = MatrixMut::new(&mut of_c, c.shape);
    let (alpha_there, beta_there) = (T::real(alpha), T::real(beta));
    let done = match way {
        Way::Chosen => gemm.multiply_batched(
            queue,
            alpha_there,
            a_there,
            b_there,
            beta_there,
            c_there,
            batch,
        ),
        Way::By(route) => gemm.multiply_batched_with(
            queue,
            route,
            alpha_there,
            a_there,
            b_there,
            beta_there,
            c_there,
            batch,
        ),
    };
    done.unwrap();
    let mut expected = Expected::unchanged(c);
    for index in 0..batch.count {
        let of = |host, stride| (host, index * stride);
        let matrices = [
            of(a, batch.stride_a),
            of(b, batch.stride_b),
            of(c, batch.stride_c),
        ];
        expected = expected.after(matrices, alpha, beta);
    }
    expected.is_found(&of_c.read(queue).unwrap(), || {
        format!(
            "{way:?} {:?} x {:?} -> {:?}, alpha {alpha}, beta {beta}, {batch:?}",
            a.shape, b.shape, c.shape
        )
    });
}

/// Batches of all kinds.
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn random_cases<T: Number>(seed: u64, count: usize) {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(seed);
    let sizes = [
        1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 23, 31, 32, 33, 47, 64, 65, 97,
    ];
    for case in 0..cases(count) {
        let [m, n, k] = [(); 3].map(|()| numbers.among(&sizes));
        let products = numbers.among(&[1, 2, 3, 8, 9, 21]);
        let mut random = |rows, columns, strides: &[Option<usize>]| {
            let (by_rows, gap, offset) = (
                numbers.below(2) == 0,
                numbers.among(&[0, 0, 1, 3, 8]),
                numbers.among(&[0, 0, 4, 5]),
            );
            let host = Host::<T>::random(&mut numbers, rows, columns, by_rows, gap, offset);
            // Side by side or with a gap, or what is said.
            let side_by_side = host.values.len() - offset;
            let stride = numbers.among(strides);
            let stride = stride.unwrap_or(side_by_side + numbers.among(&[0, 0, 1, 8]));
            (host.repeated(&mut numbers, products, stride), stride)
        };
        let (a, stride_a) = random(m, k, &[None, None, None, Some(0), Some(1)]);
        let (b, stride_b) = random(k, n, &[None, None, None, Some(0), Some(4)]);
        let (c, stride_c) = random(m, n, &[None]);
        let factors =
            numbers.among(&[(1.0, 0.0), (1.0, 1.0), (-0.5, 0.25), (2.0, 0.0), (0.0, 0.5)]);
        let batch = Batch {
            count: products,
            stride_a,
            stride_b,
            stride_c,
        };
        check(
            &queue,
            WAYS[case % WAYS.len()],
            [&a, &b, &c],
            factors,
            batch,
        );
    }
}

#[test]
fn single_precision_is_right_in_batches() {
    random_cases::<f32>(11, 80);
}

#[test]
fn double_precision_is_right_in_batches() {
    if has_double_precision() {
        random_cases::<f64>(12, 40);
    }
}

#[test]
fn types_of_16_bits_are_rounded_once_in_batches() {
    random_cases::<f16>(13, 40);
    random_cases::<bf16>(14, 40);
}

/// Lines of A and B begin at multiples of so many elements, where tensor cores read them if the
/// device has some.
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn random_aligned_cases<T: Number>(seed: u64, count: usize, multiple: usize) {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(seed);
    let sizes = [16, 17, 24, 32, 40, 47, 64, 65, 72, 100, 128, 136];
    for case in 0..cases(count) {
        let [m, n, k] = [(); 3].map(|()| numbers.among(&sizes));
        let products = numbers.among(&[1, 2, 3, 5, 9]);
        let mut random = |rows: usize, columns: usize| {
            let by_rows = numbers.below(2) == 0;
            let length = if by_rows { columns } else { rows };
            let gap = length.next_multiple_of(multiple) - length + numbers.among(&[0, 0, multiple]);
            let offset = numbers.among(&[0, 0, multiple]);
            let host = Host::<T>::random(&mut numbers, rows, columns, by_rows, gap, offset);
            let side_by_side = host.values.len() - offset;
            let stride = numbers.among(&[side_by_side, side_by_side + multiple, 0]);
            (host.repeated(&mut numbers, products, stride), stride)
        };
        let (a, stride_a) = random(m, k);
        let (b, stride_b) = random(k, n);
        let (by_rows, gap) = (numbers.below(2) == 0, numbers.among(&[0, 0, 1, 8]));
        let c = Host::<T>::random(&mut numbers, m, n, by_rows, gap, 0);
        let stride_c = c.values.len() + numbers.among(&[0, 0, 3]);
        let c = c.repeated(&mut numbers, products, stride_c);
        let factors = numbers.among(&[(1.0, 0.0), (1.0, 1.0), (-0.5, 0.25)]);
        let batch = Batch {
            count: products,
            stride_a,
            stride_b,
            stride_c,
        };
        let way = [Way::By(None), Way::Chosen][case % 2];
        check(&queue, way, [&a, &b, &c], factors, batch);
    }
}

#[test]
fn aligned_batches_of_16_bits_are_right() {
    random_aligned_cases::<f16>(21, 48, 8);
    random_aligned_cases::<bf16>(22, 48, 8);
}

/// Elements are copied by fours, by twos and one by one.
#[test]
fn batches_of_16_bits_are_right_wherever_lines_begin() {
    for multiple in [4, 2, 1] {
        random_aligned_cases::<f16>(24, 32, multiple);
        random_aligned_cases::<bf16>(25, 32, multiple);
    }
}

#[test]
fn aligned_batches_in_double_precision_are_right() {
    if !has_double_precision() {
        cltune_tests::skip("the device has no double precision");
        return;
    }
    random_aligned_cases::<f64>(23, 48, 8);
}

fn side_by_side<T: Number>(
    numbers: &mut Numbers,
    count: usize,
    rows: usize,
    columns: usize,
) -> Host<T> {
    let host = Host::random(numbers, rows, columns, true, 0, 0);
    host.repeated(numbers, count, rows * columns)
}

#[test]
fn every_size_from_1_to_97_is_right() {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(15);
    for side in 1..=97 {
        let mut random = || side_by_side::<f32>(&mut numbers, 3, side, side);
        let (a, b, c) = (random(), random(), random());
        let stride = side * side;
        let batch = Batch {
            count: 3,
            stride_a: stride,
            stride_b: stride,
            stride_c: stride,
        };
        check(&queue, Way::By(None), [&a, &b, &c], (1.0, 0.5), batch);
    }
}

#[test]
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn rows_that_follow_each_other_and_one_right_factor_are_one_product() {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(16);
    let (m, n, k, count) = (5, 9, 13, 40);
    let a = side_by_side::<f32>(&mut numbers, count, m, k);
    let b = side_by_side(&mut numbers, 1, k, n);
    let c = side_by_side(&mut numbers, count, m, n);
    let batch = Batch {
        count,
        stride_a: m * k,
        stride_b: 0,
        stride_c: m * n,
    };
    check(&queue, Way::Chosen, [&a, &b, &c], (1.0, 0.5), batch);
    // The same of transposes, where it is A that all have.
    let transposed = |mut host: Host<f32>| {
        host.transpose();
        host
    };
    let (a, b, c) = (transposed(b), transposed(a), transposed(c));
    let batch = Batch {
        stride_a: 0,
        stride_b: m * k,
        ..batch
    };
    check(&queue, Way::Chosen, [&a, &b, &c], (1.0, 0.5), batch);
}

#[test]
fn products_too_large_for_a_batch_are_right_one_after_the_other() {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(17);
    let side = 140;
    let mut random = || side_by_side::<f32>(&mut numbers, 2, side, side);
    let (a, b, c) = (random(), random(), random());
    let stride = side * side;
    let batch = Batch {
        count: 2,
        stride_a: stride,
        stride_b: stride,
        stride_c: stride,
    };
    check(&queue, Way::Chosen, [&a, &b, &c], (1.0, 1.0), batch);
    check(&queue, Way::By(None), [&a, &b, &c], (1.0, 1.0), batch);
}

#[test]
fn matrices_may_lie_between_the_rows_of_others() {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(18);
    let (side, count) = (6, 5);
    // Rows of all products side by side, with one element between them.
    let gap = (count - 1) * (side + 1) + 1;
    let mut random = || Host::<f32>::random(&mut numbers, side, side, true, gap, 0);
    let (a, b, c) = (random(), random(), random());
    let batch = Batch {
        count,
        stride_a: side + 1,
        stride_b: side + 1,
        stride_c: side + 1,
    };
    for way in WAYS {
        check(&queue, way, [&a, &b, &c], (1.0, 1.0), batch);
    }
}

#[test]
fn batches_without_products_elements_or_summands_are_as_blas_has_them() {
    let queue = Queue::default_device().unwrap();
    let mut numbers = Numbers(19);
    let mut random = |rows, columns| side_by_side::<f32>(&mut numbers, 7, rows, columns);
    for way in WAYS {
        let batch = |count, [stride_a, stride_b, stride_c]: [usize; 3]| Batch {
            count,
            stride_a,
            stride_b,
            stride_c,
        };
        // No products: nothing happens.
        let (a, b, c) = (random(3, 4), random(4, 5), random(3, 5));
        check(
            &queue,
            way,
            [&a, &b, &c],
            (1.0, 0.0),
            batch(0, [12, 20, 15]),
        );
        // One, where the others are left alone.
        check(
            &queue,
            way,
            [&a, &b, &c],
            (1.0, 0.0),
            batch(1, [12, 20, 15]),
        );
        // No elements.
        let (a, b, c) = (random(0, 4), random(4, 5), random(0, 5));
        check(&queue, way, [&a, &b, &c], (1.0, 0.0), batch(7, [0, 20, 0]));
        // No summands: C is scaled, or zero without being read.
        let (a, b, mut c) = (random(3, 0), random(0, 5), random(3, 5));
        check(&queue, way, [&a, &b, &c], (1.0, 0.5), batch(7, [0, 0, 15]));
        c.values.fill(f32::NAN);
        check(&queue, way, [&a, &b, &c], (1.0, 0.0), batch(7, [9, 9, 15]));
        let (a, b) = (random(3, 4), random(4, 5));
        check(
            &queue,
            way,
            [&a, &b, &c],
            (1.0, 0.0),
            batch(7, [12, 20, 15]),
        );
        // With alpha 0, A and B are not read.
        let (mut a, mut b) = (a, b);
        a.values.fill(f32::NAN);
        b.values.fill(f32::INFINITY);
        let [of_a, of_b] = [&a, &b].map(|host| Buffer::from_slice(&queue, &host.values).unwrap());
        let mut of_c = Buffer::from_slice(&queue, &c.values).unwrap();
        let mut gemm = Gemm::new(&queue).unwrap();
        let (a, b) = (Matrix::new(&of_a, a.shape), Matrix::new(&of_b, b.shape));
        let (target, all) = (MatrixMut::new(&mut of_c, c.shape), batch(7, [12, 20, 15]));
        let done = match way {
            Way::Chosen => gemm.multiply_batched(&queue, 0.0, a, b, 0.0, target, all),
            Way::By(route) => {
                gemm.multiply_batched_with(&queue, route, 0.0, a, b, 0.0, target, all)
            }
        };
        done.unwrap();
        assert!(
            of_c.read(&queue).unwrap().iter().all(|&value| value == 0.0),
            "{way:?}"
        );
    }
}

#[test]
fn batches_that_do_not_fit_are_errors_and_nothing_runs() {
    let queue = Queue::default_device().unwrap();
    // Three products of 2 x 3 and 3 x 2.
    let factors = Buffer::from_slice(&queue, &[1.0_f32; 18]).unwrap();
    let mut target = Buffer::from_slice(&queue, &[7.0_f32; 12]).unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let fits = Batch {
        count: 3,
        stride_a: 6,
        stride_b: 6,
        stride_c: 4,
    };
    let (a, b, c) = (
        Shape::row_major(2, 3),
        Shape::row_major(3, 2),
        Shape::row_major(2, 2),
    );
    let mut fails = |a: Shape, b: Shape, c: Shape, batch: Batch| {
        let (a, b) = (Matrix::new(&factors, a), Matrix::new(&factors, b));
        let result = gemm.multiply_batched(
            &queue,
            1.0,
            a,
            b,
            0.0,
            MatrixMut::new(&mut target, c),
            batch,
        );
        result.unwrap_err().to_string()
    };
    let mut says = |(a, b, c, batch), part: &str| {
        let said = fails(a, b, c, batch);
        assert!(said.contains(part), "`{said}` without `{part}`");
    };
    says((a, a, c, fits), "2x3 matrix times a 2x3 matrix");
    says(
        (a, b, c, Batch { count: 4, ..fits }),
        "the last of 4 matrices C reaches to element 16",
    );
    says(
        (
            a,
            b,
            c,
            Batch {
                stride_a: 7,
                ..fits
            },
        ),
        "the last of 3 matrices A reaches to element 20",
    );
    says(
        (a, b.offset(1), c, fits),
        "the last of 3 matrices B reaches to element 19 of a buffer of 18",
    );
    says((a.offset(13), b, c, fits), "matrix A reaches to element 19");
    says((a, b, c.leading(1), fits), "leading dimension of C is 1");
    says(
        (
            a,
            b,
            c,
            Batch {
                stride_c: 3,
                ..fits
            },
        ),
        "products 0 and 1",
    );
    says(
        (
            a,
            b,
            c,
            Batch {
                stride_c: 0,
                ..fits
            },
        ),
        "0 elements apart have elements in common",
    );
    says(
        (
            a,
            b,
            c.leading(4),
            Batch {
                stride_c: 2,
                ..fits
            },
        ),
        "products 0 and 2",
    );
    says(
        (
            a,
            b,
            c,
            Batch {
                count: 1 << 31,
                stride_a: 0,
                ..fits
            },
        ),
        "2147483648, of matrix C",
    );
    says(
        (
            a,
            b,
            c,
            Batch {
                stride_b: 1 << 31,
                ..fits
            },
        ),
        "2147483648, of matrix B, is too large",
    );
    says(
        (
            a,
            b,
            c,
            Batch {
                stride_a: usize::MAX,
                ..fits
            },
        ),
        "of matrix A, is too large",
    );
    // Also where there are no products.
    says(
        (a, a, c, Batch { count: 0, ..fits }),
        "2x3 matrix times a 2x3 matrix",
    );
    says(
        (a.leading(2), b, c, Batch { count: 0, ..fits }),
        "leading dimension of A",
    );
    assert!(
        target
            .read(&queue)
            .unwrap()
            .iter()
            .all(|&value| value == 7.0)
    );
}

/// Distances of all kinds, against a look at every element.
#[test]
fn products_of_c_that_have_elements_in_common_are_found() {
    let queue = Queue::default_device().unwrap();
    let one = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let mut target = Buffer::new(queue.context(), 400).unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let mut numbers = Numbers(20);
    let mut found = [0, 0];
    for _ in 0..400 {
        let mut upto = |limit| usize::try_from(numbers.below(limit)).unwrap();
        let (rows, columns, gap, count) = (1 + upto(4), 1 + upto(4), upto(12), 1 + upto(5));
        let stride = upto(24);
        let leading = columns + gap;
        let mut writes = vec![0; 400];
        for index in 0..count {
            for row in 0..rows {
                for column in 0..columns {
                    writes[index * stride + row * leading + column] += 1;
                }
            }
        }
        let overlap = writes.iter().any(|&times| times > 1);
        let batch = Batch {
            count,
            stride_a: 0,
            stride_b: 0,
            stride_c: stride,
        };
        let result = gemm.multiply_batched(
            &queue,
            1.0,
            Matrix::new(&one, Shape::row_major(rows, 1)),
            Matrix::new(&one, Shape::row_major(1, columns)),
            0.0,
            MatrixMut::new(
                &mut target,
                Shape::row_major(rows, columns).leading(leading),
            ),
            batch,
        );
        let is_refused = matches!(result, Err(GemmError::Overlap { .. }));
        assert_eq!(
            is_refused, overlap,
            "{rows} x {columns}, {leading} apart, {batch:?}"
        );
        assert!(is_refused || result.is_ok());
        found[usize::from(overlap)] += 1;
    }
    assert!(found.iter().all(|&times| times > 50), "{found:?}");
}
