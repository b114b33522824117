use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, a: usize, b: (f32, f32), c: &[f32], d: &Buffer<bool>, e: Buffer<f32>, f: &Buffer, g: &mut Vec<f32>) -> Result<Event> { "" }

fn main() {}
