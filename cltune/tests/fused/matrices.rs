//! Fused statements over matrices on a real device: configurations are measured and verified
//! against the generated reference, and calls are compared with the host.

use crate::{configurations, queue};
use cltune::{Buffer, Event, Queue, Result, fused};

/// A matrix times a vector, with work on elements before and after it, and lines that are apart.
#[fused(
    tune(m = 61, n = 48, lda = 52),
    tune(m = 7, n = 1, lda = 3),
    tune(m = 33, n = 97, lda = 97)
)]
fn multiply(
    queue: &Queue,
    m: u32,
    n: u32,
    lda: u32,
    alpha: f32,
    beta: f32,
    #[arg(matrix = [m, n], ld = lda)] a: &Buffer<f32>,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] z: &Buffer<f32>,
    #[arg(len = m)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = alpha * (a * (x + z)) + beta * y;
}

/// The transposed matrix times a vector.
#[fused(tune(m = 61, n = 48), tune(m = 1, n = 8), tune(m = 97, n = 33))]
fn multiply_transposed(
    queue: &Queue,
    m: u32,
    n: u32,
    alpha: f64,
    #[arg(matrix = [m, n])] a: &Buffer<f64>,
    #[arg(len = m)] x: &Buffer<f64>,
    #[arg(len = n)] y: &mut Buffer<f64>,
) -> Result<Event> {
    y += alpha * (a.t() * x);
}

/// As above, of a matrix whose columns are contiguous: the same as a matrix times a vector.
#[fused(tune(m = 48, n = 61))]
fn multiply_by_columns(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n], layout = columns)] a: &Buffer<f64>,
    #[arg(len = m)] x: &Buffer<f64>,
    #[arg(out, len = n)] y: &mut Buffer<f64>,
) -> Result<Event> {
    y = a.t() * x;
}

/// The softmax of each row.
#[fused(tune(m = 13, n = 64), tune(m = 6, n = 257))]
fn softmax(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] y: &mut Buffer<f32>,
) -> Result<Event> {
    let e = exp(a - column(row_max(a)));
    y = e / column(row_sum(e));
}

/// Each row with mean 0 and variance 1, scaled and shifted.
#[fused(tune(m = 13, n = 64), tune(m = 6, n = 257))]
fn layer_norm(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(len = n)] gamma: &Buffer<f32>,
    #[arg(len = n)] beta: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] y: &mut Buffer<f32>,
) -> Result<Event> {
    let centred = a - column(row_sum(a) / n as f32);
    let variance = row_dot(centred, centred) / n as f32;
    y = centred * column(rsqrt(variance + 1e-5)) * row(gamma) + row(beta);
}

/// A matrix that is written several times, in place, with other results beside it.
#[fused(tune(m = 21, n = 64), tune(m = 9, n = 31))]
fn in_place(
    queue: &Queue,
    m: u32,
    n: u32,
    alpha: f32,
    #[arg(len = m)] x: &Buffer<f32>,
    #[arg(len = n)] v: &Buffer<f32>,
    #[arg(matrix = [m, n])] a: &mut Buffer<f32>,
    #[arg(out, len = m)] sums: &mut Buffer<f32>,
    #[arg(out, len = n)] least: &mut Buffer<f32>,
    #[arg(out, len = 1)] all: &mut Buffer<f32>,
) -> Result<Event> {
    a += alpha * outer(x, v);
    sums = row_sum(a);
    a = a - column(sums) / n as f32;
    sums = 2.0 * sums;
    least = column_min(abs(a)) + v;
    all = norm2(a) + max(a);
}

/// Matrices of both layouts, integers, and a transposed matrix.
#[fused(tune(m = 19, n = 23))]
fn mixed(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<i32>,
    #[arg(matrix = [m, n], layout = columns)] b: &Buffer<i32>,
    #[arg(matrix = [n, m])] c: &Buffer<i32>,
    #[arg(len = m)] x: &Buffer<i32>,
    #[arg(out, matrix = [m, n])] d: &mut Buffer<i32>,
    #[arg(out, matrix = [n, m], layout = columns)] e: &mut Buffer<i32>,
    #[arg(out, len = n)] s: &mut Buffer<i32>,
) -> Result<Event> {
    d = if a > b {
        c.t() + column(x)
    } else {
        hadamard(a, b)
    };
    e = (a + b).t();
    s = column_max(a - column(x));
}

/// Norms of rows, of columns, and of all elements.
#[fused(tune(m = 13, n = 32))]
fn norms(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(out, len = m)] rows: &mut Buffer<f32>,
    #[arg(out, len = n)] columns: &mut Buffer<f32>,
    #[arg(out, len = 1)] all: &mut Buffer<f32>,
) -> Result<Event> {
    rows = row_norm2(a);
    columns = 2.0 * column_norm2(a);
    all = norm2(a);
}

/// Numbers that are not in order and repeat after a while.
fn numbers(count: usize, seed: u32) -> Vec<f64> {
    let number = |i: u32| (i.wrapping_mul(2_654_435_761) ^ seed) >> 13 & 127;
    let count = u32::try_from(count).unwrap();
    (0..count)
        .map(|i| f64::from(number(i)) / 64.0 - 1.0)
        .collect()
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

fn near(found: f64, expected: f64, scale: f64, what: &str) {
    assert!(
        (found - expected).abs() <= scale * expected.abs().max(1.0),
        "{what}: {found}, not {expected}"
    );
}

#[test]
fn a_matrix_times_a_vector() -> Result<()> {
    let queue = queue();
    for (m, n, lda) in [
        (1_usize, 1_usize, 1_usize),
        (7, 3, 5),
        (61, 97, 101),
        (2, 300, 300),
        (300, 2, 2),
    ] {
        let a = numbers(m * lda, 1);
        let [x, z] = [2, 3].map(|seed| numbers(n, seed));
        let y = numbers(m, 4);
        let inputs =
            [&a, &x, &z].map(|values| Buffer::from_slice(&queue, &single(values)).unwrap());
        let mut result = Buffer::from_slice(&queue, &single(&y))?;
        let (rows, columns, ld) = (m as u32, n as u32, lda as u32);
        let [of_a, of_x, of_z] = &inputs;
        multiply(
            &queue,
            rows,
            columns,
            ld,
            1.5,
            -0.5,
            of_a,
            of_x,
            of_z,
            &mut result,
        )?;
        for (i, found) in result.read(&queue)?.into_iter().enumerate() {
            let sum: f64 = (0..n).map(|j| a[i * lda + j] * (x[j] + z[j])).sum();
            near(found.into(), 1.5 * sum - 0.5 * y[i], 1e-5, "N");
        }
    }
    Ok(())
}

#[test]
fn a_transposed_matrix_times_a_vector() -> Result<()> {
    let queue = queue();
    for (m, n) in [(1_usize, 1_usize), (7, 3), (61, 97), (300, 2), (2, 300)] {
        let (a, x, y) = (numbers(m * n, 1), numbers(m, 2), numbers(n, 3));
        let of_a = Buffer::from_slice(&queue, &a)?;
        let of_x = Buffer::from_slice(&queue, &x)?;
        let mut result = Buffer::from_slice(&queue, &y)?;
        multiply_transposed(&queue, m as u32, n as u32, 1.5, &of_a, &of_x, &mut result)?;
        for (j, found) in result.read(&queue)?.into_iter().enumerate() {
            let sum: f64 = (0..m).map(|i| a[i * n + j] * x[i]).sum();
            near(found, y[j] + 1.5 * sum, 1e-12, "T");
        }
        let mut result = Buffer::new(queue.context(), n)?;
        multiply_by_columns(&queue, m as u32, n as u32, &of_a, &of_x, &mut result)?;
        for (j, found) in result.read(&queue)?.into_iter().enumerate() {
            let sum: f64 = (0..m).map(|i| a[j * m + i] * x[i]).sum();
            near(found, sum, 1e-12, "T of columns");
        }
    }
    Ok(())
}

#[test]
fn rows_are_normalised() -> Result<()> {
    let queue = queue();
    for (m, n) in [(1_usize, 1_usize), (7, 3), (5, 257), (300, 2)] {
        let a = numbers(m * n, 1);
        let (gamma, beta) = (numbers(n, 2), numbers(n, 3));
        let inputs =
            [&a, &gamma, &beta].map(|values| Buffer::from_slice(&queue, &single(values)).unwrap());
        let [of_a, of_gamma, of_beta] = &inputs;
        let mut result = Buffer::new(queue.context(), m * n)?;
        softmax(&queue, m as u32, n as u32, of_a, &mut result)?;
        let found = result.read(&queue)?;
        layer_norm(
            &queue,
            m as u32,
            n as u32,
            of_a,
            of_gamma,
            of_beta,
            &mut result,
        )?;
        let normal = result.read(&queue)?;
        for i in 0..m {
            let row = &a[i * n..][..n];
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|a| (a - most).exp()).sum();
            let mean = row.iter().sum::<f64>() / n as f64;
            let variance = row.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / n as f64;
            for j in 0..n {
                near(
                    found[i * n + j].into(),
                    (row[j] - most).exp() / sum,
                    1e-6,
                    "softmax",
                );
                let expected = (row[j] - mean) / (variance + 1e-5).sqrt() * gamma[j] + beta[j];
                near(normal[i * n + j].into(), expected, 1e-4, "layer_norm");
            }
        }
    }
    Ok(())
}

#[test]
fn a_matrix_that_is_written_several_times() -> Result<()> {
    let queue = queue();
    for (m, n) in [(1_usize, 1_usize), (21, 64), (13, 31)] {
        let (mut a, x, v) = (numbers(m * n, 1), numbers(m, 2), numbers(n, 3));
        let mut of_a = Buffer::from_slice(&queue, &single(&a))?;
        let of_x = Buffer::from_slice(&queue, &single(&x))?;
        let of_v = Buffer::from_slice(&queue, &single(&v))?;
        let mut sums = Buffer::new(queue.context(), m)?;
        let mut least = Buffer::new(queue.context(), n)?;
        let mut all = Buffer::new(queue.context(), 1)?;
        in_place(
            &queue, m as u32, n as u32, 0.5, &of_x, &of_v, &mut of_a, &mut sums, &mut least,
            &mut all,
        )?;
        let sums = sums.read(&queue)?;
        for i in 0..m {
            let row = &mut a[i * n..][..n];
            for (a, v) in row.iter_mut().zip(&v) {
                *a += 0.5 * x[i] * v;
            }
            let sum: f64 = row.iter().sum();
            near(sums[i].into(), 2.0 * sum, 1e-5, "row_sum");
            for a in row {
                *a -= sum / n as f64;
            }
        }
        for (found, expected) in of_a.read(&queue)?.into_iter().zip(&a) {
            near(found.into(), *expected, 1e-5, "a");
        }
        for (j, found) in least.read(&queue)?.into_iter().enumerate() {
            let least = (0..m)
                .map(|i| a[i * n + j].abs())
                .fold(f64::INFINITY, f64::min);
            near(found.into(), least + v[j], 1e-5, "column_min");
        }
        let most = a.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let norm = a.iter().map(|a| a * a).sum::<f64>().sqrt();
        near(all.read(&queue)?[0].into(), norm + most, 1e-5, "all");
    }
    Ok(())
}

#[test]
fn layouts_and_transposed_matrices_go_together() -> Result<()> {
    let queue = queue();
    let (m, n) = (19_usize, 23_usize);
    let integers = |count, seed| -> Vec<i32> {
        numbers(count, seed)
            .into_iter()
            .map(|number| (number * 64.0) as i32)
            .collect()
    };
    let inputs = [1, 2, 3].map(|seed| integers(m * n, seed));
    let added = integers(m, 4);
    let buffer = |values: &Vec<i32>| Buffer::from_slice(&queue, values).unwrap();
    let [of_a, of_b, of_c] = &inputs.each_ref().map(buffer);
    let of_x = buffer(&added);
    let mut chosen = Buffer::new(queue.context(), m * n)?;
    let mut sums = Buffer::new(queue.context(), m * n)?;
    let mut most = Buffer::new(queue.context(), n)?;
    let (rows, columns) = (m as u32, n as u32);
    mixed(
        &queue,
        rows,
        columns,
        of_a,
        of_b,
        of_c,
        &of_x,
        &mut chosen,
        &mut sums,
        &mut most,
    )?;
    let (chosen, sums, most) = (chosen.read(&queue)?, sums.read(&queue)?, most.read(&queue)?);
    let [by_rows, by_columns, transposed] = &inputs;
    for (column, found) in most.into_iter().enumerate() {
        for (row, added) in added.iter().enumerate() {
            let (at, turned) = (row * n + column, column * m + row);
            let expected = if by_rows[at] > by_columns[turned] {
                transposed[turned] + added
            } else {
                by_rows[at] * by_columns[turned]
            };
            assert_eq!(chosen[at], expected);
            // The column `row` of `e` is contiguous.
            assert_eq!(sums[at], by_rows[at] + by_columns[turned]);
        }
        let differences = added.iter().enumerate();
        let differences = differences.map(|(row, added)| by_rows[row * n + column] - added);
        assert_eq!(Some(found), differences.max());
    }
    Ok(())
}

#[test]
fn norms_of_lines_neither_overflow_nor_underflow() -> Result<()> {
    let queue = queue();
    let (m, n) = (13, 32);
    for scale in [1e-30_f32, 1e-19, 1.0, 1e19, 1e30] {
        let mut a: Vec<f32> = single(&numbers(m * n, 5))
            .iter()
            .map(|value| value * scale)
            .collect();
        // Small ones among the large, which hardly count.
        a[40] = scale / 1e8;
        let inputs = Buffer::from_slice(&queue, &a)?;
        let mut rows = Buffer::new(queue.context(), m)?;
        let mut columns = Buffer::new(queue.context(), n)?;
        let mut all = Buffer::new(queue.context(), 1)?;
        norms(
            &queue,
            m as u32,
            n as u32,
            &inputs,
            &mut rows,
            &mut columns,
            &mut all,
        )?;
        let norm = |elements: &mut dyn Iterator<Item = usize>| {
            elements
                .map(|at| f64::from(a[at]).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let near = |found: f32, expected: f64| {
            let error = (f64::from(found) / expected - 1.0).abs();
            assert!(error < 1e-5, "{scale}: {found}, not {expected}");
        };
        for (i, found) in rows.read(&queue)?.into_iter().enumerate() {
            near(found, norm(&mut (i * n..(i + 1) * n)));
        }
        for (j, found) in columns.read(&queue)?.into_iter().enumerate() {
            near(found, 2.0 * norm(&mut (j..m * n).step_by(n)));
        }
        near(all.read(&queue)?[0], norm(&mut (0..m * n)));
    }
    let mut a = vec![1e30_f32; m * n];
    (a[0], a[n]) = (f32::NAN, f32::NEG_INFINITY);
    let inputs = Buffer::from_slice(&queue, &a)?;
    let mut rows = Buffer::new(queue.context(), m)?;
    let mut columns = Buffer::new(queue.context(), n)?;
    let mut all = Buffer::new(queue.context(), 1)?;
    norms(
        &queue,
        m as u32,
        n as u32,
        &inputs,
        &mut rows,
        &mut columns,
        &mut all,
    )?;
    let (rows, columns) = (rows.read(&queue)?, columns.read(&queue)?);
    assert!(rows[0].is_nan() && rows[1] == f32::INFINITY && rows[2].is_finite());
    assert!(columns[0].is_nan() && columns[1].is_finite() && all.read(&queue)?[0].is_nan());
    Ok(())
}

#[test]
fn matrices_without_elements_add_nothing() -> Result<()> {
    let queue = queue();
    let of = |len| Buffer::from_slice(&queue, &vec![2.0_f32; len]);
    let (empty, mut y) = (of(0)?, of(3)?);
    multiply(&queue, 3, 0, 5, 1.5, -0.5, &empty, &empty, &empty, &mut y)?;
    assert_eq!(y.read(&queue)?, [-1.0; 3]);
    let empty = Buffer::<f64>::new(queue.context(), 0)?;
    let mut y = Buffer::from_slice(&queue, &[2.0; 3])?;
    multiply_transposed(&queue, 0, 3, 1.5, &empty, &empty, &mut y)?;
    assert_eq!(y.read(&queue)?, [2.0; 3]);
    Ok(())
}

#[test]
fn matrices_without_rows_or_columns_are_computed_as_others() -> Result<()> {
    let queue = queue();
    let of = |len| Buffer::from_slice(&queue, &vec![2.0_f32; len]);
    for (m, n) in [(0, 5), (5, 0), (0, 0)] {
        let (a, mut y) = (of(0)?, of(0)?);
        softmax(&queue, m, n, &a, &mut y)?;
        let (x, v, mut a) = (of(m as usize)?, of(n as usize)?, of(0)?);
        let (mut sums, mut least, mut all) = (of(m as usize)?, of(n as usize)?, of(1)?);
        in_place(
            &queue, m, n, 0.5, &x, &v, &mut a, &mut sums, &mut least, &mut all,
        )?;
        assert_eq!(sums.read(&queue)?, vec![0.0; m as usize], "{m} x {n}");
        assert_eq!(
            least.read(&queue)?,
            vec![f32::INFINITY; n as usize],
            "{m} x {n}"
        );
        assert_eq!(all.read(&queue)?, [f32::NEG_INFINITY], "{m} x {n}");
    }
    Ok(())
}

#[test]
fn lines_that_overlap_are_refused_before_a_launch() {
    let queue = queue();
    let of = |len| Buffer::from_slice(&queue, &vec![1.0_f32; len]).unwrap();
    let (a, x, z, mut y) = (of(64), of(8), of(8), of(8));
    let error =
        multiply(&queue, 8, 8, 7, 1.0, 0.0, &a, &x, &z, &mut y).expect_err("it is too small");
    assert!(error.to_string().contains("lda >= n"), "{error}");
    let (a, mut y) = (of(8), of(8));
    let error =
        multiply(&queue, 8, 8, 8, 1.0, 0.0, &a, &x, &z, &mut y).expect_err("it is too short");
    assert!(error.to_string().contains('a'), "{error}");
}

/// Work-groups that PoCL builds soon.
const SMALL: &str = "WGX * WGY <= 64";

/// Configurations of each problem.
const CONFIGURATIONS: usize = 4;

#[test]
fn configurations_of_products_are_right() {
    configurations::are_right(&multiply::TUNABLE, SMALL, 8, CONFIGURATIONS);
    configurations::are_right(&multiply_transposed::TUNABLE, SMALL, 8, CONFIGURATIONS);
    configurations::are_right(&multiply_by_columns::TUNABLE, SMALL, 8, CONFIGURATIONS);
}

#[test]
fn configurations_of_normalised_rows_are_right() {
    configurations::are_right(&softmax::TUNABLE, SMALL, 8, CONFIGURATIONS);
    configurations::are_right(&layer_norm::TUNABLE, SMALL, 8, CONFIGURATIONS);
}

#[test]
fn configurations_with_several_passes_are_right() {
    configurations::are_right(&in_place::TUNABLE, SMALL, 8, CONFIGURATIONS);
    configurations::are_right(&norms::TUNABLE, SMALL, 8, CONFIGURATIONS);
    configurations::are_right(&mixed::TUNABLE, SMALL, 8, CONFIGURATIONS);
}
