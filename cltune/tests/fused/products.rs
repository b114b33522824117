//! Products of matrices in fused statements on a real device: the parameters are those of the
//! paper, configurations are measured and verified against the generated reference, and calls are
//! compared with the host.

use crate::{configurations, is_cpu, queue};
use cltune::{Buffer, Device, Event, Queue, Result, Tunable, fused};

/// Alone, with scalars before and after it, and lines that are apart.
#[fused(
    tune(m = 70, n = 41, k = 66, lda = 68),
    tune(m = 64, n = 128, k = 64, lda = 64)
)]
fn product(
    queue: &Queue,
    m: u32,
    n: u32,
    k: u32,
    lda: u32,
    alpha: f32,
    beta: f32,
    #[arg(matrix = [m, k], ld = lda)] a: &Buffer<f32>,
    #[arg(matrix = [k, n])] b: &Buffer<f32>,
    #[arg(matrix = [m, n])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = alpha * (a * b) + beta * c;
}

/// Of two transposed matrices, in double precision, into one whose columns are contiguous.
#[fused(tune(m = 70, n = 41, k = 66), tune(m = 64, n = 64, k = 128))]
fn transposed(
    queue: &Queue,
    m: u32,
    n: u32,
    k: u32,
    #[arg(matrix = [k, m])] a: &Buffer<f64>,
    #[arg(matrix = [n, k])] b: &Buffer<f64>,
    #[arg(len = n)] bias: &Buffer<f64>,
    #[arg(out, matrix = [m, n], layout = columns)] c: &mut Buffer<f64>,
) -> Result<Event> {
    c = max(a.t() * b.t() + row(bias), 0.0);
}

/// Of a transposed matrix and one as it is.
#[fused(tune(m = 70, n = 41, k = 66))]
fn left_transposed(
    queue: &Queue,
    m: u32,
    n: u32,
    k: u32,
    #[arg(matrix = [k, m])] a: &Buffer<f32>,
    #[arg(matrix = [k, n])] b: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = a.t() * b;
}

/// The paper's chain: sum and difference are matrices of their own, made in one pass.
#[fused(tune(n = 37), tune(n = 64))]
fn chain(
    queue: &Queue,
    n: u32,
    #[arg(matrix = [n, n])] a: &Buffer<f32>,
    #[arg(matrix = [n, n])] b: &Buffer<f32>,
    #[arg(out, matrix = [n, n])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = (a + b) * (a - b);
}

/// Products of a product, one that a reduction reads, and one that is written over its own factor.
#[fused(tune(n = 37))]
fn several(
    queue: &Queue,
    n: u32,
    #[arg(matrix = [n, n])] a: &mut Buffer<f32>,
    #[arg(matrix = [n, n])] b: &Buffer<f32>,
    #[arg(out, len = n)] s: &mut Buffer<f32>,
) -> Result<Event> {
    s = row_sum(a * b * b.t());
    a = b * a;
}

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

/// The product of row-major matrices on the host.
fn multiplied(a: &[f64], b: &[f64], sizes: (usize, usize, usize)) -> Vec<f64> {
    let (rows, depth, columns) = sizes;
    let sum = |row: usize, column: usize| {
        let terms = (0..depth).map(|at| a[row * depth + at] * b[at * columns + column]);
        terms.sum()
    };
    let all = 0..rows * columns;
    all.map(|at| sum(at / columns, at % columns)).collect()
}

fn flipped(a: &[f64], columns: usize) -> Vec<f64> {
    let rows = a.len() / columns;
    (0..a.len())
        .map(|at| a[at % rows * columns + at / rows])
        .collect()
}

fn all_near(found: &[f64], expected: &[f64], scale: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= scale * expected.abs().max(1.0),
            "{what}: {found}, not {expected}"
        );
    }
}

fn doubled(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

#[test]
fn products_are_those_of_the_host() -> Result<()> {
    let queue = queue();
    for (m, n, k) in [(1, 1, 1), (33, 7, 65), (64, 32, 32), (3, 100, 2)] {
        let [a, b, c] = [(m * k, 1), (k * n, 2), (m * n, 3)].map(|(len, seed)| numbers(len, seed));
        let of_a = Buffer::from_slice(&queue, &single(&a))?;
        let of_b = Buffer::from_slice(&queue, &single(&b))?;
        let mut of_c = Buffer::from_slice(&queue, &single(&c))?;
        let (rows, columns, depth) = (m as u32, n as u32, k as u32);
        product(
            &queue, rows, columns, depth, depth, 1.5, -0.5, &of_a, &of_b, &mut of_c,
        )?;
        let plain = multiplied(&a, &b, (m, k, n));
        let expected = plain.iter().zip(&c).map(|(sum, c)| 1.5 * sum - 0.5 * c);
        let expected: Vec<f64> = expected.collect();
        all_near(&doubled(&of_c.read(&queue)?), &expected, 1e-5, "product");

        let of_turned = Buffer::from_slice(&queue, &single(&flipped(&a, k)))?;
        left_transposed(&queue, rows, columns, depth, &of_turned, &of_b, &mut of_c)?;
        all_near(
            &doubled(&of_c.read(&queue)?),
            &plain,
            1e-5,
            "left_transposed",
        );

        let bias = numbers(n, 4);
        let of_a = Buffer::from_slice(&queue, &flipped(&a, k))?;
        let of_b = Buffer::from_slice(&queue, &flipped(&b, n))?;
        let of_bias = Buffer::from_slice(&queue, &bias)?;
        let mut of_c = Buffer::new(queue.context(), m * n)?;
        transposed(
            &queue, rows, columns, depth, &of_a, &of_b, &of_bias, &mut of_c,
        )?;
        let expected = plain.iter().enumerate();
        let expected = expected.map(|(at, sum)| (sum + bias[at % n]).max(0.0));
        let expected = flipped(&expected.collect::<Vec<f64>>(), n);
        all_near(&of_c.read(&queue)?, &expected, 1e-12, "transposed");
    }
    Ok(())
}

#[test]
fn nothing_is_summed_where_the_depth_is_zero() -> Result<()> {
    let queue = queue();
    let empty = Buffer::new(queue.context(), 0)?;
    let mut c = Buffer::from_slice(&queue, &[2.0_f32; 6])?;
    product(&queue, 2, 3, 0, 0, 1.0, 0.5, &empty, &empty, &mut c)?;
    assert_eq!(c.read(&queue)?, [1.0; 6]);
    let mut none = Buffer::new(queue.context(), 0)?;
    product(&queue, 0, 3, 0, 0, 1.0, 0.5, &empty, &empty, &mut none)?;
    Ok(())
}

#[test]
fn products_of_what_is_computed_and_of_products() -> Result<()> {
    let queue = queue();
    for n in [1_usize, 37, 64] {
        let (a, b) = (numbers(n * n, 1), numbers(n * n, 2));
        let mut of_a = Buffer::from_slice(&queue, &single(&a))?;
        let of_b = Buffer::from_slice(&queue, &single(&b))?;
        let mut of_c = Buffer::new(queue.context(), n * n)?;
        chain(&queue, n as u32, &of_a, &of_b, &mut of_c)?;
        let pairs = || a.iter().zip(&b);
        let sum: Vec<f64> = pairs().map(|(a, b)| a + b).collect();
        let difference: Vec<f64> = pairs().map(|(a, b)| a - b).collect();
        let expected = multiplied(&sum, &difference, (n, n, n));
        all_near(&doubled(&of_c.read(&queue)?), &expected, 1e-5, "chain");

        let mut of_s = Buffer::new(queue.context(), n)?;
        several(&queue, n as u32, &mut of_a, &of_b, &mut of_s)?;
        let twice = multiplied(&multiplied(&a, &b, (n, n, n)), &flipped(&b, n), (n, n, n));
        let sums: Vec<f64> = twice.chunks(n).map(|row| row.iter().sum()).collect();
        all_near(&doubled(&of_s.read(&queue)?), &sums, 1e-3, "several");
        let expected = multiplied(&b, &a, (n, n, n));
        all_near(&doubled(&of_a.read(&queue)?), &expected, 1e-5, "in place");
    }
    Ok(())
}

/// The number of work-items of a group, and whether a device of the paper takes a configuration:
/// 1024 work-items, multiples of 32, 48 KiB of local memory.
fn counted(tunable: &'static Tunable, dims: &[i64]) -> (usize, usize) {
    let declaration = tunable.declaration().unwrap();
    let model = &declaration.model;
    let mut limits = Device::select().unwrap().info().limits.clone();
    limits.max_work_group_size = 1024;
    limits.max_work_item_size_x = 1024;
    limits.max_work_item_size_y = 1024;
    limits.local_mem_size = 48 << 10;
    let (mut all, mut valid) = (0, 0);
    // What the paper's template does not have.
    let later =
        ["TENSOR", "AHEAD"].map(|name| model.parameters.iter().position(|it| *it.name == *name));
    let domains = model
        .parameters
        .iter()
        .map(|it| it.domain.codes().collect::<Vec<_>>());
    let domains: Vec<Vec<i64>> = domains.collect();
    let value = |codes: &[i64], name: &str| {
        let at = model.parameters.iter().position(|it| *it.name == *name);
        codes[at.expect("it has such a parameter")]
    };
    let count: usize = domains.iter().map(Vec::len).product();
    for mut rest in 0..count {
        let codes: Vec<i64> = domains
            .iter()
            .map(|domain| {
                let code = domain[rest % domain.len()];
                rest /= domain.len();
                code
            })
            .collect();
        let is_later = later.into_iter().flatten().any(|at| codes[at] != 0);
        if is_later || value(&codes, "NS") > 8 {
            continue;
        }
        all += 1;
        let of = |name| value(&codes, name);
        let items = of("ML") / of("MS") * (of("NL") / of("NS"));
        valid += usize::from(items % 32 == 0 && model.check(&codes, dims, &limits).is_ok());
    }
    (all, valid)
}

/// The figures of the paper's space under the limits of its devices.
#[test]
fn there_are_as_many_configurations_as_in_the_paper() {
    assert_eq!(
        counted(&product::TUNABLE, &[64, 64, 64, 64]),
        (27_648, 8_615)
    );
    assert_eq!(
        counted(&transposed::TUNABLE, &[64, 64, 64]),
        (27_648, 6_301)
    );
}

/// Configurations of each problem. Each takes PoCL seconds to build, the more the longer its loops
/// are that are unrolled.
const CONFIGURATIONS: usize = 2;

/// Loops that PoCL builds soon.
const SHORT: &str = "MS * KS * NS <= 64 && ML * KL <= 4096 && NL * KL <= 4096";

/// Vectors of sums. With several slices of the depth, and one that is cut off.
const WIDE: &str = "NS > 8 && KL <= 64";

/// One tile beside the others, and no slice of the depth that is cut off: with a work-item for each
/// tile PoCL 3.1 executed what follows a loop twice that has barriers and no iterations.
const IN_A_COLUMN: &str = "NS == NL && NS > 8 && LOCAL_B && KL == 32 && ML <= 64 && MS <= 4";

#[test]
fn what_is_updated_is_updated_once() {
    if has_vectors_of_sums() {
        configurations::are_right(&product::TUNABLE, IN_A_COLUMN, 8, 8);
    }
}

/// A product alone, transposed on both sides and on one, in a chain and with other statements.
fn all() -> [&'static Tunable; 5] {
    [
        &product::TUNABLE,
        &transposed::TUNABLE,
        &left_transposed::TUNABLE,
        &chain::TUNABLE,
        &several::TUNABLE,
    ]
}

#[test]
fn configurations_are_right() {
    for tunable in all() {
        configurations::are_right(tunable, SHORT, 8, CONFIGURATIONS);
    }
}

#[test]
fn configurations_with_vectors_of_sums_are_right() {
    if has_vectors_of_sums() {
        for tunable in all() {
            configurations::are_right(tunable, WIDE, 8, 4 * CONFIGURATIONS);
        }
    }
}

/// Only CPUs have configurations with more than 8 sums side by side. Says so where there are none.
fn has_vectors_of_sums() -> bool {
    let device = Device::select().expect("these tests need an OpenCL device");
    let is_cpu = is_cpu(&device);
    if !is_cpu {
        cltune_tests::skip("vectors of sums are for CPUs");
    }
    is_cpu
}
