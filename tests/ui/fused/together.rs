use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024, m = 64))]
fn k(
    queue: &Queue,
    n: u32,
    m: u32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
    #[arg(len = n)] i: &mut Buffer<i32>,
    #[arg(len = m)] z: &mut Buffer<f32>,
    #[arg(len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    (x, y) = (y, x, x);
    (x, x) = (y, y);
    (x, z) = (y, z);
    (x, i) = (i, x);
    (s, x) = (1.0, y);
    (x, y + 1.0) = (y, x);
    (x, y) = y;
    x = index_of_max(y);
}

fn main() {}
