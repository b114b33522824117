use cltune::{Buffer, Event, Queue, Result, fused};

/// A value is wrong; statements that read what it would have made are not reported as well.
#[fused(tune(m = 64, n = 64))]
fn k(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &mut Buffer<f32>,
    #[arg(out, len = n)] deviation: &mut Buffer<f32>,
) -> Result<Event> {
    deviation = sqrt(column_sum(a * a) / m as f32);
    let scale = 1.0 / deviation;
    a = a * row(scale);
}

#[fused(tune(n = 64))]
fn added(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y += x;
    x = 2.0 * y;
}

fn main() {}
