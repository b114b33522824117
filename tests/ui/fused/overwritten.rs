#![deny(unused_assignments)]

use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024))]
fn k(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
    #[arg(len = n)] z: &mut Buffer<f32>,
    #[arg(len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    y = 2.0 * x;
    s = sum(x);
    y = 3.0 * x;
    z = y;
    y = z;
    s = sum(z);
}

fn main() {}
