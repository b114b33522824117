#![deny(unused_variables)]

use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024))]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    let total = sum(x);
    let twice = 2.0 * x;
    let used = 3.0 * x;
    x = used;
}

fn main() {}
