//! Stores past the caches, of `out` arguments.

use super::configurations::are_right;
use super::{is_cpu, queue};
use cltune::{Buffer, Event, Queue, Result, Tunable, fused};

/// Vectors of which a later statement reads one.
#[fused(tune(n = [1, 1003, 1 << 16]))]
fn around(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] a: &Buffer<f32>,
    #[arg(len = n)] b: &Buffer<f32>,
    #[arg(out, len = n)] sum: &mut Buffer<f32>,
    #[arg(out, len = n)] middle: &mut Buffer<f32>,
    #[arg(out, len = n)] difference: &mut Buffer<f32>,
) -> Result<Event> {
    sum = a + b;
    middle = a / 2.0;
    difference = middle - b;
}

/// Vectors that begin anywhere.
#[fused(tune(n = [257, 4096]))]
fn doubled(
    queue: &Queue,
    n: u64,
    #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<f64>,
    offx: u64,
    incx: i64,
    #[arg(out, len = n, offset = offy, stride = incy)] y: &mut Buffer<f64>,
    offy: u64,
    incy: i64,
) -> Result<Event> {
    y = x * 2.0;
}

/// Bytes.
#[fused(tune(n = 1000))]
fn inverted(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u8>,
    #[arg(out, len = n)] y: &mut Buffer<u8>,
) -> Result<Event> {
    y = 255 - x;
}

/// Rows that are computed from their sums, with a gap behind each.
#[fused(tune(m = 37, n = 48, wide = 64), tune(m = 5, n = 33, wide = 40))]
fn scaled(
    queue: &Queue,
    m: u32,
    n: u32,
    wide: u32,
    #[arg(matrix = [m, n], ld = wide)] a: &Buffer<f32>,
    #[arg(out, matrix = [m, n], ld = wide)] b: &mut Buffer<f32>,
    #[arg(out, len = n)] sums: &mut Buffer<f32>,
) -> Result<Event> {
    b = a / column(row_sum(abs(a)) + 1.0);
    sums = column_sum(a);
}

#[test]
fn streamed_elements_are_right() {
    // No GPU has the configurations, and lines of 33 elements have a tail.
    let streams = "STREAM || device.is_cpu == 0";
    for tunable in [&around::TUNABLE, &doubled::TUNABLE, &inverted::TUNABLE] {
        are_right(tunable, streams, 1, 64);
    }
    are_right(
        &scaled::TUNABLE,
        "STREAM || device.is_cpu == 0 || m == 5",
        1,
        64,
    );
}

#[test]
fn elements_that_begin_anywhere_are_streamed_where_vectors_are_whole() -> Result<()> {
    let queue = queue();
    let n = 1003_usize;
    for (offset, stride) in [(0, 1), (16, 1), (3, 1), (1, 2), (5, -1)] {
        let length = offset + (n - 1) * i64::unsigned_abs(stride) as usize + 1;
        let place = |i: usize| {
            let along = if stride < 0 { n - 1 - i } else { i };
            offset + along * stride.unsigned_abs() as usize
        };
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let x = Buffer::from_slice(&queue, &x)?;
        let mut expected = vec![-1.0; length];
        for i in 0..n {
            expected[place(i)] = 2.0 * i as f64;
        }
        for width in [2, 8, 16] {
            let mut y = Buffer::from_slice(&queue, &vec![-1.0_f64; length])?;
            let params = doubled::Params {
                VW: width,
                WG: 32,
                GROUPS: 4,
                FETCH: doubled::FETCH::contiguous,
                STREAM: is_cpu(queue.device()),
            };
            let at = offset as u64;
            doubled::launch_with(&params, &queue, n as u64, &x, 0, 1, &mut y, at, stride)?;
            assert_eq!(
                y.read(&queue)?,
                expected,
                "from {offset} by {stride}, {width}"
            );
        }
    }
    Ok(())
}

/// What was loaded is in the caches, and what is stored element by element is no vector.
#[test]
fn the_parameter_is_where_vectors_are_stored_that_were_not_loaded() {
    let has_it = |tunable: &Tunable| {
        let declaration = tunable.declaration().unwrap();
        let mut parameters = declaration.model.parameters.iter();
        parameters.any(|parameter| parameter.name == "STREAM")
    };
    assert!(has_it(&around::TUNABLE));
    assert!(has_it(&scaled::TUNABLE));
    assert!(!has_it(&in_place::TUNABLE));
    assert!(!has_it(&of_rows::TUNABLE));
}

#[fused(tune(n = 100))]
fn in_place(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    x *= 2.0;
    s = sum(x);
}

#[fused(tune(m = 10, n = 10))]
fn of_rows(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = m)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = 2.0 * (a * x);
}
