//! Fused statements over parts of matrices and vectors with strides beside them, on a real device:
//! calls of several configurations are compared with the host.

use crate::queue;
use cltune::{Buffer, Event, Queue, Result, fused};

/// The transposed product fuses into the same pass as the other one's rest.
#[fused(tune(m = 12, n = 16, lda = 20))]
fn both(
    queue: &Queue,
    m: u32,
    n: u32,
    lda: u32,
    offa: u32,
    #[arg(matrix = [m, n], ld = lda, offset = offa)] a: &Buffer<f32>,
    #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<f32>,
    offx: u64,
    incx: i64,
    #[arg(len = m, offset = offy, stride = incy)] y: &mut Buffer<f32>,
    offy: u64,
    incy: i64,
    #[arg(len = n, stride = incz)] z: &mut Buffer<f32>,
    incz: i32,
) -> Result<Event> {
    y = a * x + 0.5 * y;
    z = 0.5 * z - a.t() * y;
}

/// A part of a matrix times vectors that lie anywhere.
#[fused(tune(m = 12, n = 16, lda = 20))]
fn times(
    queue: &Queue,
    m: u32,
    n: u32,
    lda: u32,
    offa: u32,
    #[arg(matrix = [m, n], ld = lda, offset = offa)] a: &Buffer<f32>,
    #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<f32>,
    offx: u64,
    incx: i64,
    #[arg(len = m, offset = offy, stride = incy)] y: &mut Buffer<f32>,
    offy: u64,
    incy: i64,
) -> Result<Event> {
    y = a * x + 0.5 * y;
}

/// The same with the transposed matrix.
#[fused(tune(m = 12, n = 16, lda = 20))]
fn times_transposed(
    queue: &Queue,
    m: u32,
    n: u32,
    lda: u32,
    offa: u32,
    #[arg(matrix = [m, n], ld = lda, offset = offa)] a: &Buffer<f32>,
    #[arg(len = m, offset = offx, stride = incx)] x: &Buffer<f32>,
    offx: u64,
    incx: i64,
    #[arg(len = n, offset = offy, stride = incy)] y: &mut Buffer<f32>,
    offy: u64,
    incy: i64,
) -> Result<Event> {
    y = a.t() * x + 0.5 * y;
}

/// A part of a matrix is changed in place; vectors stand in its rows and columns.
#[fused(tune(m = 12, n = 16, lda = 20))]
fn outer_product(
    queue: &Queue,
    m: u32,
    n: u32,
    lda: u32,
    #[arg(len = m, offset = offx, stride = incx)] x: &Buffer<f32>,
    offx: u64,
    incx: i64,
    #[arg(len = n, stride = incy)] y: &Buffer<f32>,
    incy: i64,
    #[arg(matrix = [m, n], ld = lda, offset = offa)] a: &mut Buffer<f32>,
    offa: u64,
) -> Result<Event> {
    a += outer(x, y);
}

/// A part of a matrix into another one, whose columns are contiguous.
#[fused(tune(m = 12, n = 16, lda = 20, ldb = 16))]
fn turned(
    queue: &Queue,
    m: u32,
    n: u32,
    lda: u32,
    ldb: u32,
    offa: u32,
    offb: u32,
    #[arg(matrix = [m, n], ld = lda, offset = offa)] a: &Buffer<i32>,
    #[arg(matrix = [m, n], layout = columns, ld = ldb, offset = offb)] b: &mut Buffer<i32>,
) -> Result<Event> {
    b = 2 * a;
}

/// A product of parts.
#[fused(tune(m = 64, n = 64, k = 64, lda = 68))]
fn product(
    queue: &Queue,
    m: u32,
    n: u32,
    k: u32,
    lda: u32,
    offa: u32,
    offb: u32,
    offc: u32,
    incx: i32,
    #[arg(matrix = [m, k], ld = lda, offset = offa)] a: &Buffer<f32>,
    #[arg(matrix = [k, n], offset = offb)] b: &Buffer<f32>,
    #[arg(len = n, stride = incx)] x: &Buffer<f32>,
    #[arg(matrix = [m, n], offset = offc)] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = a * b + row(x);
}

/// Small whole numbers, whose sums are exact, that are not in order and repeat after a while.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let numbers = (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) ^ seed) >> 13 & 7);
    numbers.map(|number| number as f32 - 3.0).collect()
}

/// The index of an element of a vector of BLAS.
fn index(i: usize, n: usize, offset: usize, stride: i64) -> usize {
    let from = if stride < 0 { n - 1 - i } else { i };
    offset + from * stride.unsigned_abs() as usize
}

/// Work-items of a line, each of which has so many elements.
fn sharing(elements: usize, each: i64) -> i64 {
    elements.div_ceil(each as usize).next_power_of_two() as i64
}

/// Where a matrix and vectors lie.
#[derive(Clone, Copy, Debug)]
struct Places {
    m: usize,
    n: usize,
    leading: usize,
    offset: usize,
    x: (usize, i64),
    y: (usize, i64),
    z: i64,
}

/// Offsets that vectors of four begin at and others, strides of either sign.
impl Places {
    /// Whether vectors of so many elements leave a tail.
    fn tail(&self, vw: i64) -> i64 {
        i64::from(self.n as i64 % vw > 0 || self.leading as i64 % vw > 0)
    }
}

/// The same places with lines of odd lengths.
fn odd() -> [Places; 5] {
    PLACES.map(|places| Places {
        n: places.n - 1,
        ..places
    })
}

const PLACES: [Places; 5] = [
    Places {
        m: 12,
        n: 16,
        leading: 20,
        offset: 0,
        x: (0, 1),
        y: (0, 1),
        z: 1,
    },
    Places {
        m: 12,
        n: 16,
        leading: 20,
        offset: 8,
        x: (4, 1),
        y: (3, 1),
        z: -1,
    },
    Places {
        m: 13,
        n: 24,
        leading: 24,
        offset: 3,
        x: (1, 1),
        y: (0, -2),
        z: 3,
    },
    Places {
        m: 5,
        n: 96,
        leading: 100,
        offset: 5,
        x: (2, -3),
        y: (7, 5),
        z: -2,
    },
    Places {
        m: 1,
        n: 4,
        leading: 4,
        offset: 1,
        x: (0, 2),
        y: (1, -1),
        z: 2,
    },
];

/// Elements of a buffer for a vector, and two more.
fn room(n: usize, (offset, stride): (usize, i64)) -> usize {
    offset + n * stride.unsigned_abs() as usize + 2
}

#[test]
fn products_with_vectors_that_lie_anywhere() -> Result<()> {
    let queue = queue();
    for places in PLACES {
        let Places {
            m,
            n,
            leading,
            offset,
            x: at_x,
            y: at_y,
            z: stride,
        } = places;
        let a = numbers(offset + m * leading + 2, 1);
        let [x, y] = [(n, at_x), (m, at_y)].map(|(count, at)| numbers(room(count, at), 2));
        let z = numbers(room(n, (0, stride)), 3);
        let (mut new_y, mut new_z) = (y.clone(), z.clone());
        for i in 0..m {
            let at = index(i, m, at_y.0, at_y.1);
            let terms =
                (0..n).map(|j| a[offset + i * leading + j] * x[index(j, n, at_x.0, at_x.1)]);
            new_y[at] = terms.sum::<f32>() + 0.5 * y[at];
        }
        for j in 0..n {
            let at = index(j, n, 0, stride);
            let terms =
                (0..m).map(|i| a[offset + i * leading + j] * new_y[index(i, m, at_y.0, at_y.1)]);
            new_z[at] = 0.5 * z[at] - terms.sum::<f32>();
        }
        let [after, in_loop] = [both::FINISH::launch, both::FINISH::r#loop];
        // The last one twice: its counters of work-groups are those that the one before left.
        for (vw, slices, keep, lines, finish, sums) in [
            (1, 1, 0, 1, after, 1),
            (4, 1, 0, 1, after, 1),
            (4, 4, 8, 1, after, 1),
            (2, 2, 16, 1, after, 1),
            (1, 1, 0, 2, after, 16),
            (2, 4, 0, 4, after, 16),
            (4, 8, 0, 8, after, 64),
            (4, 4, 8, 1, in_loop, 1),
            (1, 8, 0, 4, in_loop, 1),
            (2, 2, 16, 1, in_loop, 1),
            (2, 2, 16, 1, in_loop, 1),
        ] {
            let wgx = sharing(n, vw * keep.max(1));
            let params = both::Params {
                VW: vw,
                WGX: match sums {
                    1 if keep == 0 => 8,
                    1 => wgx,
                    _ => 2,
                },
                WGY: if sums == 1 { 2 } else { 1 },
                UNROLL: if sums == 1 { 1 } else { 4 },
                KEEP: if keep > 0 && keep / 2 * wgx * vw >= n as i64 {
                    0
                } else {
                    keep
                },
                LINES: lines,
                TAIL: 0,
                SUMS: sums,
                SLICES: slices,
                FINISH: finish,
            };
            let (of_a, of_x) = (
                Buffer::from_slice(&queue, &a)?,
                Buffer::from_slice(&queue, &x)?,
            );
            let mut of_y = Buffer::from_slice(&queue, &y)?;
            let mut of_z = Buffer::from_slice(&queue, &z)?;
            both::launch_with(
                &params,
                &queue,
                m as u32,
                n as u32,
                leading as u32,
                offset as u32,
                &of_a,
                &of_x,
                at_x.0 as u64,
                at_x.1,
                &mut of_y,
                at_y.0 as u64,
                at_y.1,
                &mut of_z,
                stride as i32,
            )?;
            assert_eq!(of_y.read(&queue)?, new_y, "{places:?} {params:?}");
            assert_eq!(of_z.read(&queue)?, new_z, "{places:?} {params:?}");
        }
    }
    Ok(())
}

/// A part of a matrix or its transpose, a vector that it is multiplied by, and what that makes.
struct Product {
    places: Places,
    a: Vec<f32>,
    x: Vec<f32>,
    at_x: (usize, i64),
    y: Vec<f32>,
    at_y: (usize, i64),
    expected: Vec<f32>,
}

impl Product {
    fn of(places: Places, is_transposed: bool) -> Self {
        let Places { m, n, x, y, .. } = places;
        let [(columns, at_x), (rows, at_y)] = if is_transposed {
            [(m, y), (n, x)]
        } else {
            [(n, x), (m, y)]
        };
        let a = numbers(places.offset + m * places.leading + 2, 1);
        let [x, y] = [(columns, at_x), (rows, at_y)].map(|(count, at)| numbers(room(count, at), 2));
        let mut expected = y.clone();
        for i in 0..rows {
            let terms = (0..columns).map(|j| {
                let (row, column) = if is_transposed { (j, i) } else { (i, j) };
                let element = a[places.offset + row * places.leading + column];
                element * x[index(j, columns, at_x.0, at_x.1)]
            });
            let at = index(i, rows, at_y.0, at_y.1);
            expected[at] = terms.sum::<f32>() + 0.5 * y[at];
        }
        Self {
            places,
            a,
            x,
            at_x,
            y,
            at_y,
            expected,
        }
    }
}

/// Launches a tunable with these parameters on a product, and compares with the host.
macro_rules! is_product {
    ($tunable:ident, $params:expr, $queue:expr, $product:expr) => {{
        let (params, queue, product) = ($params, $queue, $product);
        let (a, x) = (
            Buffer::from_slice(queue, &product.a)?,
            Buffer::from_slice(queue, &product.x)?,
        );
        let mut y = Buffer::from_slice(queue, &product.y)?;
        let places = product.places;
        $tunable::launch_with(
            &params,
            queue,
            places.m as u32,
            places.n as u32,
            places.leading as u32,
            places.offset as u32,
            &a,
            &x,
            product.at_x.0 as u64,
            product.at_x.1,
            &mut y,
            product.at_y.0 as u64,
            product.at_y.1,
        )?;
        assert_eq!(y.read(queue)?, product.expected, "{places:?} {params:?}");
    }};
}

#[test]
fn lines_that_no_vector_divides_are_multiplied_to_their_end() -> Result<()> {
    let queue = queue();
    for places in PLACES.into_iter().chain(odd()) {
        let product = Product::of(places, false);
        for (vw, wgx, lines) in [(4, 1, 1), (16, 2, 1), (2, 4, 2), (16, 1, 8), (1, 1, 4)] {
            let params = times::Params {
                VW: vw,
                WGX: wgx,
                WGY: 2,
                UNROLL: 1,
                KEEP: 0,
                LINES: lines,
                TAIL: places.tail(vw),
            };
            is_product!(times, params, &queue, &product);
        }
    }
    Ok(())
}

#[test]
fn columns_that_no_vector_divides_are_added_up_to_the_last() -> Result<()> {
    let queue = queue();
    let [after, in_loop] = [
        times_transposed::FINISH::launch,
        times_transposed::FINISH::r#loop,
    ];
    for places in PLACES.into_iter().chain(odd()) {
        let product = Product::of(places, true);
        for (vw, wgy, sums, slices, finish) in [
            (4, 2, 1, 1, after),
            (16, 1, 16, 1, after),
            (8, 2, 1, 4, after),
            (2, 1, 16, 2, after),
            (4, 2, 1, 2, in_loop),
        ] {
            let params = times_transposed::Params {
                VW: vw,
                WGX: 2,
                WGY: wgy,
                UNROLL: 4,
                TAIL: places.tail(vw),
                SUMS: sums,
                SLICES: slices,
                FINISH: finish,
            };
            is_product!(times_transposed, params, &queue, &product);
        }
    }
    Ok(())
}

#[test]
fn parts_of_matrices_change_and_nothing_beside_them() -> Result<()> {
    let queue = queue();
    for places in PLACES.into_iter().chain(odd()) {
        let Places {
            m,
            n,
            leading,
            offset,
            x: at_x,
            z: stride,
            ..
        } = places;
        let a = numbers(offset + m * leading + 2, 1);
        let x = numbers(room(m, at_x), 2);
        let y = numbers(room(n, (0, stride)), 3);
        let mut expected = a.clone();
        for i in 0..m {
            for j in 0..n {
                expected[offset + i * leading + j] +=
                    x[index(i, m, at_x.0, at_x.1)] * y[index(j, n, 0, stride)];
            }
        }
        for (vw, keep) in [(1, 0), (4, 0), (2, 1), (4, 1), (16, 0)] {
            let tail = places.tail(vw);
            let keep = if tail == 0 { keep } else { 0 };
            let params = outer_product::Params {
                VW: vw,
                WGX: if keep == 0 { 4 } else { sharing(n, vw) },
                WGY: 2,
                UNROLL: 1,
                KEEP: keep,
                LINES: 1,
                TAIL: tail,
            };
            let (of_x, of_y) = (
                Buffer::from_slice(&queue, &x)?,
                Buffer::from_slice(&queue, &y)?,
            );
            let mut of_a = Buffer::from_slice(&queue, &a)?;
            outer_product::launch_with(
                &params,
                &queue,
                m as u32,
                n as u32,
                leading as u32,
                &of_x,
                at_x.0 as u64,
                at_x.1,
                &of_y,
                stride,
                &mut of_a,
                offset as u64,
            )?;
            assert_eq!(of_a.read(&queue)?, expected, "{places:?} {params:?}");
        }
    }
    Ok(())
}

#[test]
fn parts_of_matrices_are_read_against_their_layout() -> Result<()> {
    let queue = queue();
    let (m, n, lda, ldb, offa, offb) = (9, 14, 17, 11, 5, 3);
    let a: Vec<i32> = (0..200).collect();
    let mut b = Buffer::from_slice(&queue, &[-1; 200])?;
    turned(
        &queue,
        m,
        n,
        lda,
        ldb,
        offa,
        offb,
        &Buffer::from_slice(&queue, &a)?,
        &mut b,
    )?;
    let mut expected = vec![-1; 200];
    for i in 0..m {
        for j in 0..n {
            expected[(offb + j * ldb + i) as usize] = 2 * a[(offa + i * lda + j) as usize];
        }
    }
    assert_eq!(b.read(&queue)?, expected);
    Ok(())
}

#[test]
fn products_of_parts_of_matrices() -> Result<()> {
    let queue = queue();
    for (m, n, k, lda, offa, offb, offc) in [
        (64, 64, 64, 68, 3, 1, 5),
        (64, 32, 100, 100, 0, 4, 0),
        (33, 40, 36, 36, 8, 4, 0),
    ] {
        let a = numbers(offa + m * lda, 1);
        let b = numbers(offb + k * n, 2);
        let x = numbers(2 * n, 3);
        let c = numbers(offc + m * n + 2, 4);
        let mut expected = c.clone();
        for i in 0..m {
            for j in 0..n {
                let terms = (0..k).map(|p| a[offa + i * lda + p] * b[offb + p * n + j]);
                expected[offc + i * n + j] = terms.sum::<f32>() + x[2 * (n - 1 - j)];
            }
        }
        for (al, local, ahead) in [
            (1, true, false),
            (1, true, true),
            (4, true, false),
            (4, true, true),
            (2, false, false),
            (4, false, false),
        ] {
            let params = product::Params {
                ML: 32,
                KL: 32,
                NL: 32,
                MS: 4,
                KS: 4,
                NS: 4,
                AL: al,
                LOCAL_A: local,
                LOCAL_B: local,
                AHEAD: ahead,
            };
            let [of_a, of_b, of_x] =
                [&a, &b, &x].map(|values| Buffer::from_slice(&queue, values).unwrap());
            let mut of_c = Buffer::from_slice(&queue, &c)?;
            product::launch_with(
                &params,
                &queue,
                m as u32,
                n as u32,
                k as u32,
                lda as u32,
                offa as u32,
                offb as u32,
                offc as u32,
                -2,
                &of_a,
                &of_b,
                &of_x,
                &mut of_c,
            )?;
            assert_eq!(
                of_c.read(&queue)?,
                expected,
                "{m} {n} {k} {al} {local} {ahead}"
            );
        }
    }
    Ok(())
}

#[test]
fn parts_that_reach_beyond_their_buffer_are_refused() -> Result<()> {
    let queue = queue();
    let a = Buffer::from_slice(&queue, &[1; 64])?;
    let mut b = Buffer::from_slice(&queue, &[1; 64])?;
    let error = turned(&queue, 8, 8, 8, 8, 1, 0, &a, &mut b).unwrap_err();
    assert!(
        error.to_string().contains("`a`") && error.to_string().contains("65"),
        "{error}"
    );
    Ok(())
}
