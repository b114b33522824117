//! Statements over matrices, to measure.

use crate::bench::{Way, measured, print};
use cltune::{Buffer, Element, Event, Queue, Result, fused};
use std::cell::RefCell;

/// y <- alpha A x + beta y
#[fused(tune(m = [4096, 8192], n = 4096), tune(m = 8192, n = 8192))]
pub(crate) fn gemv_n(
    queue: &Queue,
    m: u32,
    n: u32,
    alpha: f32,
    beta: f32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = m)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = alpha * (a * x) + beta * y;
}

/// y <- alpha A^T x + beta y
#[fused(tune(m = [4096, 8192], n = 4096), tune(m = 8192, n = 8192))]
pub(crate) fn gemv_t(
    queue: &Queue,
    m: u32,
    n: u32,
    alpha: f32,
    beta: f32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(len = m)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = alpha * (a.t() * x) + beta * y;
}

/// `gemv_n` in double precision.
#[fused(tune(m = [4096, 8192], n = 4096), tune(m = 8192, n = 8192))]
pub(crate) fn dgemv_n(
    queue: &Queue,
    m: u32,
    n: u32,
    alpha: f64,
    beta: f64,
    #[arg(matrix = [m, n])] a: &Buffer<f64>,
    #[arg(len = n)] x: &Buffer<f64>,
    #[arg(len = m)] y: &mut Buffer<f64>,
) -> Result<Event> {
    y = alpha * (a * x) + beta * y;
}

/// `gemv_t` in double precision.
#[fused(tune(m = [4096, 8192], n = 4096), tune(m = 8192, n = 8192))]
pub(crate) fn dgemv_t(
    queue: &Queue,
    m: u32,
    n: u32,
    alpha: f64,
    beta: f64,
    #[arg(matrix = [m, n])] a: &Buffer<f64>,
    #[arg(len = m)] x: &Buffer<f64>,
    #[arg(len = n)] y: &mut Buffer<f64>,
) -> Result<Event> {
    y = alpha * (a.t() * x) + beta * y;
}

/// The softmax of each row.
#[fused(tune(m = 4096, n = [256, 1024, 8192]))]
pub(crate) fn softmax(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] y: &mut Buffer<f32>,
) -> Result<Event> {
    let e = exp(a - column(row_max(a)));
    y = e * column(1.0 / row_sum(e));
}

/// Each row with mean 0 and variance 1, scaled and shifted.
#[fused(tune(m = 4096, n = [256, 1024, 8192]))]
pub(crate) fn layer_norm(
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

/// Prints a line for each size and group of statements.
pub(crate) fn run(queue: &Queue) -> Result<()> {
    for (m, n) in [(4096, 4096), (8192, 4096), (8192, 8192)] {
        products(queue, m, n, "f32", &gemv_n, &gemv_t)?;
        products(queue, m, n, "f64", &dgemv_n, &dgemv_t)?;
    }
    for n in [256, 1024, 8192] {
        rows(queue, 4096, n)?;
    }
    Ok(())
}

/// A product of a matrix and a vector.
type Product<'a, T> =
    &'a dyn Fn(&Queue, u32, u32, T, T, &Buffer<T>, &Buffer<T>, &mut Buffer<T>) -> Result<Event>;

fn products<T: Element + From<f32>>(
    queue: &Queue,
    m: u32,
    n: u32,
    element: &str,
    straight: Product<'_, T>,
    transposed: Product<'_, T>,
) -> Result<()> {
    let (rows, columns) = (m as usize, n as usize);
    let a = numbers::<T>(queue, rows * columns)?;
    let (along, down) = (numbers::<T>(queue, columns)?, numbers::<T>(queue, rows)?);
    let mut results = [numbers::<T>(queue, rows)?, numbers::<T>(queue, columns)?];
    let [of_rows, of_columns] = &mut results;
    let factors: [T; 2] = [1.5.into(), 0.5.into()];
    let n_way: Way<'_> =
        Box::new(|| straight(queue, m, n, factors[0], factors[1], &a, &along, of_rows).map(drop));
    let t_way: Way<'_> = Box::new(|| {
        transposed(queue, m, n, factors[0], factors[1], &a, &down, of_columns).map(drop)
    });
    let times = measured(queue, &mut [n_way, t_way])?;
    let bytes = size_of::<T>() * rows * columns;
    for (times, which) in times.into_iter().zip(["A x", "A^T x"]) {
        print(
            &size(m, n),
            &format!("y = alpha {which} + beta y, {element}"),
            &[times],
            &[bytes],
        );
    }
    Ok(())
}

fn rows(queue: &Queue, m: u32, n: u32) -> Result<()> {
    let count = m as usize * n as usize;
    let a = numbers::<f32>(queue, count)?;
    let (gamma, beta) = (
        numbers::<f32>(queue, n as usize)?,
        numbers::<f32>(queue, n as usize)?,
    );
    let result = RefCell::new(numbers::<f32>(queue, count)?);
    let soft: Way<'_> = Box::new(|| softmax(queue, m, n, &a, &mut result.borrow_mut()).map(drop));
    let normal: Way<'_> =
        Box::new(|| layer_norm(queue, m, n, &a, &gamma, &beta, &mut result.borrow_mut()).map(drop));
    let times = measured(queue, &mut [soft, normal])?;
    for (times, what) in times
        .into_iter()
        .zip(["softmax of rows", "layer norm of rows"])
    {
        print(&size(m, n), what, &[times], &[8 * count]);
    }
    Ok(())
}

fn size(m: u32, n: u32) -> String {
    format!("{m} x {n}")
}

/// So many numbers.
pub(crate) fn numbers<T: Element + From<f32>>(queue: &Queue, count: usize) -> Result<Buffer<T>> {
    let values = (0..count).map(|at| ((at * 7 + 1) % 13) as f32 / 6.0 - 1.0);
    Buffer::from_slice(queue, &values.map(T::from).collect::<Vec<T>>())
}
