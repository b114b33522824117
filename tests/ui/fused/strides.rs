use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024, m = 1))]
fn k(
    queue: &Queue,
    n: u32,
    m: i32,
    short: u16,
    #[arg(stride = n)] a: f32,
    #[arg(len = n, offset = ofx, stride = incx)] x: &Buffer<f32>,
    offx: u32,
    #[arg(value = 2)] incx: i32,
    #[arg(len = n, offset = incx, stride = m)] y: &mut Buffer<f32>,
    #[arg(len = n, offset = short, stride = 2)] z: &Buffer<f32>,
) -> Result<Event> {
    y = a * x + z;
}

fn main() {}
