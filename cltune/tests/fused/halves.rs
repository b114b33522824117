//! Half precision on a real device. Where the device has none, the errors say so.

use crate::{configurations, queue};
use cltune::{Buffer, Event, Queue, Result, f16, fused};

/// Reductions of a vector, one of them after an update.
#[fused(tune(n = 1003))]
fn reduced(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f16>,
    #[arg(len = n)] y: &mut Buffer<f16>,
    #[arg(out, len = 1)] total: &mut Buffer<f16>,
    #[arg(out, len = 1)] product: &mut Buffer<f16>,
    #[arg(out, len = 1)] size: &mut Buffer<f16>,
) -> Result<Event> {
    total = sum(0.5 * x);
    y = 0.5 * x + y;
    product = dot(x, y);
    size = norm2(y);
}

/// Those that add nothing up.
#[fused(tune(n = 1003))]
fn extremes(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f16>,
    #[arg(out, len = 1)] least: &mut Buffer<f16>,
    #[arg(out, len = 1)] most: &mut Buffer<f16>,
    #[arg(out, len = 1)] place: &mut Buffer<u64>,
) -> Result<Event> {
    least = min(x);
    most = norm_inf(x);
    place = index_of_max(x);
}

/// Products with a vector, and what is broadcast back.
#[fused(tune(m = 13, n = 40))]
fn lines(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f16>,
    #[arg(len = n)] x: &Buffer<f16>,
    #[arg(out, len = m)] y: &mut Buffer<f16>,
    #[arg(out, matrix = [m, n])] parts: &mut Buffer<f16>,
) -> Result<Event> {
    y = a * x;
    parts = a / column(row_sum(a));
}

/// All lines folded to one.
#[fused(tune(m = 40, n = 24))]
fn columns(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f16>,
    #[arg(len = m)] x: &Buffer<f16>,
    #[arg(out, len = n)] y: &mut Buffer<f16>,
    #[arg(out, len = n)] size: &mut Buffer<f16>,
) -> Result<Event> {
    y = a.t() * x;
    size = column_norm1(a);
}

/// A product of two matrices.
#[fused(tune(m = 20, n = 24, k = 16))]
fn product(
    queue: &Queue,
    m: u32,
    n: u32,
    k: u32,
    #[arg(matrix = [m, k])] a: &Buffer<f16>,
    #[arg(matrix = [k, n])] b: &Buffer<f16>,
    #[arg(out, matrix = [m, n])] c: &mut Buffer<f16>,
) -> Result<Event> {
    c = a * b;
}

/// Whether the device has half precision. If not, the error of a call has to say so.
fn is_there(queue: &Queue, launched: Result<Event>) -> Result<bool> {
    if queue.device().info().limits.fp16 == 1 {
        launched?;
        return Ok(true);
    }
    println!("{} has no half precision", queue.device());
    let refusal = launched.unwrap_err().to_string();
    assert!(refusal.contains("fp16"), "{refusal}");
    Ok(false)
}

fn halves(values: impl IntoIterator<Item = f32>) -> Vec<f16> {
    values.into_iter().map(f16::from_f32).collect()
}

/// In half precision a sum of ones stays at 2048, and a square of 256 is infinite.
#[test]
fn sums_are_computed_in_single_precision() -> Result<()> {
    let queue = queue();
    let context = queue.context();
    let n = 60_000;
    let x = Buffer::from_slice(&queue, &halves((0..n).map(|i| [1.0, 0.5, 1.5][i % 3])))?;
    let mut y = Buffer::from_slice(&queue, &halves((0..n).map(|i| [0.5, 0.75, 0.25][i % 3])))?;
    let mut results = [(); 3].map(|()| Buffer::new(context, 1).unwrap());
    let [total, of_both, size] = &mut results;
    let launched = reduced(&queue, n as u32, &x, &mut y, total, of_both, size);
    if !is_there(&queue, launched)? {
        return Ok(());
    }
    // `y` is 1 everywhere.
    assert_eq!(y.read(&queue)?, vec![f16::ONE; n]);
    let found = results.map(|result| result.read(&queue).unwrap()[0]);
    let expected = [30_000.0, 60_000.0, 60_000_f32.sqrt()].map(f16::from_f32);
    assert_eq!(found, expected);

    // Neither squares of 300 nor their sum are in the range.
    let x = Buffer::from_slice(&queue, &halves([300.0, -300.0]))?;
    let mut y = Buffer::from_slice(&queue, &halves([150.0, 450.0]))?;
    let mut results = [(); 3].map(|()| Buffer::new(context, 1).unwrap());
    let [total, of_both, size] = &mut results;
    reduced(&queue, 2, &x, &mut y, total, of_both, size)?;
    let found = results.map(|result| result.read(&queue).unwrap()[0]);
    let expected = [0.0, 0.0, 300.0 * 2_f32.sqrt()].map(f16::from_f32);
    assert_eq!(found, expected);
    Ok(())
}

#[test]
fn extremes_and_their_places_are_found() -> Result<()> {
    let queue = queue();
    let context = queue.context();
    let values = (0..5000).map(|i| ((i * 7919) % 2003) as f32 / -8.0 + 100.0);
    let x = Buffer::from_slice(&queue, &halves(values))?;
    let (mut least, mut most) = (Buffer::new(context, 1)?, Buffer::new(context, 1)?);
    let mut place = Buffer::new(context, 1)?;
    let launched = extremes(&queue, 5000, &x, &mut least, &mut most, &mut place);
    if is_there(&queue, launched)? {
        assert_eq!(least.read(&queue)?, [f16::from_f32(-150.25)]);
        assert_eq!(most.read(&queue)?, [f16::from_f32(150.25)]);
        assert_eq!(place.read(&queue)?, [0]);
    }
    Ok(())
}

#[test]
fn matrices_are_reduced_in_single_precision() -> Result<()> {
    let queue = queue();
    let context = queue.context();
    let (m, n) = (7, 30_000);
    let a = Buffer::from_slice(&queue, &vec![f16::ONE; m * n])?;
    let ones = Buffer::from_slice(&queue, &vec![f16::ONE; n])?;
    let mut y = Buffer::new(context, m)?;
    let mut parts = Buffer::new(context, m * n)?;
    let launched = lines(&queue, m as u32, n as u32, &a, &ones, &mut y, &mut parts);
    if !is_there(&queue, launched)? {
        let mut size = Buffer::new(context, m)?;
        let launched = columns(&queue, n as u32, m as u32, &a, &ones, &mut y, &mut size);
        is_there(&queue, launched)?;
        return Ok(());
    }
    assert_eq!(y.read(&queue)?, vec![f16::from_f32(30_000.0); m]);
    let part = f16::from_f32(1.0 / 30_000.0);
    let near = |found: &f16| (found.to_f32() / part.to_f32() - 1.0).abs() < 0.01;
    assert!(parts.read(&queue)?.iter().all(near));
    let mut size = Buffer::new(context, m)?;
    columns(&queue, n as u32, m as u32, &a, &ones, &mut y, &mut size)?;
    assert_eq!(y.read(&queue)?, vec![f16::from_f32(30_000.0); m]);
    assert_eq!(size.read(&queue)?, vec![f16::from_f32(30_000.0); m]);
    Ok(())
}

#[test]
fn matrices_are_multiplied() -> Result<()> {
    let queue = queue();
    let (m, n, k) = (33_usize, 20_usize, 17_usize);
    let left: Vec<f32> = (0..m * k).map(|i| (i % 5) as f32 - 2.0).collect();
    let right: Vec<f32> = (0..k * n).map(|i| (i % 7) as f32 - 3.0).collect();
    let of_left = Buffer::from_slice(&queue, &halves(left.iter().copied()))?;
    let of_right = Buffer::from_slice(&queue, &halves(right.iter().copied()))?;
    let mut found = Buffer::new(queue.context(), m * n)?;
    let launched = product(
        &queue, m as u32, n as u32, k as u32, &of_left, &of_right, &mut found,
    );
    if is_there(&queue, launched)? {
        let expected = (0..m * n).map(|place| {
            let (row, column) = (place / n, place % n);
            let terms = (0..k).map(|at| left[row * k + at] * right[at * n + column]);
            terms.sum()
        });
        assert_eq!(found.read(&queue)?, halves(expected));

        // In half precision a sum of ones stays at 2048.
        let k = 30_000;
        let ones = Buffer::from_slice(&queue, &vec![f16::ONE; m * k])?;
        product(
            &queue, m as u32, n as u32, k as u32, &ones, &ones, &mut found,
        )?;
        assert_eq!(found.read(&queue)?, vec![f16::from_f32(30_000.0); m * n]);
    }
    Ok(())
}

/// On a device without half precision the other tests hold that it is refused.
#[test]
fn configurations_are_right() {
    if queue().device().info().limits.fp16 == 0 {
        println!("{} has no half precision", queue().device());
        return;
    }
    for (tunable, constraint) in [
        (&reduced::TUNABLE, "WG <= 64"),
        (&extremes::TUNABLE, "WG <= 64"),
        (&lines::TUNABLE, "WGX * WGY <= 64"),
        (&columns::TUNABLE, "WGX * WGY <= 64"),
        (&product::TUNABLE, "ML <= 64 && NL <= 64"),
    ] {
        configurations::are_right(tunable, constraint, 16, 32);
    }
}
