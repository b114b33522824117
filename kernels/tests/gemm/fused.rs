//! Products in the statements of `#[fused]`, which go to [`Gemm`], against sums in double precision
//! on the host.

use crate::host::{Host, Number, Numbers};
use cltune::{Buffer, Error, Event, Queue, f16, fused};
use cltune_kernels::gemm::{Gemm, GemmError};

/// What the functions of [`products`] take: sizes, distances of lines, offsets, alpha and beta,
/// three matrices and the sums of the rows of the third.
type Multiply<T> = fn(
    &Queue,
    &mut Gemm<T>,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u64,
    u32,
    T,
    T,
    &Buffer<T>,
    &Buffer<T>,
    &mut Buffer<T>,
    &mut Buffer<T>,
) -> Result<Event, GemmError>;

/// Functions of matrices that lie in one of two ways each, at an offset and with gaps between
/// lines. The statement after the product reads it, so that its place is checked as well.
macro_rules! products {
    ($type:ident, $all:ident: $($name:ident: $a:expr, [$ra:ident, $ca:ident],
        $b:expr, [$rb:ident, $cb:ident], $layout:ident;)*) => {
        $(
            #[fused(tune(m = 32, n = 32, ldc = 48))]
            fn $name(
                queue: &Queue,
                gemm: &mut Gemm<$type>,
                m: u32,
                n: u32,
                k: u32,
                lda: u32,
                ldb: u32,
                ldc: u32,
                offa: u32,
                offb: u64,
                offc: u32,
                alpha: $type,
                beta: $type,
                #[arg(matrix = [$ra, $ca], ld = lda, offset = offa)] a: &Buffer<$type>,
                #[arg(matrix = [$rb, $cb], ld = ldb, offset = offb)] b: &Buffer<$type>,
                #[arg(matrix = [m, n], ld = ldc, offset = offc, layout = $layout)] c: &mut Buffer<$type>,
                #[arg(out, len = m)] s: &mut Buffer<$type>,
            ) -> Result<Event, GemmError> {
                c = alpha * $a * $b - beta * c;
                s = row_sum(c);
            }
        )*
        /// Each with whether A, B and C are stored transposed, which is column after column for C.
        const $all: [(Multiply<$type>, [bool; 3]); 8] = [$(
            ($name, [
                stringify!($ra).as_bytes()[0] == b'k',
                stringify!($rb).as_bytes()[0] == b'n',
                stringify!($layout).len() == "columns".len(),
            ]),
        )*];
    };
}

products!(f32, SINGLE:
    single_nnr: a, [m, k], b, [k, n], rows;
    single_tnr: a.t(), [k, m], b, [k, n], rows;
    single_ntr: a, [m, k], b.t(), [n, k], rows;
    single_ttr: a.t(), [k, m], b.t(), [n, k], rows;
    single_nnc: a, [m, k], b, [k, n], columns;
    single_tnc: a.t(), [k, m], b, [k, n], columns;
    single_ntc: a, [m, k], b.t(), [n, k], columns;
    single_ttc: a.t(), [k, m], b.t(), [n, k], columns;
);

products!(f64, DOUBLE:
    double_nnr: a, [m, k], b, [k, n], rows;
    double_tnr: a.t(), [k, m], b, [k, n], rows;
    double_ntr: a, [m, k], b.t(), [n, k], rows;
    double_ttr: a.t(), [k, m], b.t(), [n, k], rows;
    double_nnc: a, [m, k], b, [k, n], columns;
    double_tnc: a.t(), [k, m], b, [k, n], columns;
    double_ntc: a, [m, k], b.t(), [n, k], columns;
    double_ttc: a.t(), [k, m], b.t(), [n, k], columns;
);

fn whole(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

/// alpha A B - beta C on the host, with a bound of the error of each element.
fn expected<T: Number>(
    a: &Host<T>,
    b: &Host<T>,
    c: &Host<T>,
    (alpha, beta): (f64, f64),
    (row, column): (usize, usize),
) -> (f64, f64) {
    let depth = a.shape.columns();
    let terms = (0..depth).map(|at| a.get(row, at) * b.get(at, column));
    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| {
        (sum + term, size + f64::abs(term))
    });
    let old = beta * c.get(row, column);
    let (stored, computed) = T::ULPS;
    // As in `results.rs`.
    let bound = computed * (depth + 4) as f64 * (alpha.abs() * size + old.abs());
    let value = alpha * sum - old;
    (value, bound + stored * value.abs())
}

/// One product by a function of matrices that lie `transposed`, element by element.
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn check<T: Number>(
    queue: &Queue,
    gemm: &mut Gemm<T>,
    numbers: &mut Numbers,
    (multiply, transposed): (Multiply<T>, [bool; 3]),
    (m, n, k): (usize, usize, usize),
) {
    let offsets: [usize; 3] = [0, 5, 8];
    let [at_a, at_b, at_c] = transposed;
    let mut random = |rows, columns, by_rows, offset| {
        Host::<T>::random(numbers, rows, columns, by_rows, 3, offset)
    };
    let a = random(m, k, !at_a, offsets[0]);
    let b = random(k, n, !at_b, offsets[1]);
    let c = random(m, n, !at_c, offsets[2]);
    let (alpha, beta) = (-0.5, 0.25);
    let [on_a, on_b, mut on_c] =
        [&a, &b, &c].map(|it| Buffer::from_slice(queue, &it.values).unwrap());
    let mut sums = Buffer::from_slice(queue, &vec![T::from_f64(9.0); m]).unwrap();
    let leading = |lines: bool, rows, columns| whole(if lines { rows } else { columns } + 3);
    let event = multiply(
        queue,
        gemm,
        whole(m),
        whole(n),
        whole(k),
        leading(at_a, m, k),
        leading(at_b, k, n),
        leading(at_c, m, n),
        whole(offsets[0]),
        offsets[1] as u64,
        whole(offsets[2]),
        T::from_f64(alpha),
        T::from_f64(beta),
        &on_a,
        &on_b,
        &mut on_c,
        &mut sums,
    );
    event.unwrap().wait().unwrap();
    let (found, sums) = (on_c.read(queue).unwrap(), sums.read(queue).unwrap());
    let mut untouched = vec![true; found.len()];
    for (row, of_row) in sums.iter().enumerate() {
        let (mut sum, mut bound_of_sum) = (0.0, 0.0);
        for column in 0..n {
            let (value, bound) = expected(&a, &b, &c, (alpha, beta), (row, column));
            let at = c.at(row, column);
            let element = found[at].to_f64();
            untouched[at] = false;
            assert!(
                (element - value).abs() <= bound + 1e-300,
                "{transposed:?} {m} x {n} x {k}: element {row}, {column} is {element}, not {value}"
            );
            sum += element;
            bound_of_sum += element.abs() * T::ULPS.0 * n as f64;
        }
        let of_row = of_row.to_f64();
        assert!(
            (of_row - sum).abs() <= bound_of_sum,
            "{transposed:?} {m} x {n} x {k}: the sum of row {row} is {of_row}, not {sum}"
        );
    }
    for (at, untouched) in untouched.into_iter().enumerate() {
        let is_same = found[at].to_f64() == c.values[at].to_f64();
        assert!(!untouched || is_same, "element {at} of the buffer changed");
    }
}

fn all<T: Number>(functions: &[(Multiply<T>, [bool; 3])], sizes: &[(usize, usize, usize)]) {
    let queue = Queue::default_device().unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let mut numbers = Numbers(5);
    for function in functions {
        for sizes in sizes {
            check(&queue, &mut gemm, &mut numbers, *function, *sizes);
        }
    }
}

#[test]
fn products_of_all_transposes_and_parts_of_matrices_are_right() {
    all(
        &SINGLE,
        &[(1, 1, 1), (33, 7, 65), (64, 32, 16), (3, 100, 2)],
    );
    // Sums without terms: beta C is left.
    all(&SINGLE[..1], &[(5, 3, 0)]);
    // By panels, where nothing was measured.
    all(&SINGLE[5..6], &[(200, 210, 220)]);
    let queue = Queue::default_device().unwrap();
    if queue.device().info().limits.fp64 == 1 {
        all(&DOUBLE, &[(33, 7, 65), (16, 24, 8)]);
    }
}

/// Before the product its factors, and after it what is made of it: in place, as a number, and as a
/// factor of another product.
#[fused(tune(n = 48))]
fn around(
    queue: &Queue,
    n: u32,
    alpha: f32,
    #[arg(matrix = [n, n])] a: &Buffer<f32>,
    #[arg(matrix = [n, n])] b: &Buffer<f32>,
    #[arg(len = n)] bias: &Buffer<f32>,
    #[arg(out, matrix = [n, n])] s: &mut Buffer<f32>,
    #[arg(out, matrix = [n, n])] t: &mut Buffer<f32>,
    #[arg(out, matrix = [n, n])] c: &mut Buffer<f32>,
    #[arg(out, matrix = [n, n])] d: &mut Buffer<f32>,
    #[arg(out, len = 1)] total: &mut Buffer<f32>,
    gemm: &mut Gemm<f32>,
) -> Result<Event, Box<dyn std::error::Error>> {
    s = a + b;
    t = a - b;
    c = max(alpha * s * t + row(bias), 0.0);
    total = 1.0 + sum(c);
    d = (c * a).t() + 2.0 * b;
    d = d / total;
}

#[test]
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn statements_before_and_after_products_see_what_was_written() {
    let queue = Queue::default_device().unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let n: usize = 48;
    let mut numbers = Numbers(11);
    let [a, b] = [0, 1].map(|_| Host::<f32>::random(&mut numbers, n, n, true, 0, 0));
    let bias = Host::<f32>::random(&mut numbers, 1, n, true, 0, 0);
    let [on_a, on_b, on_bias] =
        [&a, &b, &bias].map(|it| Buffer::from_slice(&queue, &it.values).unwrap());
    let matrix = || Buffer::from_slice(&queue, &vec![f32::NAN; n * n]).unwrap();
    let [mut s, mut t, mut c, mut d] = [0; 4].map(|_| matrix());
    let mut total = Buffer::from_slice(&queue, &[f32::NAN]).unwrap();
    for _ in 0..2 {
        let event = around(
            &queue,
            whole(n),
            0.5,
            &on_a,
            &on_b,
            &on_bias,
            &mut s,
            &mut t,
            &mut c,
            &mut d,
            &mut total,
            &mut gemm,
        );
        event.unwrap();
    }
    let cells = || (0..n * n).map(|at| (at / n, at % n));
    let of_c: Vec<f64> = cells()
        .map(|(row, column)| {
            let terms = (0..n).map(|at| {
                (a.get(row, at) + b.get(row, at)) * (a.get(at, column) - b.get(at, column))
            });
            (0.5 * terms.sum::<f64>() + bias.get(0, column)).max(0.0)
        })
        .collect();
    let sum = 1.0 + of_c.iter().sum::<f64>();
    let of_d = cells().map(|(row, column)| {
        let terms = (0..n).map(|at| of_c[column * n + at] * a.get(at, row));
        (terms.sum::<f64>() + 2.0 * b.get(row, column)) / sum
    });
    let near = |found: f32, expected: f64| {
        (f64::from(found) - expected).abs() <= 1e-5 * expected.abs().max(1.0)
    };
    let found = c.read(&queue).unwrap();
    for (found, expected) in found.iter().zip(&of_c) {
        assert!(near(*found, *expected), "{found}, not {expected}");
    }
    assert!(near(total.read(&queue).unwrap()[0] / sum as f32, 1.0));
    let found = d.read(&queue).unwrap();
    for (found, expected) in found.iter().zip(of_d) {
        assert!(near(*found, expected), "{found}, not {expected}");
    }
}

/// A product of half precision, which is computed in single: no device has to have `half`.
#[fused(tune(m = 16))]
fn halves(
    queue: &Queue,
    gemm: &mut Gemm<f16>,
    m: u32,
    alpha: f16,
    #[arg(matrix = [m, 3])] a: &Buffer<f16>,
    #[arg(out, matrix = [m, m])] c: &mut Buffer<f16>,
    #[arg(len = m)] x: &mut Buffer<f32>,
) -> Result<Event, GemmError> {
    c = -(a * a.t()) / alpha * 4.0;
    x += 1.0;
}

#[test]
fn products_of_half_precision_need_no_device_that_has_it() {
    let queue = Queue::default_device().unwrap();
    let a = Buffer::from_slice(&queue, &[f16::from_f32(0.5); 15]).unwrap();
    let mut c = Buffer::from_slice(&queue, &[f16::NAN; 25]).unwrap();
    let mut x = Buffer::from_slice(&queue, &[1.0; 5]).unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let two = f16::from_f32(2.0);
    let _ = halves(&queue, &mut gemm, 5, two, &a, &mut c, &mut x).unwrap();
    assert_eq!(c.read(&queue).unwrap(), [f16::from_f32(-1.5); 25]);
    assert_eq!(x.read(&queue).unwrap(), [2.0; 5]);
}

/// One part, which comes first, and a product whose event is the function's.
#[fused(tune(m = 16, n = 16, k = 16))]
fn product_last(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    n: u32,
    k: u32,
    lda: u32,
    #[arg(matrix = [m, k])] a: &mut Buffer<f32>,
    #[arg(matrix = [k, n], ld = lda)] b: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] c: &mut Buffer<f32>,
) -> Result<Event, GemmError> {
    a = 2.0 * a;
    c = a * b;
}

#[test]
#[expect(clippy::many_single_char_names, reason = "the names of BLAS")]
fn nothing_runs_where_a_later_step_would_refuse_its_arguments() {
    let queue = Queue::default_device().unwrap();
    let mut gemm = Gemm::new(&queue).unwrap();
    let ones = |context: &Queue, len| Buffer::from_slice(context, &vec![1.0_f32; len]).unwrap();
    let (mut a, b) = (ones(&queue, 6), ones(&queue, 12));
    let mut c = ones(&queue, 8);
    let mut fails = |sizes: [u32; 4], b: &Buffer<f32>| {
        let [m, n, k, lda] = sizes;
        let error = product_last(&queue, &mut gemm, m, n, k, lda, &mut a, b, &mut c).unwrap_err();
        assert_eq!(a.read(&queue).unwrap(), [1.0; 6], "{error}");
        error.to_string()
    };
    let sizes = [2, 4, 3, 4];
    assert!(fails([2, 4, 3, 3], &b).contains("leading dimension of b is 3, and 4"));
    assert!(fails([2, 4, 3, 5], &b).contains("matrix b reaches to element 14 of a buffer of 12"));
    assert!(fails([2, 5, 2, 5], &b).contains("matrix c reaches to element 10 of a buffer of 8"));
    assert!(fails([2, 0, 3, 4], &b).contains("matrix c has no elements"));
    assert!(fails([2, 4, 3, u32::MAX], &b).contains("matrix b reaches to element 8589934594"));
    let other = Queue::default_device().unwrap();
    assert!(fails(sizes, &ones(&other, 12)).contains("matrix `b` belongs to another context"));
    let mut gemm_there = Gemm::new(&other).unwrap();
    let refused = product_last(&queue, &mut gemm_there, 2, 4, 3, 4, &mut a, &b, &mut c);
    let said = refused.unwrap_err().to_string();
    assert!(
        said.starts_with("the `Gemm` belongs to another context"),
        "{said}"
    );
    assert_eq!(a.read(&queue).unwrap(), [1.0; 6]);
    let done = product_last(&queue, &mut gemm, 2, 4, 3, 4, &mut a, &b, &mut c);
    done.unwrap().wait().unwrap();
    assert_eq!(c.read(&queue).unwrap(), [6.0; 8]);

    // An argument of the last part, when the first one and the products would do.
    let n = 4;
    let full = ones(&queue, 16);
    let [mut s, mut t, mut c, mut d] = [0; 4].map(|_| ones(&queue, 16));
    let (mut total, short) = (ones(&queue, 1), ones(&queue, 3));
    let error = around(
        &queue, n, 1.0, &full, &full, &short, &mut s, &mut t, &mut c, &mut d, &mut total, &mut gemm,
    )
    .unwrap_err();
    assert!(
        matches!(
            error.downcast_ref(),
            Some(Error::BufferTooShort { argument, .. }) if argument == "bias"
        ),
        "{error}"
    );
    assert_eq!(s.read(&queue).unwrap(), [1.0; 16]);
}

#[test]
fn the_parts_are_tunables_of_their_own() {
    let name = &around::part_1::TUNABLE.model().name;
    assert_eq!(name, "cltune_kernels::around::part_1");
    let queue = Queue::default_device().unwrap();
    let selected = around::part_3::select(queue.device(), around::part_3::Problem { n: 64 });
    assert!(selected.unwrap().to_string().contains("WGX"));
    // Only what its statements need.
    let _ = product_last::part_1::Problem { m: 1, k: 1 };
}
