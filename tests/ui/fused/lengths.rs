use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024, m = 64))]
fn k(
    queue: &Queue,
    n: u32,
    m: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = m)] y: &Buffer<f32>,
    #[arg(len = n)] z: &mut Buffer<f32>,
    #[arg(len = 1)] s: &mut Buffer<f32>,
    w: &Buffer<f32>,
) -> Result<Event> {
    z = x + y;
    z = y;
    s = x;
    s = sum(2.0f32);
    z = dot(x, y) * x;
    z = if x > 0.0 { y } else { x };
}

fn main() {}
